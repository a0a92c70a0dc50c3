// Bodies of DataHub's HTTP service, in JSON, protobuf and batches: the records that are put or got.
//
// A record is {fields, at}: `fields` has a Buffer or null for each value of a tuple, and one for a blob; `at` is where its
// data begin. Values of a batch come as the text that JSON has for them.

import { inflateSync } from "node:zlib";

import { crc32c } from "./checksums.js";
import { openLz4Block } from "./compression.js";
import { option } from "./events.js";
import { integer, itemsOf, membersOf, presentMembersOf, strictBase64, string } from "./json_members.js";
import { doubleText, floatText } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";
import { readJson } from "./strict_json.js";
import { decodeUtf8 } from "./utf8.js";

const DEPTH = 16;
const OPEN_LIMIT = 16 * 1024 * 1024;
const MAGIC = Buffer.from("DHUB");
const FRAME_HEADER = 12;
const CONTENT_TYPES = {
  "application/json": "json",
  "application/x-protobuf": "protobuf",
  "application/x-binary": "batch",
};

/** The headers of a message in lower case. */
const headerOf = (headers, name) =>
  Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name)?.[1];

/** Whether a message is a body, where `encoding=auto` leaves it open whether it is one record. */
export function isBody({ value, headers }, options) {
  if (option(options, "content-encoding", "none") !== "none") return true;
  if (CONTENT_TYPES[headerOf(headers, "content-type")] || headerOf(headers, "content-encoding")) return true;
  if (value.subarray(0, 4).equals(MAGIC)) return true;
  try {
    return readJson(value, (json) => json.type === "object" && ["Records", "Action"].some((name) => json.members.has(name)), { depth: DEPTH });
  } catch (error) {
    if (error instanceof Rejection) return false;
    throw error;
  }
}

/** The records of a body. `types`: those of a tuple's fields, null for blobs. */
export function readBody({ value, headers }, options, types) {
  if (value === null) throw new Rejection("a message without a body");
  const bytes = openContent(value, headers, options);
  const action = headerOf(headers, "x-datahub-request-action");
  const known = CONTENT_TYPES[headerOf(headers, "content-type")] ?? option(options, "encoding", "auto");
  const isFrame = bytes.subarray(0, 4).equals(MAGIC);
  const encoding = ["json", "protobuf", "batch"].includes(known) ? known : isFrame ? "frame" : "json";
  if (encoding === "json") return readJson(bytes, (json) => readJsonBody(json, types), { depth: DEPTH });
  return readFrame(bytes, encoding, action, types);
}

function openContent(value, headers, options) {
  const isOptional = headerOf(headers, "content-type") !== undefined;
  const encoding = headerOf(headers, "content-encoding") ?? (isOptional ? "none" : option(options, "content-encoding", "none"));
  if (encoding === "none" || encoding === "identity") return value;
  const stated = headerOf(headers, "x-datahub-content-raw-size");
  const bytes = open(encoding, value, OPEN_LIMIT);
  if (stated !== undefined && Number(stated) !== bytes.length) throw new Rejection("a body of another size than stated", 0);
  return bytes;
}

function open(compression, bytes, limit) {
  if (compression === "lz4") return openLz4Block(bytes, limit);
  if (compression !== "deflate" && compression !== "zlib") throw new Rejection(`compression ${compression}`, 0);
  try {
    const { buffer, engine } = inflateSync(bytes, { maxOutputLength: limit, info: true });
    if (engine.bytesWritten !== bytes.length) throw new Rejection("bytes after the compressed ones", 0);
    return buffer;
  } catch (error) {
    if (error.code?.startsWith("Z_") || error.code === "ERR_BUFFER_TOO_LARGE") throw new Rejection(error.message, 0);
    throw error;
  }
}

// ---- JSON ------------------------------------------------------------------------------------------------------

