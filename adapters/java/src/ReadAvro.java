import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Apache Avro for Java as a testee.
 *
 * <p>{@code cdcwire verify avro -- java -jar adapters/java/build/avro-testee.jar}
 *
 * <p>Each schema has a parser of its own: key and value have the same full name. Defaults are not checked, since
 * producers wrote some that do not fit. Decimals need a conversion. Bytes behind the record are looked for here. Broken
 * bytes are refused by all kinds of runtime exceptions.
 */
public final class ReadAvro {
  private static final Map<String, GenericDatumReader<GenericRecord>> READERS = new HashMap<>();
  private static final GenericData DATA = new GenericData();

  static {
    DATA.addLogicalTypeConversion(new Conversions.DecimalConversion());
  }

  private ReadAvro() {}

  static GenericRecord read(String text, byte[] data) throws Testee.Rejection {
    try {
      GenericDatumReader<GenericRecord> reader = READERS.get(text);
      if (reader == null) {
        Schema schema = new Schema.Parser().setValidateDefaults(false).parse(text);
        reader = new GenericDatumReader<>(schema, schema, DATA);
        READERS.put(text, reader);
      }
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(data, null);
      GenericRecord record = reader.read(null, decoder);
      if (!decoder.isEnd()) {
        throw new Testee.Rejection("bytes are left over");
      }
      return record;
    } catch (IOException | RuntimeException error) {
      throw new Testee.Rejection(error.getClass().getSimpleName() + ": " + error.getMessage());
    }
  }

  public static void main(String[] arguments) throws IOException {
    String version = Schema.class.getPackage().getImplementationVersion();
    Testee.serve("Apache Avro", String.valueOf(version), "avro", TicdcAvro.WITHOUT, TicdcAvro.decoder(ReadAvro::read));
  }
}
