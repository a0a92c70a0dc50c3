// TiCDC Open Protocol: a Kafka key and value with the same number of items, each a length and a JSON text.

import { Rejection, inside } from "./rejection.js";
import { openMessage } from "./compression.js";
import { findBlob, isOn, operation, option, toEvent } from "./events.js";
import { FLAG, checkVector, groupOf, isUnsigned, parseInteger } from "./mysql_values.js";
import { parseDouble, parseFloat32 } from "./numbers.js";
import { unquote } from "./go_strings.js";
import { base64, boolean, checkName, integer, membersOf, nameText, numberText, required, string } from "./json_members.js";
import { readJson } from "./strict_json.js";

export { encodeMessages } from "./open_protocol_encoder.js";

const VERSION = 1n;
const ROW = 1n;
const DDL = 2n;
const RESOLVED = 3n;
const LENGTH_SIZE = 8; // of the version too

export const without = [];

export function decodeMessage({ key, value }, { options, blobs }) {
  const compression = option(options, "large-message-handle-compression", "none");
  return readPairs(key, value, compression).map(({ header, images }) => {
    const { type, onlyHandleKey, claimCheck, ...change } = header;
    if (type === RESOLVED) return toEvent({ kind: "resolved", ...change }, options);
    if (type === DDL) return toEvent({ kind: "ddl", ...images, ...change }, options);

    const stored = claimCheck !== null && blobs !== undefined;
    const { before, after } = stored ? inside(["claim check"], () => readStored(claimCheck, blobs, compression)) : images;
    const op = operation(before, after);
    const marks = { extra: claimCheck === null ? {} : { claim_check: claimCheck } };
    if (onlyHandleKey && !stored) marks.sent = "key";
    else if (op === "update" && isOn(options, "only-output-updated-columns")) marks.sent = "changed";
    else if (op === "delete" && isOn(options, "delete-only-output-handle-key-columns")) marks.sent = "key";
    return toEvent({ kind: "row", op, ...change, before, after }, options, marks);
  });
}

// ---- framing ---------------------------------------------------------------------------------------------------

function readPairs(key, value, compression) {
  if (key === null || key.length < LENGTH_SIZE)
    throw new Rejection("the key is shorter than its version", key?.length ?? 0);
  const version = key.readBigUInt64BE(0);
  if (version !== VERSION) throw new Rejection(`unsupported version ${version}`, 0);
  const headers = readItems(key, LENGTH_SIZE).map((item, index) =>
    inside(["key", index], () => readJson(item.bytes, readHeader, { start: item.offset, repeatable: "ohk" })),
  );
  if (headers.length === 0) throw new Rejection("a message without items", LENGTH_SIZE);

  // The documentation says that a resolved event has no value; producers write an item of length 0.
  const noValue = value === null || value.length === 0;
  const nothing = { bytes: Buffer.alloc(0), offset: 0 };
  const items =
    noValue && headers.every(({ type }) => type === RESOLVED)
      ? headers.map(() => nothing)
      : readItems(value ?? nothing.bytes, 0);
  if (items.length !== headers.length)
    throw new Rejection(`${headers.length} keys and ${items.length} values`, value?.length ?? 0);
  return headers.map((header, index) => ({
    header,
    images: inside(["value", index], () => readValue(openItem(items[index], compression), header)),
  }));
}

/** An item without its compression. A place inside a compressed item is that of its first byte. */
function openItem({ bytes, offset }, compression) {
  if (compression === "none" || bytes.length === 0) return { bytes, offset };
  return { bytes: openMessage(bytes, compression), offset };
}

function readItems(bytes, start) {
  const items = [];
  for (let offset = start; offset < bytes.length;) {
    const begin = offset + LENGTH_SIZE;
    if (begin > bytes.length) throw new Rejection("the length of an item is cut off", offset);
    const length = bytes.readBigUInt64BE(offset);
    if (length > bytes.length - begin)
      throw new Rejection(`an item of ${length} bytes, ${bytes.length - begin} left`, offset);
    offset = begin + Number(length);
    items.push({ bytes: bytes.subarray(begin, offset), offset: begin });
  }
  return items;
}

