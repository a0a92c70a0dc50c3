import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.config.CommonConnectorConfig;
import io.debezium.connector.SnapshotRecord;
import io.debezium.relational.Column;
import io.debezium.relational.CustomConverterRegistry;
import io.debezium.relational.RelationalDatabaseConnectorConfig;
import io.debezium.relational.Table;
import io.debezium.relational.TableId;
import io.debezium.relational.TableSchema;
import io.debezium.relational.TableSchemaBuilder;
import io.debezium.relational.ValueConverterProvider;
import io.debezium.schema.SchemaFactory;
import io.debezium.spi.topic.TopicNamingStrategy;
import org.apache.kafka.connect.data.Struct;

/**
 * The parts of a connector that make messages, put together as its task and its schema do.
 *
 * <p>The class {@code Connector} in a folder of {@code connectors} is one of them.
 */
abstract class RelationalConnector<C extends RelationalDatabaseConnectorConfig> {
  protected final C config;
  private final ValueConverterProvider converters;
  private final TopicNamingStrategy<TableId> topics;
  private final boolean hasManyDatabases;

  protected RelationalConnector(C config, ValueConverterProvider converters, boolean hasManyDatabases) {
    this.config = config;
    this.converters = converters;
    this.hasManyDatabases = hasManyDatabases;
    this.topics = config.getTopicNamingStrategy(CommonConnectorConfig.TOPIC_NAMING_STRATEGY, hasManyDatabases);
  }

  /** The connector's source block of a change. */
  abstract Struct source(TableId table, JsonNode facts, SnapshotRecord snapshot);

  /** What the driver gives for a value of the file. */
  Object value(Column column, JsonNode value) {
    return Facts.value(column, value);
  }

  RelationalDatabaseConnectorConfig config() {
    return config;
  }

  String topic(TableId table) {
    return topics.dataChangeTopic(table);
  }

  TableSchema schema(Table table) {
    TableSchemaBuilder builder =
        new TableSchemaBuilder(
            converters,
            config.schemaNameAdjuster(),
            new CustomConverterRegistry(null),
            config.getSourceInfoStructMaker().schema(),
            SchemaFactory.get().transactionBlockSchema(),
            config.getFieldNamer(),
            hasManyDatabases,
            config.getEventConvertingFailureHandlingMode());
    return builder.create(topics, table, null, null, config.getKeyMapper());
  }
}
