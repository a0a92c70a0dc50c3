import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.debezium.DebeziumJsonDeserializationSchema;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;

/**
 * Flink's debezium-json as a testee.
 *
 * <p>{@code cdcwire verify debezium-json -- java -jar adapters/flink/build/flink-testee.jar}
 *
 * <p>Its rows have no table; that is taken from the message, as its metadata columns would. A table is declared for
 * each schema, with the plain types of its columns: a decimal as BYTES, a count as BIGINT, since the format refuses DECIMAL and TIMESTAMP for what Debezium sends in its default modes. What the column names
 * mean is worked out here.
 */
public final class ReadFlink {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, DebeziumJsonDeserializationSchema> READERS = new HashMap<>();
  private static final Map<String, String> UNITS =
      Map.ofEntries(
          Map.entry("org.apache.kafka.connect.data.Date", "d"),
          Map.entry("org.apache.kafka.connect.data.Time", "ms"),
          Map.entry("org.apache.kafka.connect.data.Timestamp", "ms"),
          Map.entry("io.debezium.time.Date", "d"),
          Map.entry("io.debezium.time.Time", "ms"),
          Map.entry("io.debezium.time.MicroTime", "us"),
          Map.entry("io.debezium.time.NanoTime", "ns"),
          Map.entry("io.debezium.time.Timestamp", "ms"),
          Map.entry("io.debezium.time.MicroTimestamp", "us"),
          Map.entry("io.debezium.time.NanoTimestamp", "ns"),
          Map.entry("io.debezium.time.MicroDuration", "us"));

  /** It gives rows: no positions, no keys, and nothing that is no row. */
  static final List<String> WITHOUT =
      List.of(
          "schemas off",
          "string keys",
          "unwrapped rows",
          "position",
          "key",
          "unavailable",
          "heartbeat",
          "transaction",
          "logical message",
          "schema changes",
          "truncate",
          "unsigned");

  private ReadFlink() {}

  public static void main(String[] arguments) throws IOException {
    String version = DebeziumJsonDeserializationSchema.class.getPackage().getImplementationVersion();
    Testee.serve("Flink debezium-json", String.valueOf(version), "debezium-json", WITHOUT, ReadFlink::decode);
  }

  private static List<Map<String, Object>> decode(byte[] key, byte[] value, JsonNode request)
      throws Testee.Rejection {
    if (value == null) {
      return List.of(Map.of("kind", "marker", "what", "tombstone"));
    }
    try {
      JsonNode whole = JSON.readTree(value);
      JsonNode columns = null;
      for (JsonNode field : whole.path("schema").path("fields")) {
        if (List.of("before", "after").contains(field.path("field").asText()) && field.has("fields")) {
          columns = field;
        }
      }
      if (columns == null) {
        throw new Testee.Rejection("there are no columns");
      }
      List<RowData> rows = new ArrayList<>();
      reader(columns).deserialize(value, new ListCollector<>(rows));
      return events(rows, columns, whole.path("payload").path("source"));
    } catch (IOException | RuntimeException error) {
      Throwable cause = error.getCause() == null ? error : error.getCause();
      throw new Testee.Rejection(cause.getClass().getSimpleName() + ": " + cause.getMessage());
    }
  }

  private static DebeziumJsonDeserializationSchema reader(JsonNode columns) {
    return READERS.computeIfAbsent(
        columns.toString(),
        text -> {
          DataType table = row(columns);
          DebeziumJsonDeserializationSchema reader =
              new DebeziumJsonDeserializationSchema(
                  table, List.of(), InternalTypeInfo.of(table.getLogicalType()), true, false, TimestampFormat.SQL);
          try {
            reader.open(null);
          } catch (Exception error) {
            throw new IllegalStateException(error);
          }
          return reader;
        });
  }

  private static DataType row(JsonNode struct) {
    List<DataTypes.Field> fields = new ArrayList<>();
    for (JsonNode field : struct.path("fields")) {
      fields.add(DataTypes.FIELD(field.path("field").asText(), plain(field)));
    }
    return DataTypes.ROW(fields.toArray(new DataTypes.Field[0]));
  }

  private static DataType plain(JsonNode schema) {
    return switch (schema.path("type").asText()) {
      case "int8" -> DataTypes.TINYINT();
      case "int16" -> DataTypes.SMALLINT();
      case "int32" -> DataTypes.INT();
      case "int64" -> DataTypes.BIGINT();
      case "float" -> DataTypes.FLOAT();
      case "double" -> DataTypes.DOUBLE();
      case "boolean" -> DataTypes.BOOLEAN();
      case "bytes" -> DataTypes.BYTES();
      case "array" -> DataTypes.ARRAY(plain(schema.path("items")));
      case "map" -> DataTypes.MAP(plain(schema.path("keys")), plain(schema.path("values")));
      case "struct" -> row(schema);
      default -> DataTypes.STRING();
    };
  }

