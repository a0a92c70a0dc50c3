import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.db2.Db2ConnectorConfig;
import io.debezium.connector.db2.Db2ValueConverters;
import io.debezium.connector.db2.Lsn;
import io.debezium.connector.db2.SourceInfo;
import io.debezium.relational.Column;
import io.debezium.relational.TableId;
import java.math.BigDecimal;
import java.sql.Types;
import org.apache.kafka.connect.data.Struct;

/** Db2's connector. */
final class Connector extends RelationalConnector<Db2ConnectorConfig> {
  Connector(Configuration settings) {
    this(new Db2ConnectorConfig(settings));
  }

  private Connector(Db2ConnectorConfig config) {
    super(config, new Db2ValueConverters(config.getDecimalMode(), config.getTemporalPrecisionMode()), false);
  }

  @Override
  Struct source(TableId table, JsonNode facts, SnapshotRecord snapshot) {
    SourceInfo source = new SourceInfo(config) {};
    source.setTableId(table);
    source.setSnapshot(snapshot);
    Facts.set(facts, "ts_ns", text -> Facts.instant(Long.parseLong(text)), source::setSourceTime);
    Facts.set(facts, "change_lsn", Lsn::valueOf, source::setChangeLsn);
    Facts.set(facts, "commit_lsn", Lsn::valueOf, source::setCommitLsn);
    return config.<SourceInfo>getSourceInfoStructMaker().struct(source);
  }

  @Override
  Object value(Column column, JsonNode value) {
    boolean isDecfloat = column.jdbcType() == Types.OTHER && !value.isNull();
    return isDecfloat ? new BigDecimal(value.asText()) : super.value(column, value);
  }
}
