import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;

/**
 * What has to be done around JsonConverter to read Debezium and CDL: what a message is, rows, keys, positions.
 *
 * <p>A field that is missing, or of another type, is an exception of Connect's own; that is a rejection too.
 */
final class ConnectEvents {
  static final List<String> WITHOUT =
      List.of("schemas off", "string keys", "unwrapped rows", "schema changes", "unsigned");

  private static final Map<String, String> OPERATIONS =
      Map.of("c", "insert", "u", "update", "d", "delete", "r", "read");
  private static final Map<String, String> CDL_OPERATIONS =
      Map.of("INSERT", "insert", "UPDATE", "update", "DELETE", "delete");

  private ConnectEvents() {}

  static List<Map<String, Object>> of(SchemaAndValue key, SchemaAndValue value, JsonNode request)
      throws Testee.Rejection {
    if (value == null) {
      return List.of(Map.of("kind", "marker", "what", "tombstone"));
    }
    if (!(value.value() instanceof Struct struct)) {
      throw new Testee.Rejection("the payload is not a struct");
    }
    if (request.get("format").asText().equals("cdl-json")) {
      return List.of(cdl(struct, values(request)));
    }
    Struct keyed = key == null ? null : (Struct) key.value();
    Schema schema = struct.schema();
    if (schema.field("op") != null) {
      return List.of(struct.getString("op").equals("m") ? logical(struct) : change(struct, keyed, request));
    }
    if (schema.field("status") != null) {
      return List.of(boundary(struct));
    }
    if (schema.field("source") == null && schema.field("ts_ms") != null) {
      Map<String, Object> heartbeat = event("progress", "heartbeat");
      heartbeat.put("position", Map.of("sent_ms", struct.getInt64("ts_ms").toString()));
      return List.of(heartbeat);
    }
    throw new Testee.Rejection("this is not a message of Debezium's");
  }

  private static Map<String, Object> event(String kind, String what) {
    Map<String, Object> event = new HashMap<>();
    event.put("kind", kind);
    event.put("what", what);
    return event;
  }

  private static Map<String, Object> change(Struct struct, Struct key, JsonNode request) throws Testee.Rejection {
    String op = struct.getString("op");
    Struct source = struct.getStruct("source");
    List<String> names = key == null ? List.of() : names(key.schema());
    if (struct.schema().field("message_version") != null) {
      if (!struct.getString("message_version").equals("2.0")) {
        throw new Testee.Rejection("another message_version");
      }
      names = names(struct.schema().field("unique").schema());
    }
    Map<String, Object> event = event("row", null);
    event.remove("what");
    if (op.equals("t")) {
      event = event("ddl", "truncate");
    } else if (!OPERATIONS.containsKey(op)) {
      throw new Testee.Rejection("another op");
    } else {
      event.put("op", OPERATIONS.get(op));
      event.put("key", names);
      Struct before = struct.getStruct("before");
      Struct after = struct.getStruct("after");
      if ((after != null) == op.equals("d") || (before != null && Set.of("c", "r").contains(op))) {
        throw new Testee.Rejection("op " + op + " with other rows");
      }
      if (op.equals("d") && before == null) {
        throw new Testee.Rejection("op d without its row");
      }
      // PostgreSQL's connector sends NULL for the columns that REPLICA IDENTITY DEFAULT leaves out of a delete.
      boolean isFull = request.path("options").path("replica-identity").asText().equals("full");
      boolean isPostgres = source.getString("connector").equals("postgresql");
      boolean isCut = op.equals("d") && isPostgres && !isFull && !names.isEmpty();
      ConnectValues values = values(request);
      event.put("before", image(before, isCut ? names : null, values));
      event.put("after", image(after, null, values));
      if (op.equals("r") && request.path("options").path("read-r-as-c").asBoolean()) {
        event.put("op", "insert");
      }
    }
    event.put("table", source.getString("table"));
    String schema = text(source, "schema", text(source, "keyspace", null)); // the latter is Vitess's
    boolean hasSchema = schema != null && !schema.isEmpty(); // MySQL has databases instead
    event.put("schema", hasSchema ? schema : source.getString("db"));
    if (hasSchema && !source.getString("db").isEmpty()) {
      event.put("database", source.getString("db"));
    }
    event.put("position", position(struct, source));
    return event;
  }

