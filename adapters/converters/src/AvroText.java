import com.fasterxml.jackson.databind.node.ObjectNode;
import io.apicurio.registry.utils.converter.avro.AvroData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.connect.data.Schema;

/** Avro as Apicurio's converter writes it, without a registry: the schema's text and the datum, without their frame. */
final class AvroText {
  private final AvroData data = new AvroData(100);

  void write(ObjectNode printed, Schema schema, Object value) {
    ByteArrayOutputStream datum = new ByteArrayOutputStream();
    var avro = data.fromConnectSchema(schema);
    try {
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(datum, null);
      new GenericDatumWriter<Object>(avro).write(data.fromConnectData(schema, value), encoder);
      encoder.flush();
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
    printed.put("schema", avro.toString()).put("datum", datum.toByteArray());
  }
}