function readJsonBody(json, types) {
  const member = presentMembersOf(json);
  const action = string(member("Action"));
  if (action !== null && action !== "pub") throw new Rejection(`action ${action.slice(0, 40)} has no records`, member("Action").at);
  if (member("Records") === undefined) throw new Rejection("Records is missing", json.end - 1);
  const records = itemsOf(member("Records")).map((each, index) =>
    inside(["Records", index], () => readJsonRecord(each, types)),
  );
  string(member("NextCursor"));
  integer(member("StartSeq"));
  const count = integer(member("RecordCount"));
  if (count !== null && count !== BigInt(records.length)) throw new Rejection(`${count} records are stated`, member("RecordCount").at);
  return records;
}

function readJsonRecord(json, types) {
  const member = presentMembersOf(json);
  for (const name of ["ShardId", "PartitionKey", "HashKey", "Cursor", "NextCursor"]) string(member(name));
  for (const name of ["Sequence", "SystemTime"]) integer(member(name));
  if (member("Attributes")) {
    membersOf(member("Attributes"));
    for (const value of member("Attributes").members.values()) string(value);
  }
  const data = member("Data");
  if (data === undefined) throw new Rejection("Data is missing", json.end - 1);
  if (types === null) return { fields: [strictBase64(string(data), data.at)], at: data.at };
  const fields = itemsOf(data).map((each) => (each.type === "null" ? null : Buffer.from(string(each))));
  return { fields: counted(fields, types, data.at), at: data.at };
}

function counted(fields, types, at) {
  const count = types?.length ?? 1;
  if (fields.length !== count) throw new Rejection(`${fields.length} values, ${count} are expected`, at);
  return fields;
}

// ---- frame and protobuf ----------------------------------------------------------------------------------------

function readFrame(bytes, encoding, action, types) {
  if (bytes.length < FRAME_HEADER) throw new Rejection("the frame is cut short", bytes.length);
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw new Rejection("this is not a frame", 0);
  const body = bytes.subarray(FRAME_HEADER);
  if (bytes.readUInt32BE(8) !== body.length) throw new Rejection(`a body of ${body.length} bytes, its frame says ${bytes.readUInt32BE(8)}`, 8);
  if (bytes.readUInt32BE(4) !== crc32c(body)) throw new Rejection("the checksum of the frame is wrong", 4);

  const message = readMessage(body, FRAME_HEADER);
  const isAnswer = action === undefined ? [2, 3, 4].some((number) => message.has(number)) : action === "sub";
  const entries = all(message, isAnswer ? 4 : 1, BYTES);
  if (isAnswer) checkAnswer(message, entries.length);
  const budget = { left: OPEN_LIMIT };
  return entries.flatMap((entry, index) => {
    const fields = readMessage(entry.bytes, entry.at);
    const isBatch = encoding === "frame" ? [...fields.keys()].every((number) => number <= 6) && is(fields, 6, BYTES) : encoding === "batch";
    return isBatch
      ? inside(["batches", index], () => readEntry(fields, entry, types, budget))
      : [inside(["records", index], () => readRecord(fields, entry, types))];
  });
}

function checkAnswer(message, count) {
  text(message, 1);
  number(message, 3);
  const stated = number(message, 2);
  if (stated !== null && stated !== BigInt(count)) throw new Rejection(`${count} records, ${stated} are stated`, FRAME_HEADER);
}

function readRecord(fields, entry, types) {
  for (const each of [1, 2, 3, 4, 5]) text(fields, each);
  for (const each of [6, 7]) number(fields, each);
  const attributes = once(fields, 8);
  if (attributes) readAttributes(readMessage(attributes.bytes, attributes.at));
  const data = once(fields, 9);
  if (data === null) throw new Rejection("a record without data", entry.at);
  const values = all(readMessage(data.bytes, data.at), 1, BYTES).map(({ bytes, at }) => {
    const value = readMessage(bytes, at);
    return all(value, 1, BYTES).at(-1)?.bytes ?? null;
  });
  return { fields: counted(values, types, data.at), at: data.at };
}

function readAttributes(message) {
  const keys = all(message, 1, BYTES).map(({ bytes, at }) => {
    const pair = readMessage(bytes, at);
    text(pair, 2);
    return text(pair, 1);
  });
  if (new Set(keys).size < keys.length) throw new Rejection("an attribute appears twice");
}

