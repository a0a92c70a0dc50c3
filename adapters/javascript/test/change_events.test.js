// CDL JSON, Debezium JSON and Maxwell JSON: hand-written messages, and what they mean.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as cdl from "../cdl_json.js";
import * as debezium from "../debezium_json.js";
import * as maxwell from "../maxwell_json.js";
import { Rejection } from "../rejection.js";

const plain = (value) => JSON.parse(JSON.stringify(value));
const bytes = (value) => (value === null ? null : Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
const decode = (format, value, request = {}, key = null) =>
  plain(format.decodeMessage({ key: bytes(key), value: bytes(value) }, request));

const field = (name, type, more = {}) => ({ type, optional: true, field: name, ...more });
const struct = (fields, more = {}) => ({ type: "struct", fields, optional: true, ...more });
const ROW = [
  field("id", "int32", { optional: false }),
  field("d", "bytes", { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } }),
  field("t", "int64", { name: "io.debezium.time.MicroTimestamp" }),
  field("b", "bytes", { name: "io.debezium.data.Bits", parameters: { length: "10" } }),
];
const SOURCE = ["version", "connector", "name", "db", "schema", "table"].map((name) => field(name, "string"));
const envelope = (payload) => ({
  schema: struct([
    struct(ROW, { field: "before" }),
    struct(ROW, { field: "after" }),
    struct([...SOURCE, field("ts_ms", "int64"), field("lsn", "int64")], { field: "source" }),
    field("op", "string"),
    field("ts_ms", "int64"),
  ]),
  payload,
});
const source = { version: "1.4.0.Final", connector: "postgresql", name: "srv", db: "d", schema: "s", table: "t", ts_ms: 1, lsn: 2 };
const key = { schema: struct([field("id", "int32", { optional: false })]), payload: { id: 1 } };
const row = (more) => ({ id: 1, d: "gA==", t: 5, b: "AQI=", ...more });

test("debezium-json: an insert with logical types", () => {
  const [event] = decode(debezium, envelope({ before: null, after: row(), source, op: "c", ts_ms: 3 }), {}, key);
  assert.deepEqual([event.op, event.database, event.schema, event.key], ["insert", "d", "s", ["id"]]);
  assert.deepEqual(event.position, { lsn: "2", commit_ms: "1", sent_ms: "3" });
  assert.deepEqual(event.after, {
    id: { type: "int32", value: "1" },
    d: { type: "decimal", value: "-1.28" },
    t: { type: "datetime", value: "5", unit: "us" },
    b: { type: "bit", value: "513" },
  });
});

test("debezium-json: a delete has its key only, unless the replica identity is full", () => {
  const message = envelope({ before: row({ d: null }), after: null, source, op: "d", ts_ms: 3 });
  assert.deepEqual(decode(debezium, message, {}, key)[0].before, { id: { type: "int32", value: "1" } });
  const options = { "replica-identity": "full" };
  assert.equal(Object.keys(decode(debezium, message, { options }, key)[0].before).length, 4);
});

test("debezium-json: a message breaks the format", () => {
  const broken = [{ id: null }, { id: 2147483648 }, { id: 1.5 }, { d: "" }, { d: "gA" }, { b: 1 }];
  for (const change of broken)
    assert.throws(() => decode(debezium, envelope({ after: row(change), source, op: "c", ts_ms: 3 })), Rejection);
  assert.throws(() => decode(debezium, envelope({ after: row(), source, op: "x", ts_ms: 3 })), Rejection);
  assert.throws(() => decode(debezium, { schema: key.schema }), Rejection);
});

const change = (type, id, ddl) => ({ source: { ...source, table: null }, ts_ms: 3, ddl, tableChanges: [{ type, id, table: null }] });

test("debezium-json: a ZonedTimestamp in any year of PostgreSQL", () => {
  const zoned = struct([field("z", "string", { name: "io.debezium.time.ZonedTimestamp" })], { field: "after" });
  const { schema, payload } = envelope({ before: null, source, op: "c", ts_ms: 3 });
  const fields = schema.fields.map((each) => (each.field === "after" ? zoned : each));
  const read = (z) => decode(debezium, { schema: { ...schema, fields }, payload: { ...payload, after: { z } } })[0].after.z.value;
  assert.equal(read("+294276-12-31T23:59:59.999999Z"), "+294276-12-31 23:59:59.999999");
  assert.equal(read("9999-12-31T23:00:00-02:00"), "+10000-01-01 01:00:00");
  assert.equal(read("-4712-01-01T00:30:00+01:00"), "-4713-12-31 23:30:00");
  assert.equal(read("0001-02-03T04:05:06Z"), "0001-02-03 04:05:06");
  assert.throws(() => read("1900-02-29T00:00:00Z"), Rejection);
});

