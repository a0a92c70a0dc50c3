import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.relational.Column;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.HexFormat;
import java.util.function.Consumer;
import java.util.function.Function;

/** Facts of the file as the Java values that a connector gets from its driver. */
final class Facts {
  private Facts() {}

  static Instant instant(long nanoseconds) {
    return Instant.ofEpochSecond(0, nanoseconds);
  }

  /** Give a fact to its setter, if the message has it. */
  static <T> void set(JsonNode facts, String name, Function<String, T> read, Consumer<T> setter) {
    if (facts.hasNonNull(name)) {
      setter.accept(read.apply(facts.get(name).asText()));
    }
  }

  /** The value of a column by its JDBC type; a type that is not listed is a text. */
  static Object value(Column column, JsonNode value) {
    if (value.isNull()) {
      return null;
    }
    String text = value.asText();
    return switch (column.jdbcType()) {
      case Types.BIT, Types.BOOLEAN -> value.booleanValue();
      case Types.TINYINT, Types.SMALLINT -> Short.valueOf(text);
      case Types.INTEGER -> Integer.valueOf(text);
      case Types.BIGINT -> Long.valueOf(text);
      case Types.REAL -> Float.valueOf(text);
      case Types.FLOAT, Types.DOUBLE -> Double.valueOf(text);
      case Types.NUMERIC, Types.DECIMAL -> new BigDecimal(text);
      case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> HexFormat.of().parseHex(text);
      case Types.DATE -> java.sql.Date.valueOf(LocalDate.parse(text));
      case Types.TIME -> LocalTime.parse(text);
      case Types.TIMESTAMP -> Timestamp.valueOf(LocalDateTime.parse(text));
      default -> text;
    };
  }
}
