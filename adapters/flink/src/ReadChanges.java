import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.canal.CanalJsonDeserializationSchema;
import org.apache.flink.formats.json.maxwell.MaxwellJsonDeserializationSchema;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.RowKind;

/**
 * Flink's canal-json and maxwell-json as testees.
 *
 * <p>{@code cdcwire verify canal-json maxwell-json -- java -cp adapters/flink/build/flink-testee.jar ReadChanges}
 *
 * <p>Each message gets a table whose columns are those of the message, all of them STRING: Flink then gives the texts and
 * numbers as it reads them. Bytes are made of those texts here. Rows have no table; that is taken from the message.
 */
public final class ReadChanges {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> NO_ROWS = List.of("ddl", "files", "position", "key", "watermark", "compression");

  private ReadChanges() {}

  public static void main(String[] arguments) throws IOException {
    String version = CanalJsonDeserializationSchema.class.getPackage().getImplementationVersion();
    List<String> canal = new ArrayList<>(NO_ROWS);
    canal.addAll(List.of("claim-check", "handle-key-only"));
    List<String> maxwell = new ArrayList<>(NO_ROWS);
    maxwell.add("bootstrap");
    Testee.serve(
        "Flink canal-json and maxwell-json",
        String.valueOf(version),
        Map.of("canal-json", canal, "maxwell-json", maxwell),
        ReadChanges::decode);
  }

  private static List<Map<String, Object>> decode(byte[] key, byte[] value, JsonNode request) throws Testee.Rejection {
    if (value == null || value.length == 0) {
      return List.of();
    }
    boolean isCanal = request.path("format").asText().equals("canal-json");
    try {
      JsonNode message = JSON.readTree(value);
      JsonNode first = isCanal ? message.path("data").path(0) : message.path("data");
      List<String> names = new ArrayList<>();
      for (Iterator<String> each = first.fieldNames(); each.hasNext(); ) {
        names.add(each.next());
      }
      List<RowData> rows = new ArrayList<>();
      reader(names, isCanal).deserialize(value, new ListCollector<>(rows));
      Map<String, String> types = isCanal ? declared(message.path("mysqlType")) : defined(message, request);
      return events(rows, names, message, types);
    } catch (Exception error) {
      Throwable cause = error.getCause() == null ? error : error.getCause();
      throw new Testee.Rejection(cause.getClass().getSimpleName() + ": " + cause.getMessage());
    }
  }

  private static DeserializationSchema<RowData> reader(List<String> names, boolean isCanal) throws Exception {
    DataTypes.Field[] fields = new DataTypes.Field[names.size()];
    for (int index = 0; index < fields.length; index++) {
      fields[index] = DataTypes.FIELD(names.get(index), DataTypes.STRING());
    }
    DataType table = DataTypes.ROW(fields);
    InternalTypeInfo<RowData> type = InternalTypeInfo.of(table.getLogicalType());
    DeserializationSchema<RowData> reader =
        isCanal
            ? CanalJsonDeserializationSchema.builder(table, List.of(), type).build()
            : new MaxwellJsonDeserializationSchema(table, List.of(), type, false, TimestampFormat.SQL);
    reader.open(null);
    return reader;
  }

  /** What a message of Canal declares its columns as. */
  private static Map<String, String> declared(JsonNode mysqlType) {
    Map<String, String> types = new HashMap<>();
    mysqlType.fields().forEachRemaining(each -> types.put(each.getKey(), each.getValue().asText().toLowerCase(Locale.ROOT)));
    return types;
  }

  /** What the definition of the table declares its columns as. */
  private static Map<String, String> defined(JsonNode message, JsonNode request) {
    Map<String, String> types = new HashMap<>();
    for (JsonNode table : request.path("tables")) {
      if (table.path("table").equals(message.path("table"))) {
        table.path("columns").forEach(each -> types.put(each.path("name").asText(), each.path("type").asText()));
      }
    }
    return types;
  }

  private static List<Map<String, Object>> events(
      List<RowData> rows, List<String> names, JsonNode message, Map<String, String> types) {
    List<Map<String, Object>> events = new ArrayList<>();
    for (RowData row : rows) {
      boolean isOld = row.getRowKind() == RowKind.DELETE || row.getRowKind() == RowKind.UPDATE_BEFORE;
      boolean isUpdate = row.getRowKind() == RowKind.UPDATE_BEFORE || row.getRowKind() == RowKind.UPDATE_AFTER;
      Map<String, Object> event = new HashMap<>();
      event.put("kind", "row");
      event.put("op", isUpdate ? "update" : isOld ? "delete" : "insert");
      event.put("schema", message.path("database").asText());
      event.put("table", message.path("table").asText());
      Map<String, Object> image = new LinkedHashMap<>();
      for (int index = 0; index < names.size(); index++) {
        String text = row.isNullAt(index) ? null : row.getString(index).toString();
        image.put(names.get(index), text == null ? null : column(text, types.getOrDefault(names.get(index), "")));
      }
      event.put("before", isOld ? image : null);
      event.put("after", isOld ? null : image);
      if (row.getRowKind() == RowKind.UPDATE_AFTER) {
        events.get(events.size() - 1).put("after", image);
      } else {
        events.add(event);
      }
    }
    return events;
  }

  private static Object column(String text, String type) {
    if (type.startsWith("bytes")) {
      return Map.of("bytes", text);
    }
    if (type.contains("blob") || type.contains("binary")) {
      return Map.of("bytes", Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.ISO_8859_1)));
    }
    return text;
  }
}
