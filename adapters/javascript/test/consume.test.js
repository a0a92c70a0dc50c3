// The consumer's command line. What it reads is judged where a broker is: tests/scenarios/services.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const skip = existsSync(here("../node_modules/kafkajs")) ? false : "kafkajs is not installed: npm ci";

function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [here("../consume.js"), ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

test("--help needs no broker and no package", () => {
  const { status, stdout, stderr } = run("--help");
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^Usage: .*HOST:PORT TOPIC FORMAT\n/);
});

const WRONG = [
  [[], /are needed/],
  [["localhost:9092", "topic"], /are needed/],
  [["localhost:9092", "topic", "craft", "more"], /are needed/],
  [["--color", "localhost:9092", "topic", "craft"], /'--color'/],
  [["localhost", "topic", "craft"], /HOST:PORT, not "localhost"/],
  [["localhost:9092,:1", "topic", "craft"], /HOST:PORT, not ":1"/],
  [["localhost:70000", "topic", "craft"], /HOST:PORT, not "localhost:70000"/],
  [["localhost:9092", "topic", "toString"], /no format "toString": craft, /],
  [["--seconds", "0", "localhost:9092", "topic", "craft"], /--seconds takes 1 to 86400, not 0/],
  [["--seconds", "soon", "localhost:9092", "topic", "craft"], /not soon/],
];

for (const [args, problem] of WRONG) {
  test(`one line and exit code 2: ${args.join(" ") || "no argument"}`, () => {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, /^consume\.js: [^\n]+\n$/);
    assert.match(stderr, problem);
  });
}

test("no broker: one line and exit code 2", { skip }, () => {
  const { status, stdout, stderr } = run("127.0.0.1:1", "topic", "craft");
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(stderr, /^consume\.js: [^\n]*ECONNREFUSED 127\.0\.0\.1:1\n$/);
});
