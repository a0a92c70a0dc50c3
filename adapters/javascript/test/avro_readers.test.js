// avsc as a testee: what it makes of messages of TiCDC, as it comes and with BigInt.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const skip = existsSync(here("../node_modules/avsc")) ? false : "avsc is not installed: npm ci";

const COMMIT_TS = 433305438660591626n;
const column = (name, type, tidbType, more = {}) => ({
  name,
  type: { type, "connect.parameters": { tidb_type: tidbType }, ...more },
});
const orNull = ({ name, type }, isFirst) => ({ name, type: isFirst ? ["null", type] : [type, "null"] });
const schema = (...fields) => JSON.stringify({ type: "record", name: "t", namespace: "default.s", fields });

function number(value) {
  let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  const groups = [];
  for (; rest > 127n; rest >>= 7n) groups.push(Number(rest & 127n) | 128);
  return Buffer.from([...groups, Number(rest)]);
}
const sized = (bytes) => Buffer.concat([number(bytes.length), Buffer.from(bytes, "latin1")]);

function float(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

const DECIMAL = { logicalType: "decimal", precision: 65, scale: 3 };
const COLUMNS = [
  [column("id", "int", "INT"), number(-1), "-1"],
  [orNull(column("a", "int", "INT"), true), number(0), null],
  [orNull(column("b", "int", "INT"), false), number(1), null],
  [column("d", "string", "TEXT"), sized("q\r"), "q\r"],
  [orNull(column("e", "bytes", "BLOB"), true), Buffer.concat([number(1), sized("\0\xff")]), { bytes: "AP8=" }],
  [column("f", "bytes", "BIT"), sized("\x02\0"), "512"],
  [column("h", "float", "FLOAT"), float(-0), "-0.0"],
  [column("j", "bytes", "DECIMAL", DECIMAL), sized("\xff"), "-0.001"],
  [column("k", "bytes", "DECIMAL", DECIMAL), sized("\x0f\x42\x40"), "1000.000"],
];
const LONGS = [
  [column("l", "long", "BIGINT UNSIGNED"), number(-1), "18446744073709551615"],
  [column("m", "long", "BIGINT"), number(2n ** 53n + 1n), "9007199254740993"],
];
const EXTENSION = [
  { name: "_tidb_op", type: "string", default: "" },
  { name: "_tidb_commit_ts", type: "long", default: 0 },
];
const TOLD = Buffer.concat([sized("u"), number(COMMIT_TS)]);
const fieldsOf = (columns) => columns.map(([field]) => field);
const dataOf = (columns) => Buffer.concat(columns.map(([, data]) => data));
const rowOf = (columns) => Object.fromEntries(columns.map(([{ name }, , told]) => [name, told]));

const SCHEMAS = {
  1: schema(COLUMNS[0][0]),
  2: schema(...fieldsOf(COLUMNS)),
  3: schema(...fieldsOf(LONGS), ...EXTENSION),
  4: schema(column("d", "string", "TEXT")),
};
const KEY = dataOf(COLUMNS.slice(0, 1));

function confluent(id, data) {
  const head = Buffer.alloc(5);
  head.writeInt32BE(id, 1);
  return Buffer.concat([head, data]);
}

function ask(key, value, { mode, ...request } = { mode: "--bigint" }) {
  const messages = [{ key: key && key.toString("base64"), value: value && value.toString("base64") }];
  const decode = { cmd: "decode", seq: 1, format: "avro", schemas: SCHEMAS, messages, ...request };
  const lines = [{ cmd: "start", protocol: 1 }, decode, { cmd: "stop" }].map((each) => `${JSON.stringify(each)}\n`);
  const words = [here("../avsc.js"), ...(mode ? [mode] : [])];
  const { status, stdout } = spawnSync(process.execPath, words, { input: lines.join("") });
  assert.equal(status, 0);
  const [started, answer] = stdout.toString().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  assert.equal(started.formats.avro.encode, false);
  return answer;
}

test("avsc reads values of all kinds, but longs", { skip }, () => {
  for (const mode of ["", "--bigint"]) {
    const [event] = ask(confluent(1, KEY), confluent(2, dataOf(COLUMNS)), { mode }).events;
    assert.deepEqual(event, {
      ...{ kind: "row", op: "upsert", schema: "s", table: "t", key: ["id"], before: null },
      ...{ after: rowOf(COLUMNS), position: {}, extra: {} },
    });
  }
});

test("avsc refuses a long beyond 2^53, and reads it with a type of BigInt", { skip }, () => {
  const value = confluent(3, Buffer.concat([dataOf(LONGS), TOLD]));
  assert.match(ask(null, value, { mode: "" }).rejected.problem, /precision loss/);
  const [event] = ask(null, value).events;
  assert.deepEqual(event.after, rowOf(LONGS));
  assert.deepEqual([event.op, event.position], ["update", { commit_ts: String(COMMIT_TS) }]);
});

test("a null value is a delete of the key", { skip }, () => {
  const [event] = ask(confluent(1, KEY), null).events;
  assert.deepEqual([event.op, event.before, event.after], ["delete", { id: "-1" }, null]);
});

test("the envelope of Glue names its schema by UUID", { skip }, () => {
  const id = "01234567-89ab-cdef-0123-456789abcdef";
  const key = Buffer.concat([Buffer.from([3, 0]), Buffer.from(id.replaceAll("-", ""), "hex"), KEY]);
  const request = { options: { registry: "glue" }, schemas: { [id]: SCHEMAS[1] } };
  assert.deepEqual(ask(key, null, { mode: "--bigint", ...request }).events[0].before, { id: "-1" });
});

test("avsc replaces what is not UTF-8", { skip }, () => {
  const [event] = ask(null, confluent(4, sized("\xff"))).events;
  assert.equal(event.after.d, "\ufffd");
});

const ROW = dataOf(COLUMNS);
for (const [fault, value] of Object.entries({
  "a row cut short": confluent(2, ROW.subarray(0, -1)),
  "a byte after the record": confluent(2, Buffer.concat([ROW, Buffer.alloc(1)])),
  "a length below zero": confluent(4, number(-5)),
  "a schema that is not known": confluent(9, ROW),
  "an envelope of another kind": Buffer.concat([Buffer.from([1, 0, 0, 0, 1]), KEY]),
  "no bytes": Buffer.alloc(0),
}))
  test(`avsc refuses ${fault}`, { skip }, () => assert.ok(ask(null, value).rejected));
