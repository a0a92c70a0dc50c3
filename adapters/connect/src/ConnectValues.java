import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;

/** Values of Connect as text: of the testee protocol, and one line of all that was read. */
final class ConnectValues {
  private static final Map<String, String> UNITS =
      Map.of(
          "io.debezium.time.Date", "d",
          "io.debezium.time.Time", "ms",
          "io.debezium.time.MicroTime", "us",
          "io.debezium.time.NanoTime", "ns",
          "io.debezium.time.Timestamp", "ms",
          "io.debezium.time.MicroTimestamp", "us",
          "io.debezium.time.NanoTimestamp", "ns",
          "io.debezium.time.MicroDuration", "us");

  private final String placeholder;

  /** {@code placeholder}: the text that stands for a value which the producer did not have. */
  ConnectValues(String placeholder) {
    this.placeholder = placeholder;
  }

  /** Returns a column of the testee protocol. */
  Object column(Schema schema, Object value) {
    if (value == null) {
      return null;
    }
    String name = schema.name() == null ? "" : schema.name();
    if (value instanceof java.util.Date date) {
      return Map.of("value", String.valueOf(count(name, date)), "unit", name.equals(Date.LOGICAL_NAME) ? "d" : "ms");
    }
    if (value instanceof BigDecimal decimal) {
      return decimal.toPlainString();
    }
    if (UNITS.containsKey(name) && value instanceof Number) {
      return Map.of("value", value.toString(), "unit", UNITS.get(name));
    }
    if (name.startsWith("io.debezium.time.Zoned")) {
      return Map.of("value", value, "zone", "+00:00");
    }
    return switch (schema.type()) {
      case INT8, INT16, INT32, INT64, BOOLEAN -> value.toString();
      case FLOAT32, FLOAT64 -> number(((Number) value).doubleValue(), value.toString());
      case STRING -> value.equals(placeholder) ? Map.of("unavailable", true) : value;
      case BYTES -> bytes(name, raw(value));
      case ARRAY -> array(schema, (List<?>) value);
      case MAP -> map(schema, (Map<?, ?>) value);
      case STRUCT -> struct(schema, (Struct) value);
    };
  }

  private Object bytes(String name, byte[] raw) {
    if (name.equals("io.debezium.data.Bits")) {
      byte[] reversed = new byte[raw.length];
      for (int index = 0; index < raw.length; index++) {
        reversed[index] = raw[raw.length - 1 - index];
      }
      return new BigInteger(1, reversed).toString();
    }
    if (new String(raw, StandardCharsets.UTF_8).equals(placeholder)) {
      return Map.of("unavailable", true);
    }
    return Map.of("bytes", Base64.getEncoder().encodeToString(raw));
  }

  private Object array(Schema schema, List<?> items) {
    if (items.size() == 1 && placeholder.equals(items.get(0))) {
      return Map.of("unavailable", true);
    }
    List<Object> found = new ArrayList<>();
    for (Object item : items) {
      found.add(column(schema.valueSchema(), item));
    }
    return Map.of("items", found);
  }

  private Object map(Schema schema, Map<?, ?> entries) {
    if (entries.size() == 1 && placeholder.equals(entries.get(placeholder))) {
      return Map.of("unavailable", true);
    }
    List<Object> found = new ArrayList<>();
    for (Map.Entry<?, ?> entry : entries.entrySet()) {
      List<Object> pair = new ArrayList<>();
      pair.add(column(schema.keySchema(), entry.getKey()));
      pair.add(column(schema.valueSchema(), entry.getValue()));
      found.add(pair);
    }
    return Map.of("entries", found);
  }

  private Object struct(Schema schema, Struct struct) {
    if ("io.debezium.data.VariableScaleDecimal".equals(schema.name())) {
      return new BigDecimal(new BigInteger(struct.getBytes("value")), struct.getInt32("scale")).toPlainString();
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    for (Field field : schema.fields()) {
      fields.put(field.name(), column(field.schema(), struct.getWithoutDefault(field.name())));
    }
    return Map.of("fields", fields);
  }

  private static String number(double value, String text) {
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    return text;
  }

  private static long count(String name, java.util.Date date) {
    return name.equals(Date.LOGICAL_NAME) ? Math.floorDiv(date.getTime(), 86_400_000L) : date.getTime();
  }

  private static byte[] raw(Object value) {
    if (value instanceof byte[] bytes) {
      return bytes;
    }
    ByteBuffer buffer = ((ByteBuffer) value).duplicate();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  /**
   * Returns a value as one line of text that needs no schema: {@code null}, digits, {@code f:} and the bits of a
   * floating point number, {@code b:} and hexadecimal digits, {@code d:} unscaled digits and scale, a JSON string;
   * {@code [..]}, {@code {..}} of these. Members of a map are sorted.
   */
  static String text(Schema schema, Object value) {
    if (value == null) {
      return "null";
    }
    if (value instanceof java.util.Date date) {
      return String.valueOf(count(schema.name(), date));
    }
    if (value instanceof BigDecimal decimal) {
      return "d:" + decimal.unscaledValue() + "/" + decimal.scale();
    }
    return switch (schema.type()) {
      case INT8, INT16, INT32, INT64, BOOLEAN -> value.toString();
      case FLOAT32 -> "f:" + Integer.toHexString(Float.floatToIntBits((Float) value));
      case FLOAT64 -> "f:" + Long.toHexString(Double.doubleToLongBits((Double) value));
      case STRING -> quoted(value.toString());
      case BYTES -> "b:" + new BigInteger(1, raw(value)).toString(16) + "/" + raw(value).length;
      case ARRAY -> {
        List<String> items = new ArrayList<>();
        for (Object item : (List<?>) value) {
          items.add(text(schema.valueSchema(), item));
        }
        yield "[" + String.join(",", items) + "]";
      }
      case MAP -> {
        List<String> entries = new ArrayList<>();
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
          entries.add(
              text(schema.keySchema(), entry.getKey()) + ":" + text(schema.valueSchema(), entry.getValue()));
        }
        entries.sort(null);
        yield "{" + String.join(",", entries) + "}";
      }
      case STRUCT -> {
        List<String> fields = new ArrayList<>();
        for (Field field : schema.fields()) {
          Object found = ((Struct) value).getWithoutDefault(field.name());
          fields.add(quoted(field.name()) + ":" + text(field.schema(), found));
        }
        yield "{" + String.join(",", fields) + "}";
      }
    };
  }

  private static String quoted(String text) {
    StringBuilder escaped = new StringBuilder("\"");
    for (char unit : text.toCharArray()) {
      if (unit > ' ' && unit < 0x7f && unit != '"' && unit != '\\') {
        escaped.append(unit);
      } else {
        escaped.append(String.format("\\u%04x", (int) unit));
      }
    }
    return escaped.append('"').toString();
  }
}