  private static List<Map<String, Object>> events(List<RowData> rows, JsonNode columns, JsonNode source) {
    List<Map<String, Object>> events = new ArrayList<>();
    RowType type = (RowType) row(columns).getLogicalType();
    for (RowData row : rows) {
      Map<String, Object> event = new HashMap<>();
      boolean isOld = row.getRowKind() == RowKind.DELETE || row.getRowKind() == RowKind.UPDATE_BEFORE;
      boolean isUpdate = row.getRowKind() == RowKind.UPDATE_BEFORE || row.getRowKind() == RowKind.UPDATE_AFTER;
      event.put("kind", "row");
      event.put("op", isUpdate ? "update" : isOld ? "delete" : "insert");
      if (isUpdate) {
        event.put("half", isOld ? "before" : "after");
      }
      String schema = source.path(source.has("schema") ? "schema" : "keyspace").asText(); // the latter is Vitess's
      boolean hasSchema = !schema.isEmpty();
      event.put("schema", hasSchema ? schema : source.path("db").asText());
      event.put("table", source.path("table").asText());
      if (hasSchema && !source.path("db").asText().isEmpty()) {
        event.put("database", source.path("db").asText());
      }
      Map<String, Object> image = image(row, type, columns);
      event.put("before", isOld ? image : null);
      event.put("after", isOld ? null : image);
      events.add(event);
    }
    return events;
  }

  private static Map<String, Object> image(RowData row, RowType type, JsonNode struct) {
    Map<String, Object> image = new LinkedHashMap<>();
    for (int index = 0; index < type.getFieldCount(); index++) {
      Object value = RowData.createFieldGetter(type.getTypeAt(index), index).getFieldOrNull(row);
      image.put(type.getFieldNames().get(index), column(value, type.getTypeAt(index), struct.path("fields").get(index)));
    }
    return image;
  }

  private static Object column(Object value, LogicalType type, JsonNode schema) {
    if (value == null) {
      return null;
    }
    String name = schema.path("name").asText();
    if (UNITS.containsKey(name) && value instanceof Number) {
      return Map.of("value", value.toString(), "unit", UNITS.get(name));
    }
    if (name.startsWith("io.debezium.time.Zoned")) {
      return Map.of("value", value.toString(), "zone", "+00:00");
    }
    if (value instanceof byte[] raw) {
      return bytes(raw, name, schema);
    }
    if (value instanceof Number number && (value instanceof Float || value instanceof Double)) {
      double real = number.doubleValue();
      return Double.isNaN(real) ? "nan" : Double.isInfinite(real) ? (real > 0 ? "inf" : "-inf") : value.toString();
    }
    if (value instanceof ArrayData items) {
      LogicalType itemType = ((ArrayType) type).getElementType();
      return Map.of("items", items(items, itemType, schema.path("items")));
    }
    if (value instanceof MapData entries) {
      MapType mapType = (MapType) type;
      List<Object> keys = items(entries.keyArray(), mapType.getKeyType(), schema.path("keys"));
      List<Object> values = items(entries.valueArray(), mapType.getValueType(), schema.path("values"));
      List<Object> pairs = new ArrayList<>();
      for (int index = 0; index < keys.size(); index++) {
        pairs.add(Arrays.asList(keys.get(index), values.get(index)));
      }
      return Map.of("entries", pairs);
    }
    if (value instanceof RowData row) {
      if (name.equals("io.debezium.data.VariableScaleDecimal")) {
        return new BigDecimal(new BigInteger(row.getBinary(1)), row.getInt(0)).toPlainString();
      }
      return Map.of("fields", image(row, (RowType) type, schema));
    }
    return value.toString();
  }

  private static Object bytes(byte[] raw, String name, JsonNode schema) {
    if (name.equals("org.apache.kafka.connect.data.Decimal")) {
      int scale = schema.path("parameters").path("scale").asInt();
      return new BigDecimal(new BigInteger(raw), scale).toPlainString();
    }
    if (name.equals("io.debezium.data.Bits")) {
      byte[] reversed = new byte[raw.length];
      for (int index = 0; index < raw.length; index++) {
        reversed[index] = raw[raw.length - 1 - index];
      }
      return new BigInteger(1, reversed).toString();
    }
    return Map.of("bytes", Base64.getEncoder().encodeToString(raw));
  }

  private static List<Object> items(ArrayData items, LogicalType type, JsonNode schema) {
    ArrayData.ElementGetter getter = ArrayData.createElementGetter(type);
    List<Object> found = new ArrayList<>();
    for (int index = 0; index < items.size(); index++) {
      found.add(column(getter.getElementOrNull(items, index), type, schema));
    }
    return found;
  }
}
