import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The testee protocol in kept-alive mode: a JSON request per line in, a JSON answer per line out.
 *
 * <p>This is all that cdcwire asks of a program in Java. To test your own decoder, copy this class and call {@link
 * #serve} with yours.
 *
 * <p>A request has the members of the protocol: {@code options}, {@code tables}, {@code schemas}, {@code blobs}. Those
 * that a case does not need are missing; {@link #blobs} reads claim-check files.
 */
final class Testee {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Testee() {}

  /** The bytes break the format. Any other exception ends the program: it is a crash, and reported as one. */
  static final class Rejection extends Exception {
    Rejection(String problem) {
      super(problem);
    }
  }

  /** A message of Kafka, or a file in storage, which has a path. Null is Kafka's null. */
  record Message(byte[] key, byte[] value, String path) {}

  /** Gives the events of one message of Kafka, in the text form of the protocol. */
  interface Decode {
    List<Map<String, Object>> decode(byte[] key, byte[] value, JsonNode request) throws Rejection;
  }

  /** Gives the events of one message or file, in the text form of the protocol. */
  interface DecodeMessage {
    List<Map<String, Object>> decode(Message message, JsonNode request) throws Rejection;
  }

  /** Gives the messages of the events in a request, or says with a rejection that the format cannot carry them. */
  interface Encode {
    List<Message> encode(JsonNode request) throws Rejection;
  }

  /**
   * What a program does with one format. {@code encode} may be null. The features in {@code without} are not claimed;
   * {@code choices} says what the decoder does where the format leaves a choice.
   */
  record Format(DecodeMessage decode, Encode encode, List<String> without, Map<String, String> choices) {
    Format(DecodeMessage decode, List<String> without) {
      this(decode, null, without, Map.of());
    }

    private Map<String, Object> claim() {
      return Map.of("encode", encode != null, "without", without, "choices", choices);
    }
  }

  /** Answers requests for one format until stop. */
  static void serve(String name, String version, String format, List<String> without, Decode decode)
      throws IOException {
    serve(name, version, Map.of(format, without), decode);
  }

  /** The same for several formats that share a decoder, each with the features that are not claimed. */
  static void serve(String name, String version, Map<String, List<String>> formats, Decode decode) throws IOException {
    Map<String, Format> served = new HashMap<>();
    DecodeMessage each = (message, request) -> decode.decode(message.key(), message.value(), request);
    formats.forEach((format, without) -> served.put(format, new Format(each, without)));
    serve(name, version, served);
  }

  /** Answers requests for several formats until stop. */
  static void serve(String name, String version, Map<String, Format> formats) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode request = JSON.readTree(line);
      switch (request.get("cmd").asText()) {
        case "start" -> {
          Map<String, Object> claims = new HashMap<>();
          formats.forEach((format, served) -> claims.put(format, served.claim()));
          say(Map.of("protocol", 1, "name", name, "version", version, "language", "Java", "formats", claims));
        }
        case "decode" -> say(decoded(request, formats.get(request.get("format").asText()).decode()));
        case "encode" -> say(encoded(request, formats.get(request.get("format").asText()).encode()));
        default -> {
          return;
        }
      }
    }
  }

  /** Returns the claim-check files of a request by location. */
  static Map<String, byte[]> blobs(JsonNode request) throws IOException {
    Map<String, byte[]> blobs = new HashMap<>();
    for (Iterator<String> names = request.path("blobs").fieldNames(); names.hasNext(); ) {
      String location = names.next();
      blobs.put(location, request.get("blobs").get(location).binaryValue());
    }
    return blobs;
  }

  private static Map<String, Object> decoded(JsonNode request, DecodeMessage decode) throws IOException {
    List<Map<String, Object>> events = new ArrayList<>();
    int index = 0;
    try {
      for (JsonNode message : request.get("messages")) {
        byte[] key = bytes(message.get("key"));
        byte[] value = bytes(message.get("value"));
        events.addAll(decode.decode(new Message(key, value, message.path("path").asText(null)), request));
        index++;
      }
    } catch (Rejection rejection) {
      String problem = String.valueOf(rejection.getMessage());
      return Map.of("seq", request.get("seq"), "rejected", Map.of("problem", problem, "message", index));
    }
    return Map.of("seq", request.get("seq"), "events", events);
  }

  private static Map<String, Object> encoded(JsonNode request, Encode encode) throws IOException {
    List<Map<String, Object>> messages = new ArrayList<>();
    try {
      for (Message message : encode.encode(request)) {
        Map<String, Object> document = new HashMap<>();
        document.put("value", base64(message.value()));
        if (message.path() == null) {
          document.put("key", base64(message.key()));
        } else {
          document.put("path", message.path());
        }
        messages.add(document);
      }
    } catch (Rejection rejection) {
      Map<String, Object> rejected = Map.of("problem", String.valueOf(rejection.getMessage()));
      return Map.of("seq", request.get("seq"), "rejected", rejected);
    }
    return Map.of("seq", request.get("seq"), "messages", messages);
  }

  private static byte[] bytes(JsonNode text) throws IOException {
    return text == null || text.isNull() ? null : text.binaryValue();
  }

  private static String base64(byte[] bytes) {
    return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
  }

  private static void say(Map<String, Object> document) throws IOException {
    PrintStream out = System.out;
    out.write(JSON.writeValueAsBytes(document));
    out.write('\n');
    out.flush();
  }
}
