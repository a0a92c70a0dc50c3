// TiCDC's Simple: hand-written messages in both encodings, and what they mean.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Rejection } from "../rejection.js";
import * as simple from "../simple.js";

const plain = (value) => JSON.parse(JSON.stringify(value));
const textOf = (message) => Buffer.from(typeof message === "string" ? message : JSON.stringify(message));

/** The events of `messages`, each a Buffer or what becomes JSON. */
function decode(messages, { blobs = {}, ...request } = {}) {
  const values = messages.map((each) => (Buffer.isBuffer(each) ? each : textOf(each)));
  const files = Object.entries(blobs).map(([name, file]) => [name, textOf(file).toString("base64")]);
  const whole = { ...request, blobs: Object.fromEntries(files), messages: values.map((value) => ({ value: value.toString("base64") })) };
  return plain(values.flatMap((value) => simple.decodeMessage({ value }, whole)));
}

const TEXT = { charset: "utf8mb4", collate: "utf8mb4_bin" };
const NUMBER = { charset: "binary", collate: "binary" };
const column = (name, dataType) => ({ name, dataType, nullable: true, default: null });
const index = (columns, more) => ({ name: columns.join(), unique: true, primary: false, nullable: false, columns, ...more });
const COLUMNS = [
  column("id", { ...NUMBER, mysqlType: "bigint", length: 20, unsigned: true }),
  column("e", { ...TEXT, mysqlType: "enum", elements: ["a", "b"] }),
  column("ts", { ...NUMBER, mysqlType: "timestamp", length: 19 }),
  column("b", { ...NUMBER, mysqlType: "bit", length: 3 }),
  column("v", { ...NUMBER, mysqlType: "blob" }),
];
const SCHEMA = { schema: "s", table: "t", tableID: 7, version: 9, columns: COLUMNS, indexes: [index(["id"], { primary: true })] };
const head = { version: 1, commitTs: 5, buildTs: 6 };
const bootstrap = (more = {}) => ({ ...head, commitTs: 0, type: "BOOTSTRAP", tableSchema: { ...SCHEMA, ...more } });
const row = (type, more) => ({ ...head, database: "s", table: "t", tableID: 7, type, schemaVersion: 9, ...more });
const insert = (data, more) => row("INSERT", { data, ...more });
const rejects = (messages, request) => assert.throws(() => decode(messages, request), Rejection);

test("simple: a row is read by the table schema of its version, before or after it", () => {
  const data = { id: "18446744073709551615", e: "2", ts: { location: "UTC", value: "2024-02-29 12:00:00" }, b: "7", v: "AP8=" };
  const [event] = decode([insert(data), bootstrap()]);
  assert.deepEqual([event.op, event.schema, event.table, event.key, event.before], ["insert", "s", "t", ["id"], null]);
  assert.deepEqual(event.position, { commit_ts: "5", sent_ms: "6" });
  assert.deepEqual(event.after, {
    id: { type: "int64 unsigned", value: "18446744073709551615" },
    e: { type: "enum", index: "2" },
    ts: { type: "timestamp", value: "2024-02-29 12:00:00", zone: "UTC" },
    b: { type: "bit", value: "7" },
    v: { type: "bytes", bytes: "AP8=" },
  });
  rejects([insert(data), bootstrap({ version: 10 })]);
  rejects([insert(data), bootstrap({ table: "u" })]);
});

test("simple: several table schemas of one version", () => {
  const more = { columns: [...COLUMNS, column("x", { ...NUMBER, mysqlType: "int" })] };
  assert.deepEqual(decode([bootstrap(), bootstrap(more), insert({ id: "1", x: "2" })])[0].after.x, { type: "int32", value: "2" });
  rejects([bootstrap(), bootstrap(more), insert({ id: "1" })]);
  rejects([bootstrap(), insert({ id: "1", x: "2" })]);
});

