import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Compares answers with an exported corpus, by the rules of COMPARISON.md there. */
public final class Comparison {
  private static final Pattern PARAMETERS = Pattern.compile("[^(<]*\\(([0-9]+(?:,[0-9]+)*)\\)");
  private static final List<String> NAMES = List.of("database", "schema", "table");
  private static final List<String> POSITION =
      List.of(
          ("commit_ts sequence_id lsn tx_id tx_order partition commit_ms sent_ms file pos row gtid server_id"
                  + " commit_lsn change_lsn event_serial_no commit_scn scn rs_id ssn start_ts")
              .split(" "));
  private static final String FLOAT = "-?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?|nan|-?inf";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Set<String> notCompared = new HashSet<>();
  private final Set<String> notMadeUp = new HashSet<>();
  private final boolean isZoneNeeded;
  private final boolean keyRowsHaveNulls;

  /** Takes the rules of a format in manifest.json, and the features that the decoder lacks. */
  public Comparison(JsonNode rules, Collection<String> without) {
    rules.path("not_compared").forEach(name -> notCompared.add(name.asText()));
    rules.path("not_made_up").forEach(name -> notMadeUp.add(name.asText()));
    notCompared.addAll(without);
    isZoneNeeded = rules.path("zone_needed").asBoolean();
    keyRowsHaveNulls = rules.path("key_rows_have_nulls").asBoolean();
  }

  /** Returns whether the events of an answer are right. */
  public boolean sameEvents(JsonNode expected, JsonNode given) {
    List<JsonNode> wanted = list(expected);
    List<JsonNode> found = list(given);
    if (found.stream().noneMatch(Comparison::isTombstone)) {
      wanted.removeIf(Comparison::isTombstone);
    }
    return sameLists(joined(wanted), joined(found), this::sameEvent);
  }

  private static boolean isTombstone(JsonNode event) {
    return event.path("what").asText().equals("tombstone");
  }

  /** Makes one update of a "before" event and the "after" event that follows. */
  private static List<JsonNode> joined(List<JsonNode> events) {
    List<JsonNode> all = new ArrayList<>();
    for (JsonNode event : events) {
      JsonNode last = all.isEmpty() ? MissingNode.getInstance() : all.get(all.size() - 1);
      if (isPair(last, event)) {
        ObjectNode whole = event.deepCopy();
        whole.put("op", "update").putNull("half").set("before", last.get("before"));
        all.set(all.size() - 1, whole);
      } else {
        all.add(event);
      }
    }
    return all;
  }

  private static boolean isPair(JsonNode before, JsonNode after) {
    return before.path("half").asText().equals("before")
        && after.path("half").asText().equals("after")
        && same(before, after, NAMES)
        && same(before.path("position"), after.path("position"), POSITION.subList(0, 3));
  }

  private boolean sameEvent(JsonNode wanted, JsonNode given) {
    if (!same(wanted, given, List.of("kind"))
        || isCompared("position") && !samePosition(wanted.path("position"), given.path("position"))) {
      return false;
    }
    JsonNode extra = wanted.path("extra");
    JsonNode other = given.path("extra"); // here null is a value: a null and a text differ
    if (!names(extra).stream().allMatch(name -> !other.has(name) || other.get(name).equals(extra.get(name)))) {
      return false;
    }
    return switch (wanted.path("kind").asText()) {
      case "row" -> sameRowEvent(wanted, given);
      case "ddl" -> sameDefinition(wanted, given);
      default -> same(wanted, given, List.of("what", "id"));
    };
  }

  private boolean samePosition(JsonNode wanted, JsonNode given) {
    return POSITION.stream()
        .filter(name -> isCompared(name) && (wanted.has(name) || notMadeUp.contains(name)))
        .allMatch(name -> member(wanted, name).equals(member(given, name)));
  }

  private boolean sameDefinition(JsonNode wanted, JsonNode given) {
    List<String> both = shared(wanted, given, List.of("what", "code"));
    boolean hasColumns = wanted.path("columns").isArray() && given.path("columns").isArray();
    return sameNames(wanted, given)
        && same(wanted, given, List.of("query"))
        && (!isCompared("what") || same(wanted, given, both.isEmpty() ? List.of("what") : both))
        && (!hasColumns || columnNames(wanted).equals(columnNames(given)));
  }

  private boolean sameRowEvent(JsonNode wanted, JsonNode given) {
    String sent = wanted.path("sent").asText();
    boolean isDelete = wanted.path("op").asText().equals("delete") || given.path("op").asText().equals("delete");
    return (same(wanted, given, List.of("op")) || !isCompared("op") && !isDelete)
        && same(wanted, given, List.of("half"))
        && sameNames(wanted, given)
        && (sent.equals("changed") || same(wanted, given, shared(wanted, given, List.of("sent"))))
        && (!wanted.hasNonNull("key") || !isCompared("key") || sorted(wanted.get("key")).equals(sorted(given.path("key"))))
        && sameRow(sent.equals("changed") ? filled(wanted, given) : wanted.path("before"), ofKey(wanted, given, "before"))
        && sameRow(wanted.path("after"), ofKey(wanted, given, "after"));
  }