const VARINT = 0;
const BYTES = 2;
const SIZES = { 1: 8, 5: 4 };

/** The fields of a protobuf message: number to [{wire, value} or {wire, bytes, at}]. */
function readMessage(bytes, start) {
  const fields = new Map();
  let at = 0;
  const take = (count) => {
    if (count > bytes.length - at) throw new Rejection("a field is cut short", start + at);
    at += count;
    return bytes.subarray(at - count, at);
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const [byte] = take(1);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        if (value >= 2n ** 64n) break;
        return value;
      }
    }
    throw new Rejection("a varint of more than 64 bits", start + at);
  };
  while (at < bytes.length) {
    const place = start + at;
    const tag = varint();
    const [number, wire] = [Number(tag >> 3n), Number(tag & 7n)];
    if (number === 0 || number >= 2 ** 29) throw new Rejection(`field ${number}`, place);
    const field = { wire, place };
    if (wire === VARINT) field.value = varint();
    else if (wire === BYTES) {
      const length = varint();
      if (length > BigInt(bytes.length - at)) throw new Rejection("a field is longer than its message", place);
      field.at = start + at;
      field.bytes = take(Number(length));
    } else if (SIZES[wire]) take(SIZES[wire]);
    else throw new Rejection(`a field of the wire type ${wire}`, place);
    if (!fields.has(number)) fields.set(number, []);
    fields.get(number).push(field);
  }
  return fields;
}

const is = (fields, number, wire) => fields.get(number)?.every((each) => each.wire === wire) ?? false;

function all(fields, number, wire) {
  const found = fields.get(number) ?? [];
  const other = found.find((each) => each.wire !== wire);
  if (other) throw new Rejection(`field ${number} has another type`, other.place);
  return found;
}

function once(fields, number) {
  const found = all(fields, number, BYTES);
  if (found.length > 1) throw new Rejection(`field ${number} appears twice`, found[1].place);
  return found[0] ?? null;
}

function text(fields, number) {
  const found = all(fields, number, BYTES).map((each) => {
    const decoded = decodeUtf8(each.bytes);
    if (decoded === null) throw new Rejection("not UTF-8", each.at);
    return decoded;
  });
  return found.at(-1) ?? null;
}

const number = (fields, each) => all(fields, each, VARINT).at(-1)?.value ?? null;

// ---- batches ---------------------------------------------------------------------------------------------------

const BATCH_HEADER = 26;
const RECORD_HEADER = 16;
const COMPRESSIONS = [null, "deflate", "lz4", "zlib"];

function readEntry(fields, entry, types, budget) {
  for (const each of [1, 2]) text(fields, each);
  for (const each of [3, 4, 5]) number(fields, each);
  const batch = once(fields, 6);
  if (batch === null) throw new Rejection("an entry without a batch", entry.at);
  return readBatch(batch.bytes, batch.at, types, budget);
}

function readBatch(bytes, start, types, budget) {
  const fail = (problem, at) => {
    throw new Rejection(problem, start + at);
  };
  if (bytes.length < BATCH_HEADER) fail("the batch is cut short", bytes.length);
  if (!bytes.subarray(0, 4).equals(MAGIC)) fail("this is not a batch", 0);
  if (bytes.readInt32LE(4) !== 0) fail(`version ${bytes.readInt32LE(4)}`, 4);
  if (bytes.readUInt32LE(8) !== bytes.length) fail("the length of the batch is wrong", 8);
  const rawSize = bytes.readUInt32LE(12);
  const packed = bytes.subarray(BATCH_HEADER);
  if (bytes.readUInt32LE(16) !== crc32c(packed)) fail("the checksum of the batch is wrong", 16);
  const bits = bytes.readUInt16LE(20);
  if ((bits & ~3) !== 8) fail(`bits ${bits}`, 20);
  if (rawSize > budget.left) fail("more than 16 MB come out", 12);
  budget.left -= rawSize;
  const compression = COMPRESSIONS[bits & 3];
  let records = packed;
  if (compression) {
    try {
      records = open(compression, packed, rawSize);
    } catch (error) {
      if (error instanceof Rejection) error.offset = start + BATCH_HEADER;
      throw error;
    }
  }
  if (records.length !== rawSize) fail(`a raw size of ${rawSize} but ${records.length} are present`, 12);

  const count = bytes.readUInt32LE(22);
  const placeOf = (at) => start + BATCH_HEADER + (compression ? 0 : at);
  const found = [];
  let at = 0;
  while (found.length < count) {
    const size = records.length - at >= RECORD_HEADER ? records.readUInt32LE(at + 8) : 0;
    if (size < RECORD_HEADER || size > records.length - at) fail("a record beyond its batch", BATCH_HEADER);
    const [record, place] = [records.subarray(at, at + size), placeOf(at)];
    found.push(inside(["records", found.length], () => readBatchRecord(record, place, types)));
    at += size;
  }
  if (at !== records.length) fail("bytes after the last record", BATCH_HEADER);
  return found;
}

