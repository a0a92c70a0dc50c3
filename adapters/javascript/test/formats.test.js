// Hand-written messages and what they mean. `decode` and `encode` do what the testee does with one message.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as craft from "../craft.js";
import * as craftProposal from "../craft_proposal.js";
import * as openProtocol from "../open_protocol.js";
import { Rejection } from "../rejection.js";

const bytes = (hex) => Buffer.from(hex.replace(/\s/g, ""), "hex");
const plain = (value) => JSON.parse(JSON.stringify(value));

const decode = (format, message, request = {}) => plain(format.decodeMessage({ key: null, ...message }, request));
const encode = (format, events, request = {}) => format.encodeMessages({ tables: [TABLE], ...request, events });

const item = (text) => {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
  return Buffer.concat([length, Buffer.from(text)]);
};
const open = (keys, values) => ({
  key: Buffer.concat([bytes("0000000000000001"), ...keys.map(item)]),
  value: Buffer.concat(values.map(item)),
});
const opened = ({ key, value }) => [key.subarray(16).toString(), value.subarray(8).toString()]; // of one item
const ROW_KEY = '{"ts":1,"scm":"s","tbl":"t","t":1}';
const openColumn = (column) => open([ROW_KEY], [`{"u":{"c":${column}}}`]);

const TABLE = {
  schema: "s",
  table: "t",
  columns: [
    { name: "id", type: "int32", source: "int(11)", nullable: false, roles: ["primary", "handle"] },
    { name: "f", type: "float32", source: "float", nullable: true, roles: [] },
    { name: "a", type: "bytes", source: "varbinary(9)", nullable: true, roles: [] },
  ],
};
const row = (op, before, after) => ({
  kind: "row",
  op,
  schema: "s",
  table: "t",
  key: ["id"],
  position: { commit_ts: "1" },
  before,
  after,
});
const ONE = {
  id: { type: "int32", value: "1" },
  f: { type: "float32", value: "1.5" },
};
const TWO = { ...ONE, f: { type: "float32", value: null } };
const RESOLVED = { kind: "progress", what: "resolved", position: { commit_ts: "1" } };
const DDL = {
  kind: "ddl",
  what: "create",
  code: "3",
  schema: "s",
  table: "t",
  position: { commit_ts: "1" },
  query: "Q",
};

const MESSAGES = [
  ["craft", craft, RESOLVED, "01 0103010101 020a09 0100 05"],
  ["craft", craft, DDL, "01 0102010002 030151 0201017374 020a00 0106 05"],
  [
    "craft",
    craft,
    row("delete", ONE, null),
    "01 0101010002 02 02 0402 0304 0b41 0210 02 000000000000f83f 04 01010201 7374696466 020a0a 0126 0126 07",
  ],
  ["craft-proposal", craftProposal, RESOLVED, "00010001 010300010000 0106 0100 00 05"],
  [
    "craft-proposal",
    craftProposal,
    row("delete", ONE, null),
    "00010001 0101000101730174 03020201696466 0304 0b41 0208 02 0000c03f 0108 0112 0112 06",
  ],
];

for (const [name, format, event, hex] of MESSAGES) {
  const value = bytes(hex);
  const title = `${name} ${event.op ?? event.what}`;
  test(`${title}: decoded and encoded`, () => {
    assert.deepEqual(decode(format, { value }), [event]);
    assert.deepEqual(encode(format, [event]), [{ key: null, value }]);
  });
  test(`${title}: every truncation is rejected`, () => {
    for (let end = 0; end < value.length; end++) {
      assert.throws(() => decode(format, { value: value.subarray(0, end) }), Rejection, `${end} bytes`);
    }
  });
}

// From a producer: two events that share the term of schema and table; a column of no type.
const NULL_ROW = "01 a091d8e18ebba7c516 01 01 00 00 01 01 02 06 00 01 02 04 04 74657374 6e756c6c 021a03 010c 010c 07";

test("craft: a column without a type is NULL", () => {
  const [event] = decode(craft, { value: bytes(NULL_ROW) });
  assert.deepEqual([event.op, event.schema, event.table, event.key], ["insert", "test", "test", []]);
  assert.deepEqual(event.after, { null: { type: "unknown", value: null } });
});