  private static String text(Struct struct, String field, String otherwise) {
    return struct.schema().field(field) == null ? otherwise : struct.getString(field);
  }

  private static Map<String, Object> position(Struct struct, Struct source) {
    Map<String, Object> position = new HashMap<>();
    put(position, "commit_ms", source, "ts_ms");
    put(position, "lsn", source, "lsn");
    put(position, "tx_id", source, "txId");
    put(position, "sent_ms", struct, "ts_ms");
    if (struct.schema().field("transaction") != null && struct.get("transaction") != null) {
      put(position, "tx_order", struct.getStruct("transaction"), "total_order");
    }
    return position;
  }

  private static void put(Map<String, Object> target, String name, Struct struct, String field) {
    if (struct.schema().field(field) != null && struct.get(field) != null) {
      target.put(name, struct.get(field).toString());
    }
  }

  private static Map<String, Object> logical(Struct struct) {
    Map<String, Object> event = event("marker", "logical_message");
    event.put("id", struct.getStruct("message").getString("prefix"));
    event.put("position", position(struct, struct.getStruct("source")));
    return event;
  }

  private static Map<String, Object> boundary(Struct struct) throws Testee.Rejection {
    String status = struct.getString("status");
    if (!Set.of("BEGIN", "END").contains(status)) {
      throw new Testee.Rejection("another status");
    }
    Map<String, Object> event = event("marker", status.toLowerCase());
    event.put("id", struct.getString("id"));
    Map<String, Object> position = new HashMap<>();
    put(position, "sent_ms", struct, "ts_ms");
    event.put("position", position);
    return event;
  }

  private static Map<String, Object> cdl(Struct struct, ConnectValues values) throws Testee.Rejection {
    if (!struct.getString("message_version").equals("1.0")) {
      throw new Testee.Rejection("another message_version");
    }
    String operation = CDL_OPERATIONS.get(struct.getString("OPERATION"));
    Struct after = struct.getStruct("data");
    Struct before = struct.getStruct("before");
    if (operation == null
        || (after == null) != operation.equals("delete")
        || (before != null && operation.equals("insert"))
        || (before == null && operation.equals("delete"))) {
      throw new Testee.Rejection("another OPERATION, or other rows");
    }
    Map<String, Object> position = new HashMap<>();
    position.put("commit_ms", String.valueOf(((java.util.Date) struct.get("TIMESTAMP")).getTime()));
    Set<String> seen = new java.util.HashSet<>();
    for (Object property : struct.getStruct("transaction").getArray("properties")) {
      Struct pair = (Struct) property;
      String name = pair.getString("name");
      if (!seen.add(name)) {
        throw new Testee.Rejection("a property appears twice");
      }
      if (name.equals("lsn") || name.equals("txId")) {
        position.put(name.equals("lsn") ? "lsn" : "tx_id", pair.getInt64("value").toString());
      }
    }
    Map<String, Object> event = event("row", null);
    event.remove("what");
    event.put("op", operation);
    event.put("schema", struct.getString("SEG_OWNER"));
    event.put("table", struct.getString("TABLE_NAME"));
    event.put("key", names(struct.schema().field("unique").schema()));
    event.put("position", position);
    event.put("before", image(before, null, values));
    event.put("after", image(after, null, values));
    return event;
  }

  private static List<String> names(Schema schema) {
    List<String> names = new ArrayList<>();
    for (Field field : schema.fields()) {
      if (!field.name().equals("__dbz__physicalTableIdentifier")) { // the router's, not the table's
        names.add(field.name());
      }
    }
    return names;
  }

  private static ConnectValues values(JsonNode request) {
    JsonNode told = request.path("options").path("unavailable-value-placeholder");
    return new ConnectValues(told.isMissingNode() ? "__debezium_unavailable_value" : told.asText());
  }

  /** {@code kept}: columns without a value are left out, except these. */
  private static Map<String, Object> image(Struct row, List<String> kept, ConnectValues values) {
    if (row == null) {
      return null;
    }
    Map<String, Object> columns = new LinkedHashMap<>();
    for (Field field : row.schema().fields()) {
      Object value = row.getWithoutDefault(field.name());
      if (kept == null || value != null || kept.contains(field.name())) {
        columns.put(field.name(), values.column(field.schema(), value));
      }
    }
    return columns;
  }
}
