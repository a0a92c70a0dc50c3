package cdcwire.corpus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CorpusTest {
  private static final Corpus.Settings NONE = new Corpus.Settings();

  private static JsonNode refuse(JsonNode request) throws Corpus.Refusal {
    throw new Corpus.Refusal("refused");
  }

  private static List<String> formats() throws Exception {
    return List.copyOf(new java.util.TreeSet<>(iterable(Corpus.document("manifest.json").get("formats").fieldNames())));
  }

  private static List<String> iterable(Iterator<String> names) {
    List<String> found = new java.util.ArrayList<>();
    names.forEachRemaining(found::add);
    return found;
  }

  @Test
  void rightAndWrongAnswersAreCounted() throws Exception {
    for (String format : formats()) {
      List<JsonNode> all = Corpus.cases(format);
      JsonNode facts = Corpus.document("manifest.json").get("formats").get(format);
      assertEquals(facts.get("lines").get("stored").asInt(), all.size());
      List<JsonNode> asked = all.stream().filter(line -> Corpus.isAsked(line, NONE)).toList();
      int valid = (int) asked.stream().filter(line -> line.get("expect").asText().equals("accept")).count();
      Iterator<JsonNode> answers = asked.iterator();
      Corpus.Decoder right =
          request -> {
            JsonNode line = answers.next();
            return line.has("events") ? line.get("events") : refuse(request);
          };
      assertEquals(new Corpus.Result(asked.size(), List.of()), Corpus.walk(format, right, JsonNode::equals, NONE));
      assertEquals(valid, Corpus.walk(format, CorpusTest::refuse, (a, b) -> true, NONE).failures().size());
      int readAll = Corpus.walk(format, request -> null, (a, b) -> true, NONE).failures().size();
      assertEquals(asked.size() - valid, readAll);
      String feature =
          asked.stream().filter(line -> line.get("features").size() > 0).findFirst().get().get("features").get(0).asText();
      Corpus.Settings lacking = new Corpus.Settings(Set.of(feature), Map.of());
      long left = asked.stream().filter(line -> !line.get("features").toString().contains('"' + feature + '"')).count();
      assertEquals(left, Corpus.walk(format, CorpusTest::refuse, (a, b) -> true, lacking).asked());
    }
  }

  @Test
  void otherExceptionIsACrash() throws Exception {
    Corpus.Decoder broken =
        request -> {
          throw new IllegalStateException("broken");
        };
    String problem = Corpus.walk(formats().get(0), broken, (a, b) -> true, NONE).failures().get(0).problem();
    assertTrue(problem.startsWith("crashed: java.lang.IllegalStateException"), problem);
  }

  @Test
  void bytesAndSchemasAreRead() throws Exception {
    assertArrayEquals(new byte[] {1, 2}, Corpus.bytes(new TextNode("AQI=")));
    assertNull(Corpus.bytes(NullNode.instance));
    assertEquals("object", Corpus.document("schemas/case-line.schema.json").get("type").asText());
  }
}
