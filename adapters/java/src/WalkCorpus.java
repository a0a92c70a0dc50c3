import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Walks an exported corpus ({@code cdcwire corpus export FOLDER}) and exits with 1 if a binding case fails.
 *
 * <p>{@code CDCWIRE_CORPUS=FOLDER java -cp adapters/java/build/avro-testee.jar WalkCorpus}
 *
 * <p>To test your decoder, copy this class, {@link Comparison} and {@link Testee}, and change the hook.
 */
final class WalkCorpus {
  // The hook: the format, a decoder, the features that it lacks, and what it does where the format leaves a choice.
  private static final String FORMAT = "avro";
  private static final Testee.Decode DECODE = TicdcAvro.decoder(ReadAvro::read);
  private static final List<String> WITHOUT = TicdcAvro.WITHOUT;
  private static final Map<String, String> CHOICES = Map.of();

  private static final ObjectMapper JSON = new ObjectMapper();

  private WalkCorpus() {}

  public static void main(String[] arguments) {
    String folder = System.getenv("CDCWIRE_CORPUS");
    if (folder == null) {
      exit(2, "set CDCWIRE_CORPUS to the folder of an exported corpus");
    }
    try {
      walk(Path.of(folder));
    } catch (IOException error) {
      exit(2, "can't read the corpus: " + error);
    }
  }

  private static void walk(Path folder) throws IOException {
    JsonNode rules = JSON.readTree(folder.resolve("manifest.json").toFile()).path("formats").path(FORMAT);
    if (rules.isMissingNode()) {
      exit(2, "manifest.json has no format " + FORMAT);
    }
    Comparison comparison = new Comparison(rules, WITHOUT);
    List<String> verdicts = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    for (String kind : List.of("cases", "derived")) {
      try (BufferedReader lines = Files.newBufferedReader(folder.resolve(kind).resolve(FORMAT + ".jsonl"))) {
        for (String text = lines.readLine(); text != null; text = lines.readLine()) {
          JsonNode line = JSON.readTree(text);
          String verdict = verdict(line, comparison);
          verdicts.add(verdict + " " + line.get("id").asText());
          if (isBinding(line) && !verdict.equals("passed") && !verdict.equals("skipped")) {
            failures.add(line.get("id").asText() + ": " + verdict);
          }
        }
      }
    }
    String file = System.getenv("CDCWIRE_VERDICTS");
    if (file != null) {
      Files.write(Path.of(file), verdicts);
    }
    failures.stream().limit(20).forEach(System.out::println);
    System.out.println(FORMAT + ": " + verdicts.size() + " cases, " + failures.size() + " failed");
    System.exit(failures.isEmpty() ? 0 : 1);
  }

  private static String verdict(JsonNode line, Comparison comparison) throws IOException {
    String made = CHOICES.get(choice(line)[0]);
    boolean isOther = made != null && !made.equals(choice(line)[1].strip());
    if (line.path("expect").asText().equals("encode") || lacksFeature(line) || isOther) {
      return "skipped";
    }
    List<Map<String, Object>> found = new ArrayList<>();
    try {
      JsonNode request = line.get("request");
      for (JsonNode message : request.get("messages")) {
        found.addAll(DECODE.decode(message.path("key").binaryValue(), message.path("value").binaryValue(), request));
      }
    } catch (Testee.Rejection rejection) {
      return line.path("expect").asText().equals("reject") ? "passed" : "failed";
    } catch (RuntimeException | Error error) {
      return "crashed";
    }
    JsonNode given = JSON.readTree(JSON.writeValueAsBytes(found));
    boolean isAccepted = line.path("expect").asText().equals("accept");
    return isAccepted && comparison.sameEvents(line.get("events"), given) ? "passed" : "failed";
  }

  private static boolean isBinding(JsonNode line) {
    String level = line.path("level").asText();
    return level.equals("must") || level.equals("may") && CHOICES.containsKey(choice(line)[0]);
  }

  private static boolean lacksFeature(JsonNode line) {
    for (JsonNode feature : line.path("features")) {
      if (WITHOUT.contains(feature.asText())) {
        return true;
      }
    }
    return false;
  }

  private static String[] choice(JsonNode line) {
    return (line.path("choice").asText() + ":").split(":", -1);
  }

  private static void exit(int code, String problem) {
    System.err.println(problem);
    System.exit(code);
  }
}