function readBatchRecord(record, at, types) {
  const check = (isRight, problem) => {
    if (!isRight) throw new Rejection(problem, at);
  };
  const slotTypes = types ?? ["BLOB"];
  check(record.readInt32LE(0) === 0, "an unknown encoding of a record");
  check((record.readInt32LE(4) === -1) === (types === null), "a blob in a tuple topic, or the other way round");
  const attributes = record.readUInt32LE(12);
  check(attributes >= RECORD_HEADER && attributes + 4 <= record.length, "attributes outside of the record");
  const body = record.subarray(RECORD_HEADER, attributes);
  check(body.length >= 4, "a record without a number of fields");
  const stated = body.readUInt32LE(0);
  check(stated === 0 || stated === slotTypes.length, `${stated} fields, ${slotTypes.length} are expected`);
  const bitmap = Math.ceil(slotTypes.length / 64) * 8;
  const area = 4 + bitmap + slotTypes.length * 8;
  check(area <= body.length, "slots outside of the record");
  const fields = slotTypes.map((type, index) => {
    if (!((body[4 + (index >> 3)] >> (index & 7)) & 1)) return null;
    const slot = body.subarray(4 + bitmap + index * 8, 12 + bitmap + index * 8);
    return readSlot(slot, type, body, area, check);
  });
  checkAttributes(record.subarray(attributes), check);
  return { fields, at };
}

const textOf = (value) => Buffer.from(String(value));

function readSlot(slot, type, body, area, check) {
  switch (type) {
    case "TINYINT":
    case "SMALLINT":
    case "INTEGER":
    case "BIGINT":
    case "TIMESTAMP":
      return textOf(slot.readBigInt64LE());
    case "DOUBLE":
      return textOf(doubleText(slot.readDoubleLE()));
    case "FLOAT":
      return textOf(floatText(slot.readFloatLE()));
    case "BOOLEAN":
      check(slot[0] <= 1, `a BOOLEAN of ${slot[0]}`);
      return textOf(slot[0] === 1);
  }
  if (slot[7] & 0x80) {
    const length = slot[7] & 0x7f;
    check(length <= 7, `${length} bytes in a slot`);
    return slot.subarray(0, length);
  }
  const [length, offset] = [slot.readUInt32LE(0), slot.readUInt32LE(4)];
  check(offset >= area && offset + length <= body.length, "a value outside of its record");
  return body.subarray(offset, offset + length);
}

function checkAttributes(bytes, check) {
  const keys = new Set();
  let at = 4;
  const read = () => {
    check(at + 4 <= bytes.length, "an attribute outside of its record");
    const length = bytes.readUInt32LE(at);
    check(length <= bytes.length - at - 4, "an attribute outside of its record");
    at += 4 + length;
    const decoded = decodeUtf8(bytes.subarray(at - length, at));
    check(decoded !== null, "an attribute that is not UTF-8");
    return decoded;
  };
  for (let left = bytes.readUInt32LE(0); left > 0; left--) {
    const key = read();
    read();
    check(!keys.has(key), "an attribute appears twice");
    keys.add(key);
  }
  check(at === bytes.length, "bytes after the attributes");
}
