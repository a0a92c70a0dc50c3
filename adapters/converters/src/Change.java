import com.fasterxml.jackson.databind.JsonNode;
import io.debezium.connector.SnapshotRecord;
import io.debezium.data.Envelope.Operation;
import io.debezium.pipeline.spi.ChangeRecordEmitter;
import io.debezium.pipeline.spi.OffsetContext;
import io.debezium.pipeline.spi.Partition;
import io.debezium.relational.Column;
import io.debezium.relational.RelationalChangeRecordEmitter;
import io.debezium.relational.Table;
import io.debezium.relational.TableEditor;
import io.debezium.relational.TableId;
import io.debezium.relational.TableSchema;
import io.debezium.schema.DataCollectionSchema;
import io.debezium.util.Clock;
import java.lang.reflect.Proxy;
import java.sql.JDBCType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * One change of a row: Debezium's own emitter makes the key and the envelope, and divides a change of the key.
 *
 * <p>What its dispatcher adds is repeated here: the topic, the null key of TRUNCATE, and the tombstone after a delete.
 */
final class Change implements ChangeRecordEmitter.Receiver<Partition> {
  private final Connector connector;
  private final JsonNode message;
  private final Table table;
  private final TableSchema schema;
  private final List<SourceRecord> records = new ArrayList<>();

  Change(Connector connector, JsonNode table, JsonNode message) {
    this.connector = connector;
    this.message = message;
    this.table = table(table);
    this.schema = connector.schema(this.table);
  }

  List<SourceRecord> records() throws InterruptedException {
    Operation operation = Operation.forCode(message.get("op").asText());
    Struct source = connector.source(table.id(), message.get("source"), snapshot());
    if (message.has("version")) {
      source.put("version", message.get("version").asText());
    }
    new Emitter(operation, offset(source)).emitChangeRecords(schema, this);
    return records;
  }

  private SnapshotRecord snapshot() {
    return SnapshotRecord.valueOf(message.path("snapshot").asText("FALSE"));
  }

  @Override
  public void changeRecord(
      Partition partition,
      DataCollectionSchema collection,
      Operation operation,
      Object key,
      Struct value,
      OffsetContext offset,
      ConnectHeaders headers) {
    var keySchema = key == null && operation == Operation.TRUNCATE ? null : collection.keySchema();
    String topic = connector.topic(table.id());
    SourceRecord record =
        new SourceRecord(
            Map.of(), Map.of(), topic, null, keySchema, key, collection.getEnvelopeSchema().schema(), value, null, headers);
    records.add(record);
    if (operation == Operation.DELETE) {
      records.add(record.newRecord(topic, null, keySchema, key, null, null, null, record.headers()));
    }
  }

  private static Table table(JsonNode described) {
    JsonNode names = described.get("id");
    TableId id = new TableId(names.get(0).asText(), names.get(1).asText(), names.get(2).asText());
    TableEditor editor = Table.editor().tableId(id);
    for (JsonNode column : described.get("columns")) {
      editor.addColumn(column(column));
    }
    return editor
        .setPrimaryKeyNames(StreamSupport.stream(described.get("key").spliterator(), false).map(JsonNode::asText).toList())
        .create();
  }

  private static Column column(JsonNode described) {
    var editor =
        Column.editor()
            .name(described.get("name").asText())
            .type(described.path("type").asText("?"))
            .jdbcType(jdbcType(described.get("jdbc")))
            .length(described.path("length").asInt(0))
            .optional(described.path("optional").asBoolean(true));
    if (described.has("scale")) {
      editor.scale(described.get("scale").asInt());
    }
    if (described.has("enum")) {
      editor.enumValues(StreamSupport.stream(described.get("enum").spliterator(), false).map(JsonNode::asText).toList());
    }
    return editor.create();
  }

  /** A name of {@code java.sql.JDBCType}, or the number of a type of the database's own. */
  private static int jdbcType(JsonNode type) {
    return type.isInt() ? type.asInt() : JDBCType.valueOf(type.asText()).getVendorTypeNumber();
  }

  /** An offset that knows its source block, which is all that an emitter asks it for. */
  private static OffsetContext offset(Struct source) {
    return (OffsetContext)
        Proxy.newProxyInstance(
            Change.class.getClassLoader(),
            new Class<?>[] {OffsetContext.class},
            (proxy, method, given) -> method.getName().equals("getSourceInfo") ? source : null);
  }

  private final class Emitter extends RelationalChangeRecordEmitter<Partition> {
    private final Operation operation;

    Emitter(Operation operation, OffsetContext offset) {
      super(Map::of, offset, clock(), connector.config());
      this.operation = operation;
    }

    @Override
    public Operation getOperation() {
      return operation;
    }

    @Override
    protected Object[] getOldColumnValues() {
      return values("before");
    }

    @Override
    protected Object[] getNewColumnValues() {
      return values("after");
    }

    /** As the connectors that send TRUNCATE override it. */
    @Override
    protected void emitTruncateRecord(Receiver<Partition> receiver, TableSchema schema) throws InterruptedException {
      Struct envelope = schema.getEnvelopeSchema().truncate(getOffset().getSourceInfo(), getClock().currentTimeAsInstant());
      receiver.changeRecord(getPartition(), schema, operation, null, envelope, getOffset(), null);
    }

    private Object[] values(String image) {
      Object[] values = new Object[table.columns().size()];
      for (int index = 0; index < values.length; index++) {
        values[index] = connector.value(table.columns().get(index), message.get(image).get(index));
      }
      return values;
    }
  }

  private Clock clock() {
    Instant time = Facts.instant(message.get("ts_ns").asLong());
    return new Clock() {
      @Override
      public long currentTimeInMillis() {
        return time.toEpochMilli();
      }

      @Override
      public Instant currentTimeAsInstant() {
        return time;
      }
    };
  }
}
