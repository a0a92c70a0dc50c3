// TiCDC Avro: hand-written schemas and messages, and what they mean.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as avro from "../avro.js";
import { Rejection } from "../rejection.js";

const plain = (value) => JSON.parse(JSON.stringify(value));
const bytes = (hex) => (hex === null ? null : Buffer.from(hex.replace(/\s/g, ""), "hex"));

const column = (name, type, tidbType, more = {}) => ({
  name,
  type: { type, "connect.parameters": { tidb_type: tidbType, ...more.parameters }, ...more.type },
});
const ID = column("id", "int", "INT");
const DECIMAL = column("d", "bytes", "DECIMAL", { type: { logicalType: "decimal", precision: 6, scale: 2 } });
const record = (...fields) => JSON.stringify({ type: "record", name: "t", namespace: "default.s", fields });
const schemas = {
  1: record(ID),
  2: record(
    ID,
    { ...DECIMAL, type: ["null", DECIMAL.type] },
    column("u", "long", "BIGINT UNSIGNED"),
    column("e", "string", "ENUM", { parameters: { allowed: "a\\,b,c" } }),
    { name: "_tidb_op", type: "string" },
    { name: "_tidb_commit_ts", type: "long" },
  ),
};
const decode = (key, value, options) => plain(avro.decodeMessage({ key: bytes(key), value: bytes(value) }, { schemas, options }));

const KEY = "00 00000001 02";
const VALUE = "00 00000002 02 02 02 80 01 06 61 2c 62 02 75 14";

test("avro: an update", () => {
  const [event] = decode(KEY, VALUE);
  assert.deepEqual([event.op, event.schema, event.table, event.key, event.position], ["update", "s", "t", ["id"], { commit_ts: "10" }]);
  assert.deepEqual(event.after, {
    id: { type: "int32", value: "1" },
    d: { type: "decimal", value: "-1.28" },
    u: { type: "int64 unsigned", value: "18446744073709551615" },
    e: { type: "enum", label: "a,b", index: "1" },
  });
});

test("avro: a delete is a tombstone", () => {
  const [event] = decode(KEY, null);
  assert.deepEqual([event.op, event.before, event.sent], ["delete", { id: { type: "int32", value: "1" } }, "key"]);
});

test("avro: a checkpoint and a DDL", () => {
  assert.deepEqual(decode(null, "02 0000000000000007")[0].position, { commit_ts: "7" });
  const ddl = Buffer.from('{"query":"Q","type":3,"schema":"s","table":"t","commitTs":7}').toString("hex");
  assert.deepEqual([decode(null, `01${ddl}`)[0].what, decode(null, `01${ddl}`)[0].query], ["create", "Q"]);
});

test("avro: a message breaks the format", () => {
  const broken = {
    "nothing at all": [null, null],
    "another magic": [KEY, VALUE.replace(/^00/, "01")],
    "an unknown schema": [KEY, VALUE.replace("00000002", "00000003")],
    "an unknown branch": [KEY, VALUE.replace("02 02 02 80", "02 04 02 80")],
    "a negative length": [KEY, VALUE.replace("02 02 02 80", "02 02 01 80")],
    "a trailing byte": [KEY, `${VALUE} 00`],
    "another operation": [KEY, VALUE.replace("02 75", "02 78")],
    "a number of more than 32 bits": ["00 00000001 ffffffff1f", VALUE],
  };
  for (const [what, parts] of Object.entries(broken)) assert.throws(() => decode(...parts), Rejection, what);
  for (let end = 0; end < bytes(VALUE).length; end++)
    assert.throws(() => decode(KEY, bytes(VALUE).toString("hex").slice(0, 2 * end)), Rejection, `${end} bytes`);
});
