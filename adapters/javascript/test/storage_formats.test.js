// Canal-JSON and CSV: hand-written messages and files, and what they mean.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as canalJson from "../canal_json.js";
import * as csv from "../csv.js";
import { openLz4Block, openLz4Frame, openSnappyBlock } from "../compression.js";
import { Rejection } from "../rejection.js";

const plain = (value) => JSON.parse(JSON.stringify(value));
const decode = (format, message, request = {}) => plain(format.decodeMessage({ key: null, ...message }, request));
const rejects = (...args) => assert.throws(() => decode(...args), Rejection);

const UPDATE = {
  ...{ id: 5, database: "s", table: "t", pkNames: ["id"], isDdl: false, type: "UPDATE", es: 1, ts: 2, sql: "" },
  mysqlType: { id: "bigint(20) unsigned", e: "enum('a','b')", b: "blob" },
  data: [{ id: "18446744073709551615", e: "2", b: "\u00ff" }],
  old: [{ e: null }],
};
const message = (object) => ({ value: Buffer.from(JSON.stringify(object)) });

test("canal-json: an update of the official Canal", () => {
  const [event] = decode(canalJson, message(UPDATE));
  assert.deepEqual([event.op, event.key, event.sent, event.extra], ["update", ["id"], "changed", { message_id: "5" }]);
  assert.deepEqual(event.position, { commit_ms: "1", sent_ms: "2" });
  assert.deepEqual(event.before, { e: null });
  assert.deepEqual(event.after, {
    id: { type: "int64 unsigned", value: "18446744073709551615" },
    e: { type: "enum", index: "2" },
    b: { type: "bytes", bytes: "/w==" },
  });
});

test("canal-json: a row breaks the format", () => {
  for (const change of [{ data: null }, { old: [] }, { type: "UPSERT" }, { es: null }, { mysqlType: { id: "strange" } }])
    rejects(canalJson, message({ ...UPDATE, ...change }));
});

test("canal-json: the rows of a file", () => {
  const row = JSON.stringify({ ...UPDATE, type: "INSERT", old: null });
  const file = (text) => ({ path: "s/t/5/7/CDC000001.json", value: Buffer.from(text) });
  const options = { "date-separator": "none" };
  const events = decode(canalJson, file(`${row}\r\n${row}\r\n`), { options });
  assert.deepEqual(events.map(({ op, position }) => [op, position.partition]), [["insert", "7"], ["insert", "7"]]);
  rejects(canalJson, file(`${row}\r\n${row}`), { options });
  rejects(canalJson, { ...file(`${row}\r\n`), path: "s/other/5/CDC000001.json" }, { options });
});

const SCHEMA_FILE = `{
    "Table": "",
    "Schema": "schema1",
    "Version": 1,
    "TableVersion": 7,
    "Query": "CREATE DATABASE schema1",
    "Type": 1,
    "TableColumns": null,
    "TableColumnsTotal": 0
}`;

test("a schema file has the hash of its name", () => {
  const file = (hash) => ({ path: `schema1/meta/schema_7_${hash}.json`, value: Buffer.from(SCHEMA_FILE) });
  const [event] = decode(csv, file("3233644819"));
  assert.deepEqual([event.what, event.schema, event.position], ["query", "schema1", { commit_ts: "7" }]);
  rejects(csv, file("3804115459"));
});

const TABLE = {
  ...{ schema: "s", table: "t", version: "5" },
  columns: [
    { name: "id", source: "int", type: "int32", nullable: false, roles: ["primary"] },
    { name: "v", source: "varchar(9)", type: "text(9)", nullable: true, roles: [] },
  ],
};
const csvFile = (text, options = {}) => [
  csv,
  { path: "s/t/5/CDC000001.csv", value: Buffer.from(text) },
  { tables: [TABLE], options: { "date-separator": "none", ...options } },
];

test("csv: quotes, line ends and NULL", () => {
  const events = decode(...csvFile('"I","t","s",1,"a""\r\n"\r\n"D","t","s",2,\\N\r\n"U","t","s",3,"\\N"\r\n'));
  const texts = events.map(({ before, after }) => (before ?? after).v?.value ?? null);
  assert.deepEqual(texts, ['a"\r\n', null, "\\N"]);
  assert.deepEqual(events.map(({ op }) => op), ["insert", "delete", "update"]);
});

test("csv: fields without quotes", () => {
  const options = { quote: "", delimiter: "|+|" };
  const [event] = decode(...csvFile("I|+|t|+|s|+|1|+|x\\|\\+\\|\\n\\\\\r\n", options));
  assert.equal(event.after.v.value, "x|+|\n\\");
});

test("csv: a file breaks the format", () => {
  for (const text of ['"I","t","s",1,"a"', '"I","t","s",1\r\n', '"I","t","s","1","a"\r\n', '"I","t","s",1,a\r\n', '"X","t","s",1,"a"\r\n'])
    rejects(...csvFile(text));
  rejects(...csvFile("", { delimiter: "1" }));
});

test("LZ4 and Snappy are opened", () => {
  const stored = Buffer.from("04224d184040c0040000806162636400000000", "hex");
  assert.equal(openLz4Frame(stored).toString(), "abcd");
  assert.equal(openLz4Block(Buffer.from("22616202001063", "hex")).toString(), "ababababc");
  assert.equal(openSnappyBlock(Buffer.from("080461620902", "hex")).toString(), "abababab");
  for (const end of [4, 8, 12]) assert.throws(() => openLz4Frame(stored.subarray(0, end)), Rejection);
  assert.throws(() => openSnappyBlock(Buffer.from("0804616209", "hex")), Rejection);
});
