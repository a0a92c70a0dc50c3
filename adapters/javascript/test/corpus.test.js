// Walks an exported corpus (`cdcwire corpus export FOLDER`): CDCWIRE_CORPUS=FOLDER node --test corpus.test.js
// To test your decoder, copy this file and compare.js, and change the hook.

import assert from "node:assert/strict";
import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { sameEvents } from "../compare.js";

// The hook: a decoder of each format, the error that it throws on purpose, what it lacks, and what it chooses.
import { Rejection as Refusal } from "../rejection.js";
import { FORMATS } from "../decoders.js";
const HOOK = { formats: FORMATS, without: (format) => FORMATS[format].without ?? [], choices: {} };
const bytes = (text) => (typeof text === "string" ? Buffer.from(text, "base64") : null);
const decode = (request) =>
  request.messages.flatMap(({ key, value, path }) =>
    HOOK.formats[request.format].decodeMessage({ key: bytes(key), value: bytes(value), path }, request),
  );

const { CDCWIRE_CORPUS: folder, CDCWIRE_VERDICTS: verdictsFile } = process.env;
const manifest = folder ? JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8")) : { formats: {} };
const verdicts = [];

for (const [format, rules] of Object.entries(manifest.formats)) {
  test(format, { skip: !(format in HOOK.formats) }, async () => {
    const failures = [];
    for (const kind of ["cases", "derived"]) {
      for await (const text of createInterface({ input: createReadStream(`${folder}/${kind}/${format}.jsonl`) })) {
        const line = JSON.parse(text);
        const verdict = verdictOf(line, rules);
        if (verdictsFile) verdicts.push(`${verdict} ${line.id}\n`);
        if (verdict !== "passed" && verdict !== "skipped" && isBinding(line)) failures.push(`${line.id}: ${verdict}`);
      }
    }
    assert.deepEqual(failures.slice(0, 20), [], `${failures.length} failed`);
  });
}
test.after?.(() => verdictsFile && writeFileSync(verdictsFile, verdicts.join("")));

const chosen = ({ choice = ":" }, [subject, made] = choice.split(/:\s*/)) => [HOOK.choices[subject], made];
const isBinding = (line) => line.level === "must" || (line.level === "may" && chosen(line)[0] !== undefined);

function verdictOf(line, rules) {
  const [mine, other] = chosen(line);
  const lacks = HOOK.without(line.request.format);
  if (line.expect === "encode" || line.features.some((each) => lacks.includes(each))) return "skipped";
  if (mine !== undefined && mine !== other) return "skipped";
  const own = { ...rules, not_compared: [...rules.not_compared, ...lacks] };
  try {
    const given = JSON.parse(JSON.stringify(decode(line.request)));
    return line.expect === "accept" && sameEvents(line.events, given, own) ? "passed" : "failed";
  } catch (error) {
    if (!(error instanceof Refusal)) return "crashed";
    return line.expect === "reject" ? "passed" : "failed";
  }
}

