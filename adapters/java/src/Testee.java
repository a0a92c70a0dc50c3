import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The testee protocol, kept-alive door: a JSON request a line in, a JSON answer a line out.
 *
 * <p>This is all that cdcwire asks of a program in Java. To test your own decoder, keep it and call {@link #serve} with
 * yours.
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

  /** Gives the events of one message, in the text form of the protocol. Null is Kafka's null. */
  interface Decode {
    List<Map<String, Object>> decode(byte[] key, byte[] value, JsonNode request) throws Rejection;
  }

  /** Answers requests until stop. The features in {@code without} are not claimed. */
  static void serve(String name, String version, String format, List<String> without, Decode decode)
      throws IOException {
    serve(name, version, Map.of(format, without), decode);
  }

  /** The same for several formats, each with the features that are not claimed. */
  static void serve(String name, String version, Map<String, List<String>> formats, Decode decode) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode request = JSON.readTree(line);
      switch (request.get("cmd").asText()) {
        case "start" -> {
          Map<String, Object> claims = new HashMap<>();
          formats.forEach((format, without) -> claims.put(format, Map.of("encode", false, "without", without)));
          say(Map.of("protocol", 1, "name", name, "version", version, "language", "Java", "formats", claims));
        }
        case "decode" -> say(answer(request, decode));
        default -> {
          return;
        }
      }
    }
  }

  private static Map<String, Object> answer(JsonNode request, Decode decode) throws IOException {
    List<Map<String, Object>> events = new ArrayList<>();
    int index = 0;
    try {
      for (JsonNode message : request.get("messages")) {
        events.addAll(decode.decode(bytes(message.get("key")), bytes(message.get("value")), request));
        index++;
      }
    } catch (Rejection rejection) {
      String problem = String.valueOf(rejection.getMessage());
      return Map.of("seq", request.get("seq"), "rejected", Map.of("problem", problem, "message", index));
    }
    return Map.of("seq", request.get("seq"), "events", events);
  }

  private static byte[] bytes(JsonNode text) throws IOException {
    return text == null || text.isNull() ? null : text.binaryValue();
  }

  private static void say(Map<String, Object> document) throws IOException {
    PrintStream out = System.out;
    out.write(JSON.writeValueAsBytes(document));
    out.write('\n');
    out.flush();
  }
}