// ---- key -------------------------------------------------------------------------------------------------------

function readHeader(json) {
  const member = membersOf(json);
  const type = integer(required(json, "t"), true);
  if (type < ROW || type > RESOLVED) throw new Rejection(`event type ${type}`, member("t").at);
  const header = {
    type,
    commitTs: integer(required(json, "ts"), true),
    partition: integer(member("ptn"), false) || null, // 0 is the same as absent
    rowId: integer(member("rid"), false),
    schema: nameText(member("scm")) || null,
    table: nameText(member("tbl")) || null,
    onlyHandleKey: boolean(member("ohk")),
    claimCheck: string(member("ccl")) || null,
  };
  const named = header.schema !== null && header.table !== null;
  if (type === ROW && !named) throw new Rejection("a row without schema or table", json.at);
  return header;
}

// ---- value -----------------------------------------------------------------------------------------------------

function readValue({ bytes, offset }, { type }) {
  if (type === RESOLVED) {
    if (bytes.length > 0) throw new Rejection("a resolved event with a value", offset);
    return null;
  }
  return readJson(bytes, type === ROW ? readRow : readDdl, { start: offset });
}

function readDdl(json) {
  const code = integer(required(json, "t"), true);
  if (code > 255n) throw new Rejection(`DDL type ${code}`, json.at);
  return { code: Number(code), query: string(required(json, "q")) };
}

function readRow(json) {
  const member = membersOf(json);
  const [after, old, deleted] = ["u", "p", "d"].map((name) => inside([name], () => readImage(member(name))));
  if (deleted !== null && (after !== null || old !== null)) throw new Rejection("d appears together with u or p", json.at);
  if (deleted === null && after === null)
    throw new Rejection(old === null ? "a row without u, p or d" : "p without u", json.at);
  return { before: deleted ?? old, after };
}

function readImage(json) {
  if (json === undefined || (json.type === "object" && json.members.size === 0)) return null;
  membersOf(json);
  return [...json.members].map(([name, column]) => {
    checkName(name, column);
    return inside([name], () => ({ name, ...readColumn(column) }));
  });
}

function readColumn(json) {
  const member = membersOf(json);
  const code = Number(integer(required(json, "t"), true));
  if (code > 255) throw new Rejection(`column type ${code}`, member("t").at);
  // Old producers write no `f`; then only `h` tells the handle key.
  const flags = Number((integer(member("f"), true) ?? 0n) & 0xffn) | (boolean(member("h")) ? FLAG.handle : 0);
  const value = required(json, "v");
  return { code, flags, value: value.type === "null" ? null : readColumnValue(value, code, flags) };
}

function readColumnValue(json, code, flags) {
  switch (groupOf(code)) {
    case "integer":
    case "mask":
      return integer(json, isUnsigned(code, flags));
    case "float":
      return parseFloat32(numberText(json), json.at);
    case "double":
      return parseDouble(numberText(json), json.at);
    case "text":
      return string(json);
    case "vector":
      return checkVector(string(json), json.at);
    case "string":
      if (code >= 249 && code <= 252) return base64(json);
      return flags & FLAG.binary ? unquote(string(json), json.at) : Buffer.from(string(json));
    default:
      throw new Rejection(`type code ${code} has no values but null`, json.at);
  }
}

// ---- claim check -----------------------------------------------------------------------------------------------

/** The full row from the file that a claim check names: a key and a value with one item each. */
function readStored(location, blobs, compression) {
  const file = findBlob(location, blobs);
  if (file === undefined) throw new Rejection(`no file at ${location}`);
  const { key, value } = readJson(file, (json) => ({
    key: base64(required(json, "key")),
    value: base64(required(json, "value")),
  }));
  const pairs = readPairs(key, value, compression);
  const [{ header, images }] = pairs;
  if (pairs.length !== 1 || header.type !== ROW || header.claimCheck !== null)
    throw new Rejection("a stored message holds one row");
  return images;
}
