// TiCDC Open Protocol: events to the bytes of a producer, of pingcap/tiflow or of the newer pingcap/ticdc (`dialect`).

import { Rejection } from "./rejection.js";
import { changesOf, handleColumns, isHandle, isOn, number, option, refuseCompression } from "./events.js";
import { FLAG, groupOf } from "./mysql_values.js";
import { goNumber } from "./numbers.js";
import { jsonString, plainJsonString, quote } from "./go_strings.js";

const VERSION = 1n;
const TYPES = { row: 1, ddl: 2, resolved: 3 };
const RECORD_OVERHEAD = 36; // what a Kafka record adds, as the producer counts it
const LENGTHS_SIZE = 16; // of an item's key and value
const VERSION_SIZE = 8;

export function encodeMessages(request) {
  const settings = readSettings(request.options);
  const messages = [];
  let current = null;
  const begin = () => messages.push((current = new Message()));
  for (const [index, change] of changesOf(request).entries()) {
    if (change.kind !== "row") {
      begin();
      current.add(
        Buffer.from(keyText(change, settings)),
        Buffer.from(change.kind === "ddl" ? ddlText(change, settings) : ""),
      );
      current = null;
      continue;
    }
    const claimCheck = request.events[index].extra?.claim_check ?? null;
    const item = encodeRow(change, claimCheck, settings);
    const full = current !== null && (current.rows === settings.maxRows || current.sizeWith(item) > settings.maxBytes);
    if (current === null || full || item.alone) begin();
    current.add(item.key, item.value);
    if (item.alone) current = null;
  }
  return messages.map((message) => message.bytes());
}

function readSettings(options) {
  refuseCompression(options);
  const newer = option(options, "dialect", "tiflow") === "ticdc";
  const string = newer ? plainJsonString : jsonString;
  return {
    newer,
    text: (text) => string(Buffer.from(text), true),
    bytes: (bytes) => string(bytes, true),
    // jsoniter leaves the two digits of strconv, where encoding/json makes e-07 to e-7.
    float: (value, single) => goNumber(value, single).replace(newer ? /(?<=e[+-])(?=\d$)/ : "", newer ? "0" : ""),
    outputsOldValue: isOn(options, "output-old-value", true),
    onlyUpdated: isOn(options, "only-output-updated-columns"),
    largeMessages: option(options, "large-message-handle-option", "none"),
    maxBytes: number(options, "max-message-bytes", 10 * 1024 * 1024),
    maxRows: number(options, "max-batch-size", 16),
  };
}

class Message {
  constructor() {
    this.items = [];
    this.size = VERSION_SIZE;
  }

  get rows() {
    return this.items.length;
  }

  sizeWith({ key, value }) {
    return this.size + RECORD_OVERHEAD + key.length + value.length + LENGTHS_SIZE;
  }

  add(key, value) {
    this.items.push({ key, value });
    this.size += key.length + value.length + LENGTHS_SIZE;
  }

  bytes() {
    const withLength = (bytes) => [uint64(bytes.length), bytes];
    return {
      key: Buffer.concat([uint64(VERSION), ...this.items.flatMap(({ key }) => withLength(key))]),
      value: Buffer.concat(this.items.flatMap(({ value }) => withLength(value))),
    };
  }
}

function uint64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** The item of a row, cut down to its handle key if it is too large and the settings say how. */
function encodeRow(row, claimCheck, settings) {
  const make = (images, marks) => ({
    key: Buffer.from(keyText(row, settings, marks)),
    value: Buffer.from(rowText(images, settings)),
  });
  const fits = (item) => new Message().sizeWith(item) <= settings.maxBytes;
  const images = selectColumns(row, settings);
  const whole = make(images);
  if (fits(whole)) return whole;
  if (settings.largeMessages === "none") throw new Rejection("the message is too large");

  const alone = settings.largeMessages === "claim-check";
  if (alone && claimCheck === null) throw new Rejection("a claim check needs its location in extra.claim_check");
  // An update whose key did not change may have no handle key among its old columns.
  const old = images.before?.filter(isHandle) ?? null;
  const reduced = make(
    row.op === "delete"
      ? { ...images, before: handleColumns(images.before) }
      : { ...images, before: old, after: handleColumns(images.after) },
    alone ? { claimCheck } : { onlyHandleKey: true },
  );
  if (!fits(reduced)) throw new Rejection("the message is too large even with the handle key only");
  return { ...reduced, alone };
}

