// The program itself, in both modes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const TESTEE = fileURLToPath(new URL("../testee.js", import.meta.url));
const resolved = [{ kind: "progress", what: "resolved", position: { commit_ts: "1" } }];
const base64 = (hex) => Buffer.from(hex, "hex").toString("base64");
const GOOD = [{ key: null, value: base64("010103010101020a09010005") }];
const BAD = [...GOOD, { key: null, value: base64("01") }];

function run(args, input) {
  const { status, stdout } = spawnSync(process.execPath, [TESTEE, ...args], { input });
  const answers = stdout.toString().split("\n").filter(Boolean);
  return { status, answers: answers.map((line) => JSON.parse(line)) };
}

test("kept alive", () => {
  const requests = [
    { cmd: "start", protocol: 1 },
    { cmd: "decode", seq: 1, format: "craft", messages: GOOD, note: "\u2028" },
    { cmd: "decode", seq: 2, format: "craft", messages: BAD },
    { cmd: "encode", seq: 3, format: "craft", events: resolved },
    { cmd: "stop" },
  ];
  const { status, answers } = run([], requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
  const [start, decoded, rejected, encoded] = answers;
  assert.equal(status, 0);
  assert.deepEqual([start.protocol, start.formats.craft], [1, { encode: true, without: [] }]);
  assert.deepEqual(decoded, { seq: 1, events: resolved });
  assert.deepEqual([rejected.seq, rejected.rejected.message], [2, 1]);
  assert.deepEqual(encoded, { seq: 3, messages: GOOD });
});

test("one-shot: 0 accepted, 1 rejected, anything else a crash", () => {
  const accepted = run(["decode", "craft"], JSON.stringify({ messages: GOOD }));
  assert.deepEqual(accepted, { status: 0, answers: [{ events: resolved }] });
  assert.equal(run(["decode", "craft"], JSON.stringify({ messages: BAD })).status, 1);
  assert.equal(run(["encode", "craft"], JSON.stringify({ events: resolved })).status, 0);
  assert.equal(run(["decode", "no-such-format"], JSON.stringify({ messages: GOOD })).status, 70);
});
