import com.aliyun.datahub.client.DatahubClient;
import com.aliyun.datahub.client.DatahubClientBuilder;
import com.aliyun.datahub.client.auth.AliyunAccount;
import com.aliyun.datahub.client.common.DatahubConfig;
import com.aliyun.datahub.client.http.HttpConfig;
import com.aliyun.datahub.client.model.BlobRecordData;
import com.aliyun.datahub.client.model.CompressType;
import com.aliyun.datahub.client.model.CursorType;
import com.aliyun.datahub.client.model.Field;
import com.aliyun.datahub.client.model.GetRecordsResult;
import com.aliyun.datahub.client.model.GetTopicResult;
import com.aliyun.datahub.client.model.RecordEntry;
import com.aliyun.datahub.client.model.RecordSchema;
import com.aliyun.datahub.client.model.RecordType;
import com.aliyun.datahub.client.model.TupleRecordData;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * DataHub's SDK for Java as it comes, put to work by cdcwire: it puts records, and gets them.
 *
 * <p>A request is a line of JSON, an answer another. {@code put} and {@code get} name the encoding, the compression
 * and an endpoint; the topic's schema and its shard are asked of the service, as a user's program does. Values travel
 * as texts, NULL as null, blobs in base64. What the SDK throws is the answer, too.
 */
final class DriveDataHub {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PROJECT = "cdcwire";
  private static final String TOPIC = "changes";
  private static final int LIMIT = 10000;

  /** Clients by their settings: each has threads of its own. */
  private static final Map<List<String>, DatahubClient> CLIENTS = new LinkedHashMap<>();

  private DriveDataHub() {}

