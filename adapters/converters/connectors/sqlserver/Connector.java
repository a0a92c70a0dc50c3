import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.sqlserver.Lsn;
import io.debezium.connector.sqlserver.SourceInfo;
import io.debezium.connector.sqlserver.SqlServerConnectorConfig;
import io.debezium.connector.sqlserver.SqlServerValueConverters;
import io.debezium.relational.Column;
import io.debezium.relational.TableId;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.OffsetDateTime;
import microsoft.sql.DateTimeOffset;
import org.apache.kafka.connect.data.Struct;

/** SQL Server's connector. */
final class Connector extends RelationalConnector<SqlServerConnectorConfig> {
  Connector(Configuration settings) {
    this(new SqlServerConnectorConfig(settings));
  }

  private Connector(SqlServerConnectorConfig config) {
    super(
        config,
        new SqlServerValueConverters(
            config.getDecimalMode(),
            config.getTemporalPrecisionMode(),
            config.binaryHandlingMode(),
            config.getUnavailableValuePlaceholder()),
        true);
  }

  @Override
  Struct source(TableId table, JsonNode facts, SnapshotRecord snapshot) {
    SourceInfo source = new SourceInfo(config) {};
    source.setTableId(table);
    source.setSnapshot(snapshot);
    Facts.set(facts, "ts_ns", text -> Facts.instant(Long.parseLong(text)), source::setSourceTime);
    Facts.set(facts, "change_lsn", Lsn::valueOf, source::setChangeLsn);
    Facts.set(facts, "commit_lsn", Lsn::valueOf, source::setCommitLsn);
    Facts.set(facts, "event_serial_no", Long::valueOf, source::setEventSerialNo);
    return config.<SourceInfo>getSourceInfoStructMaker().struct(source);
  }

  @Override
  Object value(Column column, JsonNode value) {
    if (value.path("unavailable").asBoolean()) {
      return SqlServerValueConverters.UNAVAILABLE_VALUE;
    }
    if (value.isNull()) {
      return null;
    }
    return switch (column.jdbcType()) {
      case microsoft.sql.Types.DATETIMEOFFSET -> {
        OffsetDateTime time = OffsetDateTime.parse(value.asText());
        yield DateTimeOffset.valueOf(Timestamp.from(time.toInstant()), time.getOffset().getTotalSeconds() / 60);
      }
      case microsoft.sql.Types.MONEY, microsoft.sql.Types.SMALLMONEY -> new BigDecimal(value.asText());
      default -> super.value(column, value);
    };
  }
}