test("debezium-json: a schema change per table", () => {
  const kindOf = (type, ddl) => decode(debezium, change(type, '"d"."s"."t"', ddl))[0].what;
  const [event] = decode(debezium, change("ALTER", '"d"."s"."old","d"."s"."a""b"', "ALTER TABLE old RENAME TO x;"));
  assert.deepEqual([event.what, event.database, event.schema, event.table], ["rename", "d", "s", 'a"b']);
  assert.deepEqual([event.position.lsn, event.query], ["2", "ALTER TABLE old RENAME TO x;"]);
  assert.deepEqual([kindOf("ALTER", "CREATE UNIQUE INDEX i ON t (a)"), kindOf("DROP", "drop index i"), kindOf("DROP", null)], ["cindex", "dindex", "erase"]);
  const [whole] = decode(debezium, { ...change("ALTER", "", "DROP DATABASE d"), tableChanges: [] });
  assert.deepEqual([whole.what, whole.database, whole.schema, whole.table], ["erase", "d", "s", null]);
  for (const tableChanges of [null, [1], [{ type: "X", id: '"t"' }], [{ type: "ALTER", id: "t" }]])
    assert.throws(() => decode(debezium, { ...change("ALTER", "", null), tableChanges }), Rejection);
});

test("debezium-json: members of the source, by connector", () => {
  const positionOf = (members) => decode(debezium, { op: "t", source: { ...source, ...members }, before: null, after: null })[0].position;
  const { file, pos } = positionOf({ connector: "mysql", file: "f", pos: 4 });
  assert.deepEqual([file, pos], ["f", "4"]);
  assert.equal(positionOf({ connector: "informix", txId: "5" }).tx_id, "5");
  for (const members of [{ connector: "mysql", file: 4 }, { connector: "mysql", pos: "4" }, { connector: "informix", txId: 5 }])
    assert.throws(() => positionOf(members), Rejection);
});

test("debezium-json: other messages", () => {
  const note = { id: "1", type: "STARTED", aggregate_type: "Initial Snapshot", additional_data: {}, timestamp: 4 };
  assert.deepEqual(decode(debezium, note), []);

  assert.equal(decode(debezium, { ts_ms: 7 })[0].what, "heartbeat");
  assert.equal(decode(debezium, { status: "BEGIN", id: "1" })[0].what, "begin");
  assert.deepEqual(decode(debezium, null, {}, key)[0].extra, { message_key: { bytes: bytes(key).toString("base64") } });
});

const CDL = {
  ...{ DATA_STORE: "POSTGRESQL", SEG_OWNER: "s", TABLE_NAME: "t", TIMESTAMP: 1, OPERATION: "UPDATE", LOB_COLUMNS: null },
  transaction: { properties: [{ name: "txId", value: 3 }, { name: "lsn", value: 2 }] },
  ...{ unique: { id: 1 }, data: { id: 1, x: "y" }, before: null, message_version: "1.0", message_type: "0" },
};

test("cdl-json: an update without schema", () => {
  const [event] = decode(cdl, CDL);
  assert.deepEqual(event.position, { lsn: "2", tx_id: "3", commit_ms: "1" });
  assert.deepEqual([event.op, event.key, event.before], ["update", ["id"], null]);
  for (const change of [{ OPERATION: "DELETE" }, { message_version: "2.0" }, { TIMESTAMP: "1" }, { transaction: null }])
    assert.throws(() => decode(cdl, { ...CDL, ...change }), Rejection);
});

const MAXWELL = '{"database":"s","table":"t","type":"update","ts":2,"xid":9,"commit":true,"data":{"a":18446744073709551615,"f":1.50},"old":{"f":null}}';

test("maxwell-json: an update, with and without a definition", () => {
  const [event] = decode(maxwell, MAXWELL);
  assert.deepEqual([event.sent, event.position, event.extra], ["changed", { commit_ms: "2000", tx_id: "9" }, { commit: "true" }]);
  assert.deepEqual(event.after, { a: { type: "int64 unsigned", value: "18446744073709551615" }, f: { type: "decimal", value: "1.50" } });
  const tables = [{ schema: "s", table: "t", key: ["a"], columns: [{ name: "a", type: "int64 unsigned" }, { name: "f", type: "float32" }] }];
  const [typed] = decode(maxwell, MAXWELL, { tables });
  assert.deepEqual([typed.key, typed.after.f], [["a"], { type: "float32", value: "1.5" }]);
  assert.throws(() => decode(maxwell, MAXWELL.replace("615", "616"), { tables }), Rejection);
  assert.throws(() => decode(maxwell, MAXWELL.replace("update", "upsert")), Rejection);
});
