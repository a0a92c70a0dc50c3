import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.vitess.SourceInfo;
import io.debezium.connector.vitess.Vgtid;
import io.debezium.connector.vitess.VitessConnectorConfig;
import io.debezium.connector.vitess.VitessValueConverter;
import io.debezium.relational.TableId;
import java.time.Instant;
import java.time.ZoneOffset;
import org.apache.kafka.connect.data.Struct;

/** Vitess's connector. */
final class Connector extends RelationalConnector<VitessConnectorConfig> {
  Connector(Configuration settings) {
    this(new VitessConnectorConfig(settings));
  }

  private Connector(VitessConnectorConfig config) {
    super(
        config,
        new VitessValueConverter(
            config.getDecimalMode(),
            config.getTemporalPrecisionMode(),
            ZoneOffset.UTC,
            config.binaryHandlingMode(),
            config.includeUnknownDatatypes(),
            config.getBigIntUnsgnedHandlingMode(),
            config.overrideDatetimeToNullable()),
        false);
  }

  @Override
  Struct source(TableId table, JsonNode facts, SnapshotRecord snapshot) {
    Instant time = Facts.instant(facts.get("ts_ns").asLong());
    SourceInfo source = new SourceInfo(config);
    source.setTableId(table);
    source.setSnapshot(snapshot);
    source.setShard(facts.get("shard").asText());
    source.resetVgtid(Vgtid.of(facts.get("vgtid").asText()), time);
    return config.<SourceInfo>getSourceInfoStructMaker().struct(source);
  }
}