const BROKEN_CRAFT = {
  "no size tables": "01",
  "size tables longer than the message": "01 7f",
  "a size table of 0 elements": "01 00 01",
  "no table of bodies": "01 020a 00 03",
  "version 2": "02 0103010101 020a09 0100 05",
  "a negative size": "01 0103010101 020a09 0101 05",
  "a body too long": "01 0103010101 020a09 0102 05",
  "2^31-1 elements": "01 02 0000 ffffffff07 08",
  "a value length of -2": NULL_ROW.replace("06 00 01", "06 00 03"),
  "a value length of 60": NULL_ROW.replace("06 00 01", "06 00 78"),
  "no columns": NULL_ROW.replace("01 01 02 06", "01 00 02 06"),
  "group type 3": NULL_ROW.replace("01 01 02 06", "03 01 02 06"),
  "event type 9": NULL_ROW.replace("c516 01", "c516 09"),
  "an unknown term": NULL_ROW.replace("01 01 02 06", "01 01 04 06"),
  "no schema": NULL_ROW.replace("01 01 00 00", "01 01 01 02"),
  "a trailing byte": `${NULL_ROW} 00`,
};

for (const [what, hex] of Object.entries(BROKEN_CRAFT)) {
  test(`craft: ${what} is rejected`, () => assert.throws(() => decode(craft, { value: bytes(hex) }), Rejection));
}

test("craft: numbers longer than needed are accepted", () => {
  assert.deepEqual(decode(craft, { value: bytes("8100 0103010101 020a09 0100 0085") }), [RESOLVED]);
});

test("craft: a batch ends when it is full, and at a resolved event", () => {
  const insert = row("insert", null, ONE);
  const sizes = (options, ...events) =>
    encode(craft, events, { options }).map((message) => decode(craft, message).length);
  assert.deepEqual(sizes({ "max-batch-size": 2 }, insert, insert, insert), [2, 1]);
  assert.deepEqual(sizes({}, insert, RESOLVED, insert), [1, 1, 1]);
  // The estimate of one row is 34 + (18 + 1) + (17 + 8); the message is closed once it is exceeded.
  assert.deepEqual(sizes({ "max-message-bytes": "77" }, insert, insert), [1, 1]);
  assert.deepEqual(sizes({ "max-message-bytes": "78" }, insert, insert, insert), [2, 1]);
  assert.deepEqual(sizes({ "max-message-bytes": "156" }, insert, insert), [2]);
});

test("craft-proposal: what a later version adds is skipped", (context) => {
  context.mock.method(console, "error", () => {});
  const value = bytes("00010001 010300010000ff ee 0107 0101 00 0107 07");
  assert.deepEqual(decode(craftProposal, { value }), [RESOLVED]);
});

test("open-protocol: an insert and an update, decoded and encoded", () => {
  const u = '{"a":{"t":15,"f":65,"v":"\\\\x89P"},"f":{"t":4,"f":65,"v":1.5},"id":{"t":3,"h":true,"f":11,"v":1}}';
  const p = '{"f":{"t":4,"f":65,"v":null}}';
  const message = open([ROW_KEY], [`{"u":${u},"p":${p}}`]);
  const after = { a: { type: "bytes", bytes: "iVA=" }, ...ONE };
  const before = { f: { type: "float32", value: null } };
  const options = { "only-output-updated-columns": "true" };
  assert.deepEqual(decode(openProtocol, message, { options }), [{ ...row("update", before, after), sent: "changed" }]);
  assert.deepEqual(encode(openProtocol, [row("update", { ...after, ...before }, after)], { options }), [message]);
});

test("open-protocol: DDL and resolved events, decoded and encoded", () => {
  const ddl = open(['{"ts":1,"scm":"s","tbl":"t","t":2}'], ['{"q":"Q","t":3}']);
  const resolved = open(['{"ts":1,"t":3}'], [""]);
  assert.deepEqual(decode(openProtocol, ddl), [DDL]);
  assert.deepEqual(decode(openProtocol, resolved), [RESOLVED]);
  assert.deepEqual(decode(openProtocol, { ...resolved, value: null }), [RESOLVED]);
  assert.deepEqual(encode(openProtocol, [DDL, RESOLVED]), [ddl, resolved]);
});

test("open-protocol: a row too large is cut to its handle key", () => {
  const insert = row("insert", null, { ...ONE, a: { type: "text", value: "x".repeat(200) } });
  const options = { "max-message-bytes": 200, "large-message-handle-option": "handle-key-only" };
  const [message] = encode(openProtocol, [insert], { options });
  const cut = [`${ROW_KEY.slice(0, -1)},"ohk":true}`, '{"u":{"id":{"t":3,"h":true,"f":11,"v":1}}}'];
  assert.deepEqual(opened(message), cut);
  assert.deepEqual(decode(openProtocol, message), [{ ...row("insert", null, { id: ONE.id }), sent: "key" }]);
  assert.throws(() => encode(openProtocol, [insert], { options: { "max-message-bytes": 200 } }), Rejection);
});

