import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.util.Utf8;

/**
 * What has to be done around Avro to read TiCDC: envelope, columns, events.
 *
 * <p>What a column is stands in {@code connect.parameters} of its field's type, which Java's schema keeps as a property;
 * the fields of the extension are told from columns by their name and their bare type.
 */
final class TicdcAvro {
  /** DDL and checkpoints are the producer's own bytes; arrays, maps and other unions are in no row of TiCDC. */
  static final List<String> WITHOUT = List.of("ddl", "checkpoint", "foreign types");

  private static final String BEFORE = "_ticdc_before";
  private static final Map<String, String> POSITION =
      Map.of("commit_ts", "_tidb_commit_ts", "commit_ms", "_tidb_commit_physical_time");
  private static final Map<String, String> EXTRA =
      Map.of(
          "checksum", "_tidb_row_level_checksum",
          "corrupted", "_tidb_corrupted",
          "checksum_version", "_tidb_checksum_version");
  private static final Set<String> EXTENSION =
      Set.of(
          "_tidb_op",
          "_tidb_commit_ts",
          "_tidb_commit_physical_time",
          "_tidb_row_level_checksum",
          "_tidb_corrupted",
          "_tidb_checksum_version");
  private static final Map<String, String> OPERATIONS =
      Map.of("c", "insert", "u", "update", "d", "delete", "", "upsert");

  private TicdcAvro() {}

  /** Gives the record of a key or value. */
  interface Read {
    GenericRecord read(String schema, byte[] data) throws Testee.Rejection;
  }

  /** Returns the function that {@link Testee#serve} wants, made of a reader. */
  static Testee.Decode decoder(Read read) {
    return (key, value, request) -> List.of(event(open(key, request, read), open(value, request, read)));
  }

  /** Takes the envelope off and reads the record. */
  private static GenericRecord open(byte[] whole, JsonNode request, Read read) throws Testee.Rejection {
    if (whole == null) {
      return null;
    }
    boolean isGlue = request.path("options").path("registry").asText().equals("glue");
    int start = isGlue ? 18 : 5;
    if (whole.length < start || whole[0] != (isGlue ? 3 : 0) || (isGlue && whole[1] != 0)) {
      throw new Testee.Rejection("this is not an envelope");
    }
    ByteBuffer head = ByteBuffer.wrap(whole, isGlue ? 2 : 1, isGlue ? 16 : 4);
    String id = isGlue ? new UUID(head.getLong(), head.getLong()).toString() : String.valueOf(head.getInt());
    JsonNode text = request.path("schemas").get(id);
    if (text == null) {
      throw new Testee.Rejection("there is no schema " + id);
    }
    byte[] data = new byte[whole.length - start];
    System.arraycopy(whole, start, data, 0, data.length);
    return read.read(text.asText(), data);
  }

  private static Map<String, Object> event(GenericRecord key, GenericRecord value) throws Testee.Rejection {
    GenericRecord shown = value == null ? key : value;
    if (shown == null) {
      throw new Testee.Rejection("a message has a key or a value");
    }
    Schema schema = shown.getSchema();
    String[] namespace = schema.getNamespace() == null ? new String[0] : schema.getNamespace().split("\\.");
    Map<String, Object> event = new HashMap<>();
    event.put("kind", "row");
    event.put("op", "delete");
    event.put("schema", namespace.length > 1 ? namespace[1] : null);
    event.put("table", schema.getName());
    event.put("key", key == null ? List.of() : columnNames(key.getSchema()));
    event.put("before", image(shown));
    event.put("after", null);
    if (value == null) {
      return event;
    }
    Map<String, Object> told = new HashMap<>();
    for (Schema.Field field : schema.getFields()) {
      if (!isColumn(field)) {
        told.put(field.name(), value.get(field.pos()));
      }
    }
    String operation = OPERATIONS.get(String.valueOf(told.getOrDefault("_tidb_op", "")));
    if (operation == null) {
      throw new Testee.Rejection("_tidb_op is " + told.get("_tidb_op"));
    }
    event.put("op", operation);
    if (!operation.equals("delete")) {
      event.put("after", event.put("before", null));
    }
    if (told.get(BEFORE) instanceof GenericRecord old && (operation.equals("update") || operation.equals("upsert"))) {
      event.put("before", image(old));
    }
    event.put("position", texts(told, POSITION));
    event.put("extra", texts(told, EXTRA));
    return event;
  }