  /** Compares the names of the table. An empty name of a database or schema is none. */
  private boolean sameNames(JsonNode wanted, JsonNode given) {
    return NAMES.stream()
        .filter(this::isCompared)
        .allMatch(
            name ->
                same(wanted, given, List.of(name))
                    || !name.equals("table") && isEmpty(wanted.path(name)) && isEmpty(given.path(name)));
  }

  private static boolean isEmpty(JsonNode name) {
    return name.isNull() || name.isMissingNode() || name.isTextual() && name.asText().isEmpty();
  }

  /** Returns an answered row, which may have more columns that are NULL where it is cut to its key. */
  private JsonNode ofKey(JsonNode wanted, JsonNode given, String side) {
    JsonNode row = given.path(side);
    JsonNode key = wanted.path(side);
    if (!keyRowsHaveNulls || !wanted.path("sent").asText().equals("key") || !row.isObject() || !key.isObject()) {
      return row;
    }
    ObjectNode cut = row.deepCopy();
    names(row).stream().filter(name -> !key.has(name) && isNull(row.get(name))).forEach(cut::remove);
    return cut;
  }

  /** Returns the old row with the unchanged columns that the answer has as well. */
  private static JsonNode filled(JsonNode wanted, JsonNode given) {
    if (!wanted.path("before").isObject()) {
      return wanted.path("before");
    }
    ObjectNode row = wanted.get("before").deepCopy();
    for (String name : names(wanted.path("after"))) {
      if (!row.has(name) && given.path("before").has(name)) {
        row.set(name, wanted.get("after").get(name));
      }
    }
    return row;
  }

  private boolean sameRow(JsonNode wanted, JsonNode given) {
    if (!wanted.isObject() || !given.isObject()) {
      return !wanted.isObject() && (given.isNull() || given.isMissingNode());
    }
    return wanted.size() == given.size()
        && names(wanted).stream().allMatch(name -> given.has(name) && sameValue(wanted.get(name), given.get(name)));
  }

  private boolean sameValue(JsonNode wanted, JsonNode given) {
    if (isNull(wanted) || isNull(given)) {
      return isNull(wanted) && isNull(given);
    }
    JsonNode found = typed(given);
    if (wanted.has("unavailable") || found.has("unavailable")) {
      return same(wanted, found, List.of("unavailable"));
    }
    String kind = kind(wanted.path("type").asText("text"));
    if (found.has("type") && !sameType(wanted.path("type").asText("text"), found.get("type").asText())) {
      return false;
    }
    Stream<JsonNode> forms = Stream.concat(Stream.of(wanted), list(wanted.path("same")).stream());
    return forms.anyMatch(form -> sameForm(kind, typed(form), found));
  }

  private boolean sameForm(String kind, JsonNode wanted, JsonNode given) {
    switch (kind) {
      case "enum", "set":
        return sameLabel(wanted, given);
      case "struct":
        return sameRow(wanted.path("fields"), given.path("fields"));
      case "array":
        return given.path("items").isArray()
            && sameLists(list(wanted.path("items")), list(given.path("items")), this::sameValue);
      case "map":
        return given.path("entries").isArray() && sameMap(list(wanted.path("entries")), list(given.path("entries")));
      default:
        break;
    }
    if (wanted.has("bytes") || given.has("bytes")) {
      return same(wanted, given, List.of("bytes"));
    }
    if (!wanted.path("value").isTextual() || !given.path("value").isTextual()) {
      return false;
    }
    String one = wanted.get("value").asText();
    String other = given.get("value").asText();
    if (kind.matches("int[0-9]+|year|bit")) {
      return other.matches("-?[0-9]+") && new BigInteger(one).equals(new BigInteger(other));
    } else if (kind.startsWith("float")) {
      return sameFloat(one, other, kind.equals("float32"));
    } else if (kind.startsWith("decimal")) {
      return one.equals(other) || sameDecimal(one, other);
    } else if (kind.equals("json")) {
      return one.equals(other) || document(one).equals(document(other));
    } else if (kind.equals("vector")) {
      BiPredicate<String, String> isSame = (left, right) -> sameFloat(left, right, true);
      return one.equals(other) || sameLists(numbers(one), numbers(other), isSame);
    } else if (!one.equals(other) || !same(wanted, given, List.of("unit"))) {
      return false;
    }
    boolean hasZone = (kind.startsWith("date") || kind.startsWith("time")) && !given.hasNonNull("unit");
    boolean mayLackZone = !given.hasNonNull("zone") && (!isZoneNeeded || one.endsWith("infinity"));
    return !hasZone || mayLackZone || same(wanted, given, List.of("zone"));
  }

  private boolean sameMap(List<JsonNode> wanted, List<JsonNode> given) {
    for (JsonNode entry : wanted) {
      Iterator<JsonNode> left = given.iterator();
      boolean isThere = false;
      while (!isThere && left.hasNext()) {
        isThere = sameLists(list(entry), list(left.next()), this::sameValue);
      }
      if (!isThere) {
        return false;
      }
      left.remove();
    }
    return given.isEmpty();
  }

