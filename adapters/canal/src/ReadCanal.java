import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONException;
import com.alibaba.otter.canal.protocol.FlatMessage;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The official Canal's FlatMessage as a testee for Canal-JSON.
 *
 * <p>{@code cdcwire verify canal-json --no-derived -- java -jar adapters/canal/build/canal-testee.jar}
 *
 * <p>A message is read as Canal's own Kafka client reads it: {@code JSON.parseObject(text, FlatMessage.class)}. Its values
 * are texts, given as they come; BINARY and BLOB columns are taken as ISO-8859-1. It knows nothing of TiCDC's {@code _tidb}.
 */
public final class ReadCanal {
  /** FlatMessage has the members of the official Canal, and no files. */
  static final List<String> WITHOUT =
      List.of("files", "compression", "claim-check", "handle-key-only", "watermark", "commit_ts", "partition");

  private static final Map<String, String> OPERATIONS =
      Map.of("INSERT", "insert", "UPDATE", "update", "DELETE", "delete");

  private ReadCanal() {}

  public static void main(String[] arguments) throws IOException {
    String version = FlatMessage.class.getPackage().getImplementationVersion();
    Testee.serve("Canal FlatMessage", version == null ? "1.1.8" : version, "canal-json", WITHOUT, ReadCanal::decode);
  }

  private static List<Map<String, Object>> decode(byte[] key, byte[] value, JsonNode request) throws Testee.Rejection {
    if (value == null || value.length == 0) {
      return List.of();
    }
    FlatMessage message;
    try {
      message = JSON.parseObject(new String(value, StandardCharsets.UTF_8), FlatMessage.class);
    } catch (JSONException error) {
      throw new Testee.Rejection(String.valueOf(error.getMessage()));
    }
    if (message == null || message.getType() == null || message.getIsDdl() == null) {
      throw new Testee.Rejection("a message without type or isDdl");
    }
    return Boolean.TRUE.equals(message.getIsDdl()) ? List.of(ddl(message)) : rows(message);
  }

  private static Map<String, Object> event(FlatMessage message, String kind) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("kind", kind);
    if (message.getDatabase() != null && !message.getDatabase().isEmpty()) {
      event.put("schema", message.getDatabase());
    }
    if (message.getTable() != null && !message.getTable().isEmpty()) {
      event.put("table", message.getTable());
    }
    event.put(
        "position", Map.of("commit_ms", String.valueOf(message.getEs()), "sent_ms", String.valueOf(message.getTs())));
    return event;
  }

  private static Map<String, Object> ddl(FlatMessage message) {
    Map<String, Object> event = event(message, "ddl");
    event.put("what", message.getType().toLowerCase(Locale.ROOT));
    event.put("query", message.getSql());
    return event;
  }

  private static List<Map<String, Object>> rows(FlatMessage message) throws Testee.Rejection {
    String operation = OPERATIONS.get(message.getType());
    if (operation == null || message.getData() == null) {
      throw new Testee.Rejection("no rows: " + message.getType());
    }
    List<Map<String, String>> old = message.getOld();
    List<Map<String, Object>> events = new ArrayList<>();
    for (int index = 0; index < message.getData().size(); index++) {
      Map<String, Object> event = event(message, "row");
      event.put("op", operation);
      event.put("key", message.getPkNames() == null ? List.of() : message.getPkNames());
      Map<String, Object> row = image(message.getData().get(index), message.getMysqlType());
      boolean hasOld = operation.equals("update") && old != null && index < old.size();
      Map<String, Object> before = hasOld ? image(old.get(index), message.getMysqlType()) : null;
      event.put("before", operation.equals("delete") ? row : before);
      event.put("after", operation.equals("delete") ? null : row);
      events.add(event);
    }
    return events;
  }

  private static Map<String, Object> image(Map<String, String> row, Map<String, String> types) {
    if (row == null) {
      return null;
    }
    Map<String, Object> image = new LinkedHashMap<>();
    for (Map.Entry<String, String> column : row.entrySet()) {
      String type = types == null ? null : types.get(column.getKey());
      image.put(column.getKey(), column.getValue() == null ? null : value(column.getValue(), type));
    }
    return image;
  }

  private static Object value(String text, String type) {
    String name = type == null ? "" : type.toLowerCase(Locale.ROOT);
    if (name.contains("blob") || name.contains("binary")) {
      return Map.of("bytes", Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.ISO_8859_1)));
    }
    return text;
  }
}