  public static void main(String[] arguments) throws IOException {
    PrintStream out = System.out;
    System.setOut(System.err); // what the SDK logs is no answer
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode request = JSON.readTree(line);
      String verb = request.get("cmd").asText();
      if (verb.equals("stop")) {
        break;
      }
      Map<String, Object> said;
      if (verb.equals("start")) {
        said = Map.of("name", "aliyun-sdk-datahub", "version", version());
      } else {
        said = answer(verb, request);
      }
      out.write(JSON.writeValueAsBytes(said));
      out.write('\n');
      out.flush();
    }
    System.exit(0); // the SDK's threads would keep it alive
  }

  private static Map<String, Object> answer(String verb, JsonNode request) {
    try {
      return verb.equals("put") ? put(request) : get(request);
    } catch (Exception | Error error) { // what an SDK throws is what is measured
      return Map.of("raised", error.getClass().getSimpleName() + ": " + error.getMessage());
    }
  }

  /** The version is in the name of the jar. */
  private static String version() {
    String path = DatahubClient.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    String name = path.substring(path.lastIndexOf('/') + 1);
    return name.replace("aliyun-sdk-datahub-", "").replace(".jar", "");
  }

  private static DatahubClient client(JsonNode request) {
    List<String> settings =
        List.of(text(request, "endpoint"), text(request, "encoding"), text(request, "compression"));
    return CLIENTS.computeIfAbsent(settings, DriveDataHub::client);
  }

  private static DatahubClient client(List<String> settings) {
    DatahubConfig config = new DatahubConfig(settings.get(0), new AliyunAccount("id", "key"));
    config.setEnableBinary(!settings.get(1).equals("json"));
    config.setEnableBatch(settings.get(1).equals("batch"));
    HttpConfig http = new HttpConfig();
    http.setMaxRetryCount(0).setReadTimeout(20000).setConnTimeout(5000);
    http.setCompressType(CompressType.valueOf(settings.get(2).toUpperCase()));
    return DatahubClientBuilder.newBuilder()
        .setDatahubConfig(config)
        .setHttpConfig(http)
        .setUserAgent("cdcwire")
        .build();
  }

  private static Map<String, Object> put(JsonNode request) throws IOException {
    DatahubClient client = client(request);
    GetTopicResult topic = client.getTopic(PROJECT, TOPIC);
    String shard = client.listShard(PROJECT, TOPIC).getShards().get(0).getShardId();
    List<RecordEntry> records = new ArrayList<>();
    for (JsonNode told : request.get("records")) {
      RecordEntry entry = new RecordEntry();
      if (topic.getRecordType() == RecordType.BLOB) {
        entry.setRecordData(new BlobRecordData(told.get("data").binaryValue()));
      } else {
        entry.setRecordData(tuple(topic.getRecordSchema(), told.get("data")));
      }
      if (told.has("attributes")) {
        told.get("attributes")
            .fields()
            .forEachRemaining(each -> entry.addAttribute(each.getKey(), each.getValue().asText()));
      }
      if (told.has("hash_key")) {
        entry.setHashKey(text(told, "hash_key"));
      }
      if (told.has("partition_key")) {
        entry.setPartitionKey(text(told, "partition_key"));
      }
      records.add(entry);
    }
    if (text(request, "encoding").equals("json")) {
      return Map.of("failed", client.putRecords(PROJECT, TOPIC, records).getFailedRecordCount());
    }
    client.putRecordsByShard(PROJECT, TOPIC, shard, records);
    return Map.of("failed", 0);
  }

  private static TupleRecordData tuple(RecordSchema schema, JsonNode values) {
    TupleRecordData tuple = new TupleRecordData(schema);
    for (int index = 0; index < values.size(); index++) {
      JsonNode value = values.get(index);
      tuple.setField(index, value.isNull() ? null : value(schema.getField(index), value.asText()));
    }
    return tuple;
  }

  private static Object value(Field field, String text) {
    return switch (field.getType()) {
      case TINYINT -> Byte.valueOf(text);
      case SMALLINT -> Short.valueOf(text);
      case INTEGER -> Integer.valueOf(text);
      case BIGINT, TIMESTAMP -> Long.valueOf(text);
      case FLOAT -> (float) number(text);
      case DOUBLE -> number(text);
      case BOOLEAN -> Boolean.valueOf(text);
      case DECIMAL -> new BigDecimal(text);
      case STRING -> text;
    };
  }

  private static double number(String text) {
    return switch (text) {
      case "nan" -> Double.NaN;
      case "inf" -> Double.POSITIVE_INFINITY;
      case "-inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }

  private static Map<String, Object> get(JsonNode request) {
    DatahubClient client = client(request);
    GetTopicResult topic = client.getTopic(PROJECT, TOPIC);
    String shard = client.listShard(PROJECT, TOPIC).getShards().get(0).getShardId();
    String cursor = client.getCursor(PROJECT, TOPIC, shard, CursorType.OLDEST).getCursor();
    GetRecordsResult result;
    if (topic.getRecordType() == RecordType.BLOB) {
      result = client.getRecords(PROJECT, TOPIC, shard, cursor, LIMIT);
    } else {
      result = client.getRecords(PROJECT, TOPIC, shard, topic.getRecordSchema(), cursor, LIMIT);
    }
    List<Map<String, Object>> records = new ArrayList<>();
    for (RecordEntry entry : result.getRecords()) {
      Map<String, Object> told = new LinkedHashMap<>();
      told.put("data", data(entry));
      told.put("attributes", entry.getAttributes() == null ? Map.of() : entry.getAttributes());
      told.put("sequence", entry.getSequence());
      told.put("system_time", entry.getSystemTime());
      records.add(told);
    }
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("next_cursor", result.getNextCursor());
    said.put("records", records);
    return said;
  }

  /** Gives a blob in base64, or the texts of a tuple's values. */
  private static Object data(RecordEntry entry) {
    if (entry.getRecordData() instanceof BlobRecordData blob) {
      return Base64.getEncoder().encodeToString(blob.getData());
    }
    TupleRecordData tuple = (TupleRecordData) entry.getRecordData();
    List<String> values = new ArrayList<>();
    for (int index = 0; index < tuple.getRecordSchema().getFields().size(); index++) {
      Object value = tuple.getField(index);
      values.add(value == null ? null : value.toString());
    }
    return values;
  }

  private static String text(JsonNode node, String name) {
    return node.get(name).asText();
  }
}