  private boolean sameDecimal(String wanted, String given) {
    String plain = "-?[0-9]+(\\.[0-9]+)?";
    if (!wanted.matches(plain) || !given.matches(plain)) {
      return false;
    }
    BigDecimal one = new BigDecimal(wanted);
    BigDecimal other = new BigDecimal(given);
    return isCompared("scale") ? one.equals(other) : one.compareTo(other) == 0;
  }

  private static boolean sameLabel(JsonNode wanted, JsonNode given) {
    JsonNode text = given.path("value");
    if (text.isTextual()) {
      return text.equals(wanted.get("index")) || text.equals(wanted.get("label"));
    }
    List<String> both = shared(wanted, given, List.of("index", "label"));
    return !both.isEmpty() && both.stream().allMatch(name -> labels(wanted.get(name)).equals(labels(given.get(name))));
  }

  private static List<String> labels(JsonNode text) {
    return Arrays.stream(text.asText().split(",", -1)).sorted().toList();
  }

  private static boolean sameFloat(String wanted, String given, boolean isShort) {
    if (!wanted.matches(FLOAT) || !given.matches(FLOAT)) {
      return false;
    }
    String one = wanted.replace("nan", "NaN").replace("inf", "Infinity");
    String other = given.replace("nan", "NaN").replace("inf", "Infinity");
    return isShort ? Float.valueOf(one).equals(Float.valueOf(other)) : Double.valueOf(one).equals(Double.valueOf(other));
  }

  private static List<String> numbers(String vector) {
    return Arrays.stream(vector.replaceAll("^\\[|]$", "").split(",", -1)).map(String::strip).toList();
  }

  /** Returns a JSON text as a value with exact numbers and repeated members; a text that is not JSON as it is. */
  private static Object document(String text) {
    try (JsonParser parser = JSON.createParser(text)) {
      parser.nextToken();
      Object value = exact(parser);
      return parser.nextToken() == null ? List.of(value) : text;
    } catch (IOException | NumberFormatException error) {
      return text;
    }
  }

  private static Object exact(JsonParser parser) throws IOException {
    if (parser.currentToken() == JsonToken.START_ARRAY) {
      List<Object> items = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        items.add(exact(parser));
      }
      return items;
    } else if (parser.currentToken() == JsonToken.START_OBJECT) {
      Map<String, List<Object>> members = new HashMap<>();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        parser.nextToken();
        members.computeIfAbsent(name, unused -> new ArrayList<>()).add(exact(parser));
      }
      return members;
    } else if (parser.currentToken() == null) {
      throw new IOException("the text ends too early");
    }
    boolean isNumber = parser.currentToken().isNumeric();
    return isNumber ? new BigDecimal(parser.getText()).stripTrailingZeros() : JSON.readTree(parser);
  }

  private boolean isCompared(String name) {
    return !notCompared.contains(name);
  }

  private static <T> boolean sameLists(List<T> wanted, List<T> given, BiPredicate<T, T> isSame) {
    Iterator<T> other = given.iterator();
    return wanted.size() == given.size() && wanted.stream().allMatch(item -> isSame.test(item, other.next()));
  }

  /** Returns whether members are equal. Missing and null are the same. */
  private static boolean same(JsonNode wanted, JsonNode given, List<String> names) {
    return names.stream().allMatch(name -> member(wanted, name).equals(member(given, name)));
  }

  private static JsonNode member(JsonNode object, String name) {
    return object.hasNonNull(name) ? object.get(name) : MissingNode.getInstance();
  }

  private static List<String> shared(JsonNode wanted, JsonNode given, List<String> names) {
    return names.stream().filter(name -> wanted.hasNonNull(name) && given.hasNonNull(name)).toList();
  }

  private static List<String> names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static List<JsonNode> columnNames(JsonNode definition) {
    return list(definition.path("columns")).stream().map(column -> column.path("name")).toList();
  }

  private static List<JsonNode> list(JsonNode array) {
    List<JsonNode> items = new ArrayList<>();
    array.forEach(items::add);
    return items;
  }

  private static List<String> sorted(JsonNode key) {
    return list(key).stream().map(JsonNode::asText).sorted().toList();
  }

  private static boolean isNull(JsonNode value) {
    return value.isNull() || value.path("value").isNull();
  }

  private static JsonNode typed(JsonNode value) {
    return value.isTextual() ? JsonNodeFactory.instance.objectNode().set("value", value) : value;
  }

  private static String kind(String type) {
    return type.replaceAll("(?s)[(<].*[)>]", "");
  }

  /** Returns whether two types are the same, as far as both have parameters. */
  private static boolean sameType(String wanted, String given) {
    List<String> ours = parameters(wanted);
    List<String> theirs = parameters(given);
    int both = Math.min(ours.size(), theirs.size());
    return kind(wanted).equals(kind(given)) && ours.subList(0, both).equals(theirs.subList(0, both));
  }

  private static List<String> parameters(String type) { // of decimal(10,4)
    Matcher found = PARAMETERS.matcher(type);
    return found.lookingAt() ? List.of(found.group(1).split(",")) : List.of();
  }
}
