import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.informix.InformixConnectorConfig;
import io.debezium.connector.informix.InformixValueConverters;
import io.debezium.connector.informix.Lsn;
import io.debezium.connector.informix.SourceInfo;
import io.debezium.relational.TableId;
import org.apache.kafka.connect.data.Struct;

/** Informix's connector. */
final class Connector extends RelationalConnector<InformixConnectorConfig> {
  Connector(Configuration settings) {
    this(new InformixConnectorConfig(settings));
  }

  private Connector(InformixConnectorConfig config) {
    super(
        config,
        new InformixValueConverters(
            config.getDecimalMode(), config.getTemporalPrecisionMode(), config.binaryHandlingMode()),
        false);
  }

  @Override
  Struct source(TableId table, JsonNode facts, SnapshotRecord snapshot) {
    SourceInfo source = new SourceInfo(config);
    source.setTableId(table);
    source.setSnapshot(snapshot);
    Facts.set(facts, "ts_ns", text -> Facts.instant(Long.parseLong(text)), source::setTimestamp);
    Facts.set(facts, "change_lsn", Lsn::of, source::setChangeLsn);
    Facts.set(facts, "commit_lsn", Lsn::of, source::setCommitLsn);
    Facts.set(facts, "begin_lsn", Lsn::of, source::setBeginLsn);
    Facts.set(facts, "txId", Integer::valueOf, source::setTxId);
    return config.<SourceInfo>getSourceInfoStructMaker().struct(source);
  }
}