test("simple: the key is the primary key, else the first of the shortest unique indexes that are not nullable", () => {
  const keyOf = (...indexes) => decode([bootstrap({ indexes }), insert({ id: "1" })])[0].key;
  assert.deepEqual(keyOf(index(["e"]), index(["id", "b"], { primary: true })), ["id", "b"]);
  assert.deepEqual(keyOf(index(["id", "b"]), index(["v"], { nullable: true }), index(["e"]), index(["b"])), ["e"]);
  assert.deepEqual(keyOf(index(["e"], { unique: false })), []);
});

test("simple: a definition serves a version that the feed does not define", () => {
  const tables = [{ schema: "s", table: "t", key: ["e"], columns: [{ name: "e", type: "enum(a,b)", source: "enum" }] }];
  const [event] = decode([bootstrap({ version: 8 }), insert({ e: "2" })], { tables });
  assert.deepEqual([event.key, event.after], [["e"], { e: { type: "enum", index: "2" } }]);
  rejects([insert({ e: "3" })], { tables });
});

test("simple: schema changes and watermarks", () => {
  const statement = { ...head, type: "QUERY", sql: "DROP DATABASE s" };
  const [ddl, other, watermark] = decode([
    { ...head, type: "RENAME", sql: "RENAME …", tableSchema: SCHEMA, preTableSchema: { ...SCHEMA, table: "old" } },
    statement,
    { ...head, commitTs: "2^64-1", type: "WATERMARK" },
  ].map((message) => JSON.stringify(message).replace('"2^64-1"', "18446744073709551615")));
  assert.deepEqual([ddl.what, ddl.schema, ddl.table, ddl.query], ["rename", "s", "t", "RENAME …"]);
  assert.deepEqual([other.what, "schema" in other], ["query", false]);
  assert.deepEqual([watermark.what, watermark.position.commit_ts], ["watermark", "18446744073709551615"]);
  rejects([{ ...statement, sql: undefined }]);
});

test("simple: a row cut to its key, and its claim check", () => {
  const cut = insert({ id: "1" }, { handleKeyOnly: true, claimCheckLocation: "dir/file" });
  const whole = insert({ id: "1", b: "7" }, { buildTs: 8 });
  const file = (message) => ({ file: { key: null, value: textOf(message).toString("base64") } });
  const [missing] = decode([bootstrap(), cut]);
  assert.deepEqual([missing.sent, missing.extra.claim_check, Object.keys(missing.after)], ["key", "dir/file", ["id"]]);
  const [found] = decode([bootstrap(), cut], { blobs: file(whole) });
  assert.deepEqual([found.sent, found.after.b, found.position.sent_ms], [undefined, { type: "bit", value: "7" }, "6"]);
  assert.deepEqual(decode([bootstrap(), cut], { blobs: { file: whole }, options: { "claim-check-raw-value": true } }), [found]);
  for (const change of [{ commitTs: 4 }, { table: "u" }, { data: { id: "2" } }, { data: { id: "1", x: "2" } }])
    rejects([bootstrap(), cut], { blobs: file({ ...whole, ...change }) });
});

test("simple: a row without any column has neither member", () => {
  const [update] = decode([bootstrap(), row("UPDATE", { handleKeyOnly: true })]);
  assert.deepEqual([update.op, update.before, update.after], ["update", {}, {}]);
  rejects([bootstrap(), row("UPDATE", { data: { id: "1" } })]);
  rejects([bootstrap(), row("DELETE", { data: { id: "1" } })]);
  rejects([bootstrap(), insert({ id: "1" }, { old: { id: "1" } })]);
});

