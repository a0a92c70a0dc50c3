import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.oracle.OracleConnection;
import io.debezium.connector.oracle.OracleConnectorConfig;
import io.debezium.connector.oracle.OracleValueConverters;
import io.debezium.connector.oracle.Scn;
import io.debezium.connector.oracle.SourceInfo;
import io.debezium.relational.Column;
import io.debezium.relational.TableId;
import oracle.sql.CharacterSet;
import org.apache.kafka.connect.data.Struct;

/** Oracle's connector; its values are texts, as LogMiner gives them. */
final class Connector extends RelationalConnector<OracleConnectorConfig> {
  Connector(Configuration settings) {
    this(new OracleConnectorConfig(settings));
  }

  private Connector(OracleConnectorConfig config) {
    super(config, new OracleValueConverters(config, new Unconnected(config)), false);
  }

  @Override
  Struct source(TableId table, JsonNode facts, SnapshotRecord snapshot) {
    SourceInfo source = new SourceInfo(config) {};
    source.tableEvent(table);
    source.setSnapshot(snapshot);
    Facts.set(facts, "ts_ns", text -> Facts.instant(Long.parseLong(text)), source::setSourceTime);
    Facts.set(facts, "scn", Scn::valueOf, source::setEventScn);
    Facts.set(facts, "commit_scn", Scn::valueOf, source::setEventCommitScn);
    Facts.set(facts, "start_scn", Scn::valueOf, source::setStartScn);
    Facts.set(facts, "start_ts_ns", text -> Facts.instant(Long.parseLong(text)), source::setStartTime);
    Facts.set(facts, "commit_ts_ns", text -> Facts.instant(Long.parseLong(text)), source::setCommitTime);
    Facts.set(facts, "txId", text -> text, source::setTransactionId);
    Facts.set(facts, "txSeq", Long::valueOf, source::setTransactionSequence);
    Facts.set(facts, "lcr_position", text -> text, source::setLcrPosition);
    Facts.set(facts, "rs_id", text -> text, source::setRsId);
    Facts.set(facts, "ssn", Long::valueOf, source::setSsn);
    Facts.set(facts, "redo_thread", Integer::valueOf, source::setRedoThread);
    Facts.set(facts, "user_name", text -> text, source::setUserName);
    Facts.set(facts, "redo_sql", text -> text, source::setRedoSql);
    Facts.set(facts, "row_id", text -> text, source::setRowId);
    return config.<SourceInfo>getSourceInfoStructMaker().struct(source);
  }

  @Override
  Object value(Column column, JsonNode value) {
    if (value.path("unavailable").asBoolean()) {
      return OracleValueConverters.UNAVAILABLE_VALUE;
    }
    return value.isNull() ? null : value.asText();
  }

  /** A connection that is never opened; the converters ask it for character sets. */
  private static final class Unconnected extends OracleConnection {
    Unconnected(OracleConnectorConfig config) {
      super(config, false);
    }

    @Override
    public CharacterSet getNationalCharacterSet() {
      return CharacterSet.make(CharacterSet.AL16UTF16_CHARSET);
    }

    @Override
    public CharacterSet getDatabaseCharacterSet() {
      return CharacterSet.make(CharacterSet.AL32UTF8_CHARSET);
    }
  }
}
