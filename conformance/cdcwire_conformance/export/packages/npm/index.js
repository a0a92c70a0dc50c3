// Walks the golden cases of cdcwire. data/README.md describes a case, data/COMPARISON.md the comparison.
import { readFileSync } from "node:fs";

const read = (name) => readFileSync(new URL(`./data/${name}`, import.meta.url), "utf8");

/** The versions, and for each format the rules of comparison and the number of cases. */
export const manifest = JSON.parse(read("manifest.json"));

/** Your decoder throws it to refuse a message. Any other error is a crash. */
export class Refusal extends Error {}

/** Returns a JSON Schema by its name, such as "case-line". */
export const schema = (name) => JSON.parse(read(`schemas/${name}.schema.json`));

/** Returns the bytes of a key or value of a message; null is Kafka's null. */
export const bytes = (text) => (typeof text === "string" ? Buffer.from(text, "base64") : null);

/** Yields each case of a format. */
export function* cases(format) {
  for (const line of read(`cases/${format}.jsonl`).split("\n")) if (line) yield JSON.parse(line);
}

const choiceOf = (line) => (line.choice ?? ":").split(/: */, 2);

/** Returns whether a decoder with these settings is asked: { without: [feature], choices: { subject: choice } }. */
export function isAsked(line, { without = [], choices = {} } = {}) {
  const [subject, choice] = choiceOf(line);
  const isOther = subject in choices && choices[subject] !== choice;
  return line.expect !== "encode" && !isOther && !line.features.some((each) => without.includes(each));
}

/** Returns whether a failure of a case is a bug of the decoder, by its level and your choices. */
export const isBinding = (line, { choices = {} } = {}) =>
  line.level === "must" || (line.level === "may" && choiceOf(line)[0] in choices);

/**
 * Gives each case of a format to decode(request), which returns events or throws a Refusal.
 * same(expected, given, rules) compares lists of events. Returns { asked, skipped, failures }.
 */
export function walk(format, decode, same, settings = {}) {
  const result = { asked: 0, skipped: 0, failures: [] };
  for (const line of cases(format)) {
    if (!isAsked(line, settings)) {
      result.skipped += 1;
      continue;
    }
    result.asked += 1;
    const problem = problemOf(line, decode, (given) => same(line.events, given, manifest.formats[format]));
    if (problem) result.failures.push({ id: line.id, binding: isBinding(line, settings), problem });
  }
  return result;
}

function problemOf(line, decode, isRight) {
  try {
    const given = decode(line.request);
    if (line.expect === "reject") return "read a malformed message";
    return isRight(given) ? null : "gave other events";
  } catch (error) {
    if (!(error instanceof Refusal)) return `crashed: ${error}`;
    return line.expect === "reject" ? null : "refused a valid message";
  }
}