test("simple: bytes that break the format", () => {
  const values = [{ id: 1 }, { id: "-1" }, { e: "3" }, { b: "8" }, { v: "AP8" }, { ts: "2024-02-29 12:00:00" }, { id: true }];
  for (const value of values) rejects([bootstrap(), insert(value)]);
  for (const change of [{ version: 2 }, { type: "insert" }, { commitTs: 1.5 }, { schemaVersion: "9" }, { handleKeyOnly: 1 }])
    rejects([bootstrap(), insert({ id: "1" }, change)]);
  const sum = { version: 1, corrupted: false, current: 1, previous: 0 };
  assert.equal(decode([bootstrap(), insert({}, { checksum: sum })])[0].extra.checksum, "1");
  rejects([bootstrap(), insert({}, { checksum: { ...sum, current: 2 ** 32 } })]);
  for (const length of [-1, 0, 65]) rejects([bootstrap({ columns: [column("b", { ...NUMBER, mysqlType: "bit", length })], indexes: [] })]);
  rejects([bootstrap({ columns: [COLUMNS[0], COLUMNS[0]] })]);
  rejects([bootstrap({ indexes: [index(["x"])] })]);
  rejects([{ ...bootstrap(), commitTs: 1 }]);
});

// ---- Avro ------------------------------------------------------------------------------------------------------

function long(number) {
  const bytes = [];
  let rest = BigInt.asUintN(64, (BigInt(number) << 1n) ^ (BigInt(number) >> 63n));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
const join = (...parts) => Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part, "hex"))));
const string = (text) => join(long(Buffer.byteLength(text)), Buffer.from(text));
const AVRO = { options: { "encoding-format": "avro" } };

/** An insert of one block of `cells`, each a name and a branch with its value. */
const avroInsert = (...cells) => {
  const entries = cells.map(([name, ...value]) => join(string(name), ...value));
  const image = join("02", long(cells.length), ...entries, "00");
  return join("160606", "02", string("s"), string("t"), long(7), "00", long(5), long(6), long(9), "000000", image, "00");
};
const TABLES = [
  {
    schema: "s",
    table: "t",
    key: ["u"],
    columns: [
      { name: "u", type: "int64 unsigned", source: "bigint unsigned" },
      { name: "f", type: "float32", source: "float" },
      { name: "b", type: "bit", source: "bit(64)" },
      { name: "c", type: "text", source: "varchar(9)" },
      { name: "ts", type: "timestamp", source: "timestamp" },
    ],
  },
];
const decodeAvro = (...messages) => decode(messages, { ...AVRO, tables: TABLES });

test("simple: a watermark in Avro", () => {
  assert.deepEqual(decode([join("16000002", long(5), long(6))], AVRO), [
    { kind: "progress", what: "watermark", position: { commit_ts: "5", sent_ms: "6" } },
  ]);
  for (const broken of [join("16020002", long(5), long(6)), join("0a02", long(5), long(6)), join("16000002", long(5))])
    rejects([broken], AVRO);
});

test("simple: a row in Avro", () => {
  const [event] = decodeAvro(
    avroInsert(
      ["u", "0e", long(-1)],
      ["f", "040000c03f"],
      ["b", "02", long(-1)],
      ["c", "0802ff"],
      ["ts", "0c", string("UTC"), string("2024-02-29 12:00:00")],
    ),
  );
  assert.deepEqual([event.op, event.key, event.position], ["insert", ["u"], { commit_ts: "5", sent_ms: "6" }]);
  assert.deepEqual(event.after, {
    u: { type: "int64 unsigned", value: "18446744073709551615" },
    f: { type: "float32", value: "1.5" },
    b: { type: "bit", value: "18446744073709551615" },
    c: { type: "text", bytes: "/w==" },
    ts: { type: "timestamp", value: "2024-02-29 12:00:00", zone: "UTC" },
  });
  assert.deepEqual(decodeAvro(avroInsert(["b", "08", string("7")], ["c", "00"]))[0].after, { b: { type: "bit", value: "7" }, c: null });
});

test("simple: an Avro branch that the column does not have", () => {
  // prettier-ignore
  const cells = [["u", "02", long(1)], ["f", "060000000000000000"], ["c", "0a0141"], ["b", "08", string("x")]];
  for (const cell of cells) rejects([avroInsert(cell)], { ...AVRO, tables: TABLES });
  rejects([avroInsert(["c", "00"], ["c", "00"])], { ...AVRO, tables: TABLES });
});