test("open-protocol: a claim check is read from its file", () => {
  const key = `${ROW_KEY.slice(0, -1)},"ohk":true,"ohk":false,"ccl":"file:///c.json"}`;
  const reduced = open([key], ['{"u":{"id":{"t":3,"f":11,"v":1}}}']);
  const whole = open([ROW_KEY], ['{"u":{"id":{"t":3,"f":11,"v":1},"f":{"t":4,"f":65,"v":1.5}}}']);
  const [keyText, valueText] = [whole.key, whole.value].map((part) => part.toString("base64"));
  const file = Buffer.from(JSON.stringify({ key: keyText, value: valueText })).toString("base64");
  const blobs = { "file:///c.json": file };
  const extra = { claim_check: "file:///c.json" };
  assert.deepEqual(decode(openProtocol, reduced), [{ ...row("insert", null, { id: ONE.id }), extra }]);
  assert.deepEqual(decode(openProtocol, reduced, { blobs }), [{ ...row("insert", null, ONE), extra }]);
  assert.throws(() => decode(openProtocol, reduced, { blobs: {} }), Rejection);
});

test("open-protocol: the newer producer's spelling", () => {
  const message = open(
    ['{"ts":1,"scm":"s","tbl":"t","t":1,"ptn":7}'],
    ['{"u":{"id":{"t":3,"h":true,"f":11,"v":1},"a":{"t":15,"f":65,"v":"<"}}}'],
  );
  const event = row("insert", null, { id: ONE.id, a: { type: "bytes", bytes: "PA==" } });
  event.position.partition = "7";
  assert.deepEqual(decode(openProtocol, message), [event]);
  assert.deepEqual(encode(openProtocol, [event], { options: { dialect: "ticdc" } }), [message]);
});

const OPEN_COLUMNS = [
  ['{"t":8,"f":128,"v":18446744073709551615}', { type: "int64 unsigned", value: "18446744073709551615" }],
  ['{"t":16,"f":193,"v":18446744073709551615}', { type: "bit", value: "18446744073709551615" }],
  ['{"t":13,"f":193,"v":2021}', { type: "year", value: "2021" }],
  ['{"t":248,"f":64,"v":5}', { type: "set", index: "5" }],
  ['{"t":252,"f":64,"v":"/w=="}', { type: "text", bytes: "/w==" }],
  ['{"t":252,"f":64,"v":""}', { type: "text", value: "" }],
  ['{"t":5,"f":65,"v":-0}', { type: "float64", value: "-0.0" }],
  ['{"t":225,"f":65,"v":"[1,-2.5]"}', { type: "vector", value: "[1,-2.5]" }],
  ['{"v":null,"t":3}', { type: "int32", value: null }],
];

for (const [column, meaning] of OPEN_COLUMNS) {
  test(`open-protocol: ${column}`, () => {
    assert.deepEqual(decode(openProtocol, openColumn(column))[0].after, { c: meaning });
  });
}

const BROKEN_COLUMNS = [
  '{"t":3,"f":0,"v":1.0}',
  '{"t":3,"f":0,"v":true}',
  '{"t":3,"f":0,"v":9223372036854775808}',
  '{"t":3,"f":0,"f":0,"v":1}',
  '{"t":4,"f":0,"v":"1"}',
  '{"t":4,"f":0,"v":3.5e38}',
  '{"t":5,"f":0,"v":NaN}',
  '{"t":247,"f":0,"v":"1"}',
  '{"t":252,"f":0,"v":"YR=="}',
  '{"t":252,"f":0,"v":"YQ"}',
  '{"t":15,"f":0,"v":"\\ud800"}',
  '{"t":15,"f":1,"v":"\\""}',
  '{"t":15,"f":1,"v":"\\\\x8"}',
  '{"t":6,"f":0,"v":1}',
  '{"t":3,"f":0,"v":1,"x":[[[[[[1]]]]]]}',
];

for (const column of BROKEN_COLUMNS) {
  test(`open-protocol: ${column} is rejected`, () => {
    assert.throws(() => decode(openProtocol, openColumn(column)), Rejection);
  });
}

test("open-protocol: rejections name the byte and the path", () => {
  assert.throws(
    () => decode(openProtocol, openColumn('{"t":3,"f":0,"v":"é"}')),
    (error) => error.offset === 35 && error.path.join() === "value,0,u,c",
  );
});

test("a column may be named __proto__", () => {
  const message = open([ROW_KEY], ['{"u":{"__proto__":{"t":3,"v":1}}}']);
  const [{ after }] = openProtocol.decodeMessage(message, {});
  assert.equal(JSON.stringify(after), '{"__proto__":{"type":"int32","value":"1"}}');
});
