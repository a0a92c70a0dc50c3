// DataHub's two formats: hand-written bodies and records, and what they mean.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { crc32c } from "../checksums.js";
import * as blob from "../datahub_blob.js";
import * as tuple from "../datahub_tuple.js";
import { Rejection } from "../rejection.js";

const plain = (value) => JSON.parse(JSON.stringify(value));
const decode = (format, value, request = {}) => plain(format.decodeMessage({ key: null, value: Buffer.from(value) }, request));

const RECORD = {
  schema: {
    dataColumn: [
      { name: "id", type: "LONG" },
      { name: "at", type: "DATE" },
    ],
    primaryKey: ["id"],
    source: { dbType: "MySQL", dbName: "d", tableName: "t" },
  },
  payload: { op: "UPDATE_AFTER", after: { dataColumn: { id: 1, at: null } }, sequenceId: "007", timestamp: { eventTime: 9 } },
  version: "0.0.1",
};
const record = (change = () => {}) => {
  const copy = plain(RECORD);
  change(copy);
  return JSON.stringify(copy);
};

test("datahub-blob: half of an update", () => {
  const [event] = decode(blob, record());
  assert.deepEqual([event.op, event.half, event.schema, event.table, event.key], ["update", "after", "d", "t", ["id"]]);
  assert.deepEqual(event.position, { sequence_id: "7", commit_ms: "9" });
  assert.deepEqual(event.after, { id: { type: "int64", value: "1" }, at: null });
});

test("datahub-blob: encoding=auto opens a compressed body without headers", () => {
  const body = { Action: "pub", Records: [{ Data: Buffer.from(record()).toString("base64") }] };
  const options = { encoding: "auto", "content-encoding": "deflate" };
  assert.deepEqual(decode(blob, deflateSync(JSON.stringify(body)), { options }), decode(blob, record()));
});

test("datahub-blob: a record breaks the format", () => {
  const changes = [
    (copy) => (copy.payload.op = "UPDATE_BEFORE"),
    (copy) => (copy.payload.after.dataColumn.x = 1),
    (copy) => (copy.payload.after.dataColumn.id = 1.5),
    (copy) => (copy.schema.primaryKey = ["x"]),
    (copy) => delete copy.payload.timestamp.eventTime,
  ];
  for (const change of changes) assert.throws(() => decode(blob, record(change)), Rejection);
});

const TOPIC = { schema: "s", table: "t", key: ["id"], columns: [{ name: "id", type: "int64", source: "BIGINT" }] };
const put = (...rows) => JSON.stringify({ Action: "pub", Records: rows.map((Data) => ({ Data })) });

test("datahub-tuple: a row in JSON", () => {
  const request = { tables: [TOPIC] };
  const [event] = decode(tuple, put(["5", "D", "1", "t", "Y", "N", "-9223372036854775808"]), request);
  assert.deepEqual([event.op, event.before.id.value, event.position.sequence_id], ["delete", "-9223372036854775808", "5"]);
  for (const row of [["5", "D", "1", "t", "N", "Y", "1"], ["5", "I", "1", "t", "N", "Y", "1.0"], ["5", "I", "1", "t", "N", "Y"]])
    assert.throws(() => decode(tuple, put(row), request), Rejection);
});

const field = (number, ...parts) => {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.of((number << 3) | 2, bytes.length), bytes]);
};

test("datahub-tuple: a row in protobuf, framed", () => {
  const values = ["5", "I", "1", "t", "N", "Y", null].map((text) => field(1, ...(text === null ? [] : [field(1, text)])));
  const body = field(1, field(9, ...values));
  const frame = Buffer.concat([Buffer.from("DHUB"), Buffer.alloc(8), body]);
  frame.writeUInt32BE(crc32c(body), 4);
  frame.writeUInt32BE(body.length, 8);
  assert.deepEqual(decode(tuple, frame, { tables: [TOPIC] })[0].after, { id: null });
  frame[frame.length - 1] ^= 1;
  assert.throws(() => decode(tuple, frame, { tables: [TOPIC] }), Rejection);
});
