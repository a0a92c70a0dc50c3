import assert from "node:assert/strict";
import { test } from "node:test";

import { Refusal, bytes, cases, isAsked, manifest, schema, walk } from "./index.js";

const same = (expected, given) => JSON.stringify(expected) === JSON.stringify(given);
const refuse = () => {
  throw new Refusal("refused");
};

for (const [format, { lines }] of Object.entries(manifest.formats)) {
  const all = [...cases(format)];
  const asked = all.filter((line) => isAsked(line));
  const valid = asked.filter((line) => line.expect === "accept").length;

  test(`${format}: the manifest counts the cases`, () => assert.equal(all.length, lines.stored));

  test(`${format}: the right answers pass`, () => {
    let next = 0;
    const answer = () => asked[next++].events ?? refuse();
    assert.deepEqual(walk(format, answer, same), { asked: asked.length, skipped: all.length - asked.length, failures: [] });
  });

  test(`${format}: wrong answers fail`, () => {
    assert.equal(walk(format, refuse, same).failures.length, valid);
    assert.equal(walk(format, () => [], () => true).failures.length, asked.length - valid);
    assert.equal(walk(format, () => [], () => false).failures.length, asked.length);
  });

  test(`${format}: a declined feature is not asked`, () => {
    const feature = asked.find((line) => line.features.length)?.features[0];
    const without = asked.filter((line) => !line.features.includes(feature)).length;
    assert.equal(walk(format, refuse, same, { without: [feature] }).asked, without);
  });
}

test("any other error is a crash", () => {
  const [format] = Object.keys(manifest.formats);
  const crash = () => null.x;
  assert.match(walk(format, crash, same).failures[0].problem, /^crashed: TypeError/);
});

test("bytes and schemas are read", () => {
  assert.deepEqual(bytes("AQI="), Buffer.from([1, 2]));
  assert.equal(bytes(null), null);
  assert.equal(schema("case-line").type, "object");
});
