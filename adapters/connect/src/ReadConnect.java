import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Kafka Connect's JsonConverter as a testee, and as a witness.
 *
 * <p>{@code cdcwire verify debezium-json -- java -jar adapters/connect/build/connect-testee.jar}
 *
 * <p>With the word {@code rewrite} it reads lines of base64, JSON with schemas, and answers each with the line
 * {@code values TAB bytes}: what it read, as text, and what it writes of that, in base64; {@code ! problem} where it refuses.
 */
public final class ReadConnect {
  private static final JsonConverter CONVERTER = converter(false);
  private static final JsonConverter REPLACING = converter(true);

  private ReadConnect() {}

  private static JsonConverter converter(boolean replacesNulls) {
    JsonConverter converter = new JsonConverter();
    converter.configure(
        Map.of("schemas.enable", "true", "replace.null.with.default", String.valueOf(replacesNulls)), false);
    return converter;
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments.length == 1 && arguments[0].equals("rewrite")) {
      rewrite();
      return;
    }
    Map<String, List<String>> formats =
        Map.of("debezium-json", ConnectEvents.WITHOUT, "cdl-json", ConnectEvents.WITHOUT);
    Testee.serve("Kafka JsonConverter", AppInfoParser.getVersion(), formats, ReadConnect::decode);
  }

  private static List<Map<String, Object>> decode(byte[] key, byte[] value, JsonNode request)
      throws Testee.Rejection {
    boolean replacesNulls = request.path("options").path("replace-null-with-default").asBoolean();
    JsonConverter converter = replacesNulls ? REPLACING : CONVERTER;
    try {
      SchemaAndValue readKey = key == null ? null : converter.toConnectData("topic", key);
      SchemaAndValue readValue = value == null ? null : converter.toConnectData("topic", value);
      return ConnectEvents.of(readKey, readValue, request);
    } catch (RuntimeException error) { // the converter refuses with all kinds of them
      throw new Testee.Rejection(error.getClass().getSimpleName() + ": " + error.getMessage());
    }
  }

  private static void rewrite() throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      out.println(rewritten(Base64.getDecoder().decode(line)));
      out.flush();
    }
  }

  private static String rewritten(byte[] data) {
    SchemaAndValue read;
    try {
      read = CONVERTER.toConnectData("topic", data);
    } catch (RuntimeException error) {
      return problem(error);
    }
    String values = ConnectValues.text(read.schema(), read.value());
    try {
      byte[] written = CONVERTER.fromConnectData("topic", read.schema(), read.value());
      return values + "\t" + (written == null ? "" : Base64.getEncoder().encodeToString(written));
    } catch (RuntimeException error) {
      return values + "\t" + problem(error);
    }
  }

  private static String problem(RuntimeException error) {
    return "! " + String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
  }
}