/** The images as far as the settings let them out. */
function selectColumns({ op, before, after }, { outputsOldValue, onlyUpdated }) {
  if (op !== "update") return { op, before, after };
  if (!outputsOldValue) return { op, before: null, after };
  if (before === null) throw new Rejection("an update without its old values would read as an insert");
  if (!onlyUpdated) return { op, before, after };
  const now = new Map(after.map((column) => [column.name, column]));
  return { op, before: before.filter((column) => !sameValue(column, now.get(column.name))), after };
}

function sameValue(left, right) {
  if (right === undefined || left.code !== right.code) return false;
  if (left.value instanceof Uint8Array && right.value !== null) return Buffer.compare(left.value, right.value) === 0;
  return left.value === right.value;
}

// ---- JSON texts, member by member in the producer's order ------------------------------------------------------

function keyText(
  { kind, commitTs, schema, table, rowId, partition },
  { newer, text },
  { onlyHandleKey, claimCheck } = {},
) {
  // The newer producer writes names that are absent as "", but none at all for a resolved timestamp.
  const isWritten = (name) => kind !== "resolved" && (newer || name !== null);
  const [scm, tbl] = [schema, table].map((name) => (isWritten(name) ? [text(name ?? "")] : []));
  const ohk = onlyHandleKey || (newer && claimCheck) ? ["true"] : [];
  const ccl = claimCheck ? [text(claimCheck)] : [];
  const ptn = partition ? [String(partition)] : [];
  const common = { ts: [String(commitTs)], scm, tbl };
  const type = [String(TYPES[kind])];
  if (!newer) return objectText({ ...common, rid: rowId ? [String(rowId)] : [], ptn, t: type, ohk, ccl });
  // The newer producer takes `ohk` back by writing it again.
  return objectText({ ...common, t: type, ohk: claimCheck ? ["true", "false"] : ohk, ccl, ptn });
}

/** Each member as often as its list has texts. */
const objectText = (members) =>
  `{${Object.entries(members)
    .flatMap(([name, texts]) => texts.map((text) => `"${name}":${text}`))
    .join()}}`;

const ddlText = ({ query, code }, { text }) => objectText({ q: [text(query)], t: [String(code)] });

function rowText({ op, before, after }, settings) {
  const image = (columns) => (columns?.length ? [imageText(columns, settings)] : []);
  if (!(after ?? before)?.length) throw new Rejection("a row without columns");
  return objectText(op === "delete" ? { d: image(before) } : { u: image(after), p: image(before) });
}

const byName = (left, right) => Buffer.compare(Buffer.from(left.name), Buffer.from(right.name));

function imageText(columns, settings) {
  const ordered = settings.newer ? columns : [...columns].sort(byName);
  return `{${ordered.map((column) => `${settings.text(column.name)}:${columnText(column, settings)}`).join()}}`;
}

function columnText(column, settings) {
  const { code, flags, value } = column;
  const v = value === null ? "null" : valueText(column, settings);
  return objectText({ t: [String(code)], h: isHandle(column) ? ["true"] : [], f: [String(flags)], v: [v] });
}

function valueText({ code, flags, value }, { text, bytes, float }) {
  switch (groupOf(code)) {
    case "integer":
    case "mask":
      return String(value);
    case "float":
      return float(value, true);
    case "double":
      return float(value, false);
    case "string":
      if (code >= 249 && code <= 252) return `"${value.toString("base64")}"`;
      return flags & FLAG.binary ? text(quote(value)) : bytes(value);
    default:
      return text(value);
  }
}
