import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.debezium.config.Configuration;
import io.debezium.transforms.ExtractNewRecordState;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Debezium's converters without a database: rows of a file become the messages that the connector would send.
 *
 * <p>{@code java -jar convert-rows.jar FILE} reads a file of {@code messages} and prints a line for each of its messages: its
 * {@code case}, and {@code records} with topic, key, value and headers as Kafka's JsonConverter writes them, in base64, and key
 * and value in Avro.
 */
public final class ConvertRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final AvroText AVRO = new AvroText();
  private static final JsonConverter TEXTS = new JsonConverter();

  private ConvertRows() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    TEXTS.configure(Map.of(), false);
    JsonNode file = JSON.readTree(new File(arguments[0]));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (JsonNode message : file.get("messages")) {
      ObjectNode printed = JSON.createObjectNode().put("case", message.get("case").asText());
      write(printed, records(file, message));
      out.println(printed);
    }
  }

  /** The records of a change, after the transform if the message has one. */
  private static List<SourceRecord> records(JsonNode file, JsonNode message) throws InterruptedException {
    Configuration.Builder settings = Configuration.create();
    settings(file).forEach(settings::with);
    settings(message).forEach(settings::with);
    Connector connector = new Connector(settings.build());
    JsonNode table = file.get("tables").get(message.get("table").asText());
    List<SourceRecord> records = new Change(connector, table, message).records();
    if (!message.has("transform")) {
      return records;
    }
    List<SourceRecord> transformed = new ArrayList<>();
    try (ExtractNewRecordState<SourceRecord> transform = new ExtractNewRecordState<>()) {
      transform.configure(JSON.convertValue(message.get("transform"), Map.class));
      for (SourceRecord record : records) {
        SourceRecord result = transform.apply(record);
        if (result != null) {
          transformed.add(result);
        }
      }
    }
    return transformed;
  }

  private static Map<String, String> settings(JsonNode node) {
    return node.has("settings") ? JSON.convertValue(node.get("settings"), Map.class) : Map.of();
  }

  private static void write(ObjectNode printed, List<SourceRecord> records) {
    ArrayNode written = printed.putArray("records");
    for (SourceRecord record : records) {
      ObjectNode one = written.addObject().put("topic", record.topic());
      write(one, "key", record, record.keySchema(), record.key());
      write(one, "value", record, record.valueSchema(), record.value());
      ObjectNode headers = one.putObject("headers");
      for (Header header : record.headers()) {
        headers.put(header.key(), TEXTS.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value()));
      }
    }
  }

  /** Write a key or a value in both encodings; Kafka's null is not written. */
  private static void write(ObjectNode printed, String part, SourceRecord record, Schema schema, Object value) {
    if (value != null) {
      printed.put(part, TEXTS.fromConnectData(record.topic(), schema, value));
      AVRO.write(printed.putObject("avro_" + part), schema, value);
    }
  }
}
