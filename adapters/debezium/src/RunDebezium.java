import io.apicurio.registry.utils.converter.AvroConverter;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.avro.SchemaParseException;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;

/**
 * Debezium without Kafka: engines in one process, and their messages as a Kafka broker would get them.
 *
 * <p>{@code java [-Dregistry=URL] -jar run-debezium.jar FOLDER NAME...} runs an engine for each
 * {@code FOLDER/NAME.properties} and writes {@code FOLDER/NAME.messages}, a line for each message: topic, key and value
 * with schemas, key and value without, in base64 with tabs between them; {@code -} is Kafka's null. They are written by
 * Kafka's JsonConverter, with its own settings as they come. With a registry there are a key and a value in Avro too, by
 * Apicurio's converter in Confluent's form; {@code !} is one whose names Avro refuses. It ends when standard input does,
 * or with exit code 1 when an engine fails.
 */
public final class RunDebezium {
  private RunDebezium() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path folder = Path.of(arguments[0]);
    List<DebeziumEngine<?>> engines = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int index = 1; index < arguments.length; index++) {
      String name = arguments[index];
      Properties properties = new Properties();
      try (var in = Files.newBufferedReader(folder.resolve(name + ".properties"))) {
        properties.load(in);
      }
      OutputStream out = Files.newOutputStream(folder.resolve(name + ".messages"));
      Converter[] converters = converters();
      DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine =
          DebeziumEngine.create(Connect.class)
              .using(properties)
              .using(
                  (success, message, error) -> {
                    if (!success) {
                      System.err.println(name + ": " + message + ": " + error);
                      System.exit(1);
                    }
                  })
              .notifying(event -> write(out, event.value(), converters))
              .build();
      engines.add(engine);
      Thread thread = new Thread(engine, name);
      threads.add(thread);
      thread.start();
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (in.readLine() != null) {
      // Nothing is asked; the end of the input is the end of the run.
    }
    for (DebeziumEngine<?> engine : engines) {
      engine.close();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** Converters of keys and of values in turn. */
  private static Converter[] converters() {
    List<Converter> converters = new ArrayList<>();
    for (boolean hasSchemas : new boolean[] {true, false}) {
      add(converters, JsonConverter::new, Map.of("schemas.enable", String.valueOf(hasSchemas)));
    }
    String registry = System.getProperty("registry");
    if (registry != null) {
      Map<String, String> settings =
          Map.of(
              "apicurio.registry.url", registry,
              "apicurio.registry.auto-register", "true",
              "apicurio.registry.as-confluent", "true",
              "apicurio.registry.use-id", "contentId",
              // A registry in memory refuses some schemas that come at the same time as others.
              "apicurio.registry.retry-count", "20");
      add(converters, AvroConverter::new, settings);
    }
    return converters.toArray(Converter[]::new);
  }

  private static void add(List<Converter> converters, Supplier<Converter> make, Map<String, String> settings) {
    for (boolean isKey : new boolean[] {true, false}) {
      Converter converter = make.get();
      converter.configure(settings, isKey);
      converters.add(converter);
    }
  }

  private static void write(OutputStream out, SourceRecord record, Converter[] converters) {
    StringBuilder line = new StringBuilder(base64(record.topic().getBytes(StandardCharsets.UTF_8)));
    for (int index = 0; index < converters.length; index++) {
      boolean isKey = index % 2 == 0;
      Schema schema = isKey ? record.keySchema() : record.valueSchema();
      Object datum = isKey ? record.key() : record.value();
      line.append('\t').append(written(converters[index], record.topic(), schema, datum));
    }
    line.append('\n');
    try {
      out.write(line.toString().getBytes(StandardCharsets.US_ASCII));
      out.flush();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static String written(Converter converter, String topic, Schema schema, Object datum) {
    if (datum == null) { // a tombstone and a key that is none are null to the broker, not the text "null"
      return "-";
    }
    try {
      byte[] bytes = converter.fromConnectData(topic, schema, datum);
      return bytes == null ? "-" : base64(bytes);
    } catch (SchemaParseException error) {
      return "!";
    }
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }
}