  /** The fields of the extension that are there, under other names. */
  private static Map<String, String> texts(Map<String, Object> told, Map<String, String> names) {
    Map<String, String> found = new HashMap<>();
    names.forEach(
        (name, field) -> {
          if (told.containsKey(field)) {
            found.put(name, String.valueOf(told.get(field)));
          }
        });
    return found;
  }

  private static List<String> columnNames(Schema schema) {
    return schema.getFields().stream().filter(TicdcAvro::isColumn).map(Schema.Field::name).toList();
  }

  private static boolean isColumn(Schema.Field field) {
    boolean isBare = parameters(field.schema()) == null;
    return !field.name().equals(BEFORE) && !(isBare && EXTENSION.contains(field.name()));
  }

  private static Map<String, Object> image(GenericRecord record) throws Testee.Rejection {
    Map<String, Object> image = new LinkedHashMap<>();
    for (Schema.Field field : record.getSchema().getFields()) {
      if (isColumn(field)) {
        image.put(field.name(), column(tidbType(field.schema()), record.get(field.pos())));
      }
    }
    return image;
  }

  private static String tidbType(Schema schema) {
    Map<?, ?> parameters = parameters(schema);
    return parameters == null ? "" : String.valueOf(parameters.get("tidb_type"));
  }

  /** What a type, or the other branch of its union with null, says of its column; null if it is bare. */
  private static Map<?, ?> parameters(Schema schema) {
    List<Schema> branches = schema.isUnion() ? schema.getTypes() : List.of(schema);
    for (Schema branch : branches) {
      if (branch.getObjectProp("connect.parameters") instanceof Map<?, ?> parameters) {
        return parameters;
      }
    }
    return null;
  }

  /** Returns what the library made of a value as a column of the testee protocol. */
  private static Object column(String tidbType, Object cell) throws Testee.Rejection {
    if (cell == null) {
      return null;
    }
    if (cell instanceof Long number && tidbType.equals("BIGINT UNSIGNED")) {
      return Long.toUnsignedString(number); // a long is signed: the producer wraps what is above
    }
    if (cell instanceof BigDecimal number) {
      return number.toPlainString();
    }
    if (cell instanceof Float || cell instanceof Double) {
      return cell.toString().replace("NaN", "nan").replace("Infinity", "inf");
    }
    if (cell instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      if (!tidbType.equals("BIT")) {
        return bytes(bytes);
      }
      if (bytes.length < 1 || bytes.length > 8) {
        throw new Testee.Rejection("a BIT has 1 to 8 bytes, not " + bytes.length);
      }
      return new BigInteger(1, bytes).toString();
    }
    return cell instanceof Utf8 text ? text(tidbType, text) : cell.toString();
  }

  /** Returns a text; as bytes if it is not UTF-8, which {@code toString} would replace. */
  private static Object text(String tidbType, Utf8 text) throws Testee.Rejection {
    byte[] bytes = new byte[text.getByteLength()];
    System.arraycopy(text.getBytes(), 0, bytes, 0, bytes.length);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException error) {
      if (!tidbType.equals("TEXT")) {
        throw new Testee.Rejection("text that is not UTF-8");
      }
      return bytes(bytes);
    }
  }

  private static Map<String, String> bytes(byte[] value) {
    return Map.of("bytes", Base64.getEncoder().encodeToString(value));
  }
}
