package cdcwire.corpus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.*;
import java.util.function.BiPredicate;

/** Walks the golden cases of cdcwire. README.md among the resources describes a case, COMPARISON.md the comparison. */
public final class Corpus {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Corpus() {}

  /** A decoder: it returns the events of a request, or throws a Refusal. Any other exception is a crash. */
  public interface Decoder {
    JsonNode decode(JsonNode request) throws Exception;
  }

  /** Your decoder throws it to refuse a message. */
  public static class Refusal extends Exception {
    public Refusal(String problem) {
      super(problem);
    }
  }

  /** The features that a decoder lacks, and its choices by subject. */
  public record Settings(Set<String> without, Map<String, String> choices) {
    public Settings() {
      this(Set.of(), Map.of());
    }
  }

  /** A wrong answer. A binding one is a bug of the decoder. */
  public record Failure(String id, boolean binding, String problem) {}

  /** The number of cases that were asked, and the wrong answers. */
  public record Result(int asked, List<Failure> failures) {}

  /** Returns a file of the corpus: manifest.json, schemas/case-line.schema.json. */
  public static JsonNode document(String name) throws IOException {
    try (InputStream file = Corpus.class.getResourceAsStream("/cdcwire-corpus/" + name)) {
      if (file == null) throw new IOException("the corpus has no file " + name);
      return JSON.readTree(file);
    }
  }

  /** Returns the cases of a format. */
  public static List<JsonNode> cases(String format) throws IOException {
    try (InputStream file = Corpus.class.getResourceAsStream("/cdcwire-corpus/cases/" + format + ".jsonl")) {
      if (file == null) throw new IOException("the corpus has no format " + format);
      return JSON.readerFor(JsonNode.class).<JsonNode>readValues(file).readAll();
    }
  }

  /** Returns the bytes of a key or value of a message; null is Kafka's null. */
  public static byte[] bytes(JsonNode text) {
    return text == null || text.isNull() ? null : Base64.getDecoder().decode(text.asText());
  }

  /** Returns whether a decoder with these settings is asked a case. */
  public static boolean isAsked(JsonNode line, Settings settings) {
    String[] choice = line.path("choice").asText(": ").split(": ", 2);
    String mine = settings.choices().get(choice[0]);
    for (JsonNode feature : line.get("features")) if (settings.without().contains(feature.asText())) return false;
    return !line.get("expect").asText().equals("encode") && (mine == null || mine.equals(choice[1]));
  }

  /** Gives the request of each case to a decoder. {@code same} compares the right events with the given ones. */
  public static Result walk(String format, Decoder decoder, BiPredicate<JsonNode, JsonNode> same, Settings settings)
      throws IOException {
    int asked = 0;
    List<Failure> failures = new ArrayList<>();
    for (JsonNode line : cases(format)) {
      if (!isAsked(line, settings)) continue;
      asked++;
      String problem = problemOf(line, decoder, same);
      if (problem == null) continue;
      String level = line.get("level").asText(), subject = line.path("choice").asText("").split(": ", 2)[0];
      boolean binding = level.equals("must") || level.equals("may") && settings.choices().containsKey(subject);
      failures.add(new Failure(line.get("id").asText(), binding, problem));
    }
    return new Result(asked, failures);
  }

  private static String problemOf(JsonNode line, Decoder decoder, BiPredicate<JsonNode, JsonNode> same) {
    boolean isValid = line.get("expect").asText().equals("accept");
    try {
      JsonNode given = decoder.decode(line.get("request"));
      if (!isValid) return "read a malformed message";
      return same.test(line.get("events"), given) ? null : "gave other events";
    } catch (Refusal refusal) {
      return isValid ? "refused a valid message: " + refusal.getMessage() : null;
    } catch (Exception | StackOverflowError error) {
      return "crashed: " + error;
    }
  }
}
