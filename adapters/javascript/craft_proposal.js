// TiCDC Craft as first proposed; no producer writes it.
//
//   u16 version  u16 number of events  keys  value…  size tables  tail
//
// Against the shipped profile: every name is spelled out, kinds of events may be mixed, a delete has a group type of
// its own, FLOAT has 4 bytes, and what a later version appends inside a stated size is skipped.

import { Rejection, inside } from "./rejection.js";
import { changesOf, operation, toEvent } from "./events.js";
import { batches, readColumns, sentBy, writeGroup } from "./craft_rows.js";
import * as wire from "./craft_primitives.js";

const VERSION = 1;
const ROW = 1n;
const DDL = 2n;
const RESOLVED = 3n;
const NEW_VALUES = 1;
const OLD_VALUES = 2;
const DELETED_VALUES = 3;
const FLOAT_SIZE = 4;
const PREFIX_SIZE = 4; // version and number of events
const MOST_EVENTS = 65535;

export const without = [];

// ---- decoding --------------------------------------------------------------------------------------------------

export function decodeMessage({ value }, { options }) {
  if (value === null) throw new Rejection("a craft message has a value", 0);
  const reader = new wire.Reader(value);
  const version = reader.take(2, "version").readUInt16BE();
  if (version !== VERSION) throw new Rejection(`unsupported version ${version}`, 0);
  const count = reader.take(2, "number of events").readUInt16BE();
  if (count === 0) throw new Rejection("a message without events", 2);

  // What follows the tables of the last event belongs to a later version.
  const tables = wire.sizeTables(value, PREFIX_SIZE);
  const tablesStart = tables.offset;
  const keysSizes = readSizeTable(tables);
  const valueSizes = readSizeTable(tables);
  if (keysSizes.length !== 1) throw new Rejection("the size table of the keys needs 1 element", tablesStart);
  if (valueSizes.length !== count) throw new Rejection(`${valueSizes.length} sizes for ${count} events`, tablesStart);
  const groupSizes = valueSizes.map(() => readSizeTable(tables));
  const total = sum([BigInt(PREFIX_SIZE), ...keysSizes]) + sum(valueSizes);
  if (total !== BigInt(tablesStart)) throw new Rejection(`sizes add up to ${total}, not ${tablesStart}`, tablesStart);

  const keysRegion = reader.region(keysSizes[0], "keys");
  const keys = inside(["keys"], () => readKeys(keysRegion, count));
  return keys.flatMap((key, index) => {
    const region = reader.region(valueSizes[index], "value");
    const change = inside(["events", index], () => readEvent(region, key, groupSizes[index]));
    return change === null ? [] : [toEvent(change, options, sentBy(change, options))];
  });
}

const readSizeTable = (reader) => reader.uvarints(reader.count("size table"), "size table");

const sum = (sizes) => sizes.reduce((total, size) => total + size, 0n);

function readKeys(reader, count) {
  const commitTs = reader.unsignedDeltas(count, "commit ts");
  const types = reader.uvarints(count, "event type");
  const rowIds = reader.uvarints(count, "row id");
  const partitions = reader.varints(count, "partition");
  const schemas = reader.names(count, "schema");
  const tables = reader.names(count, "table");
  return types.map((type, i) => ({
    type,
    commitTs: commitTs[i],
    rowId: BigInt.asIntN(64, rowIds[i]),
    partition: partitions[i] === -1n ? null : partitions[i],
    schema: schemas[i] || null,
    table: tables[i] || null,
  }));
}

/** The change of one pair; null if it is of a kind or has groups that a later version brought. */
function readEvent(region, { type, ...key }, groupSizes) {
  if (type === ROW) return readRow(region, key, groupSizes);
  if (type !== DDL && type !== RESOLVED) return skip(`event type ${type}`);
  if (groupSizes.length > 0) throw new Rejection("groups in an event that is not a row", region.offset);
  if (type === RESOLVED) return { kind: "resolved", ...key };
  const [code] = region.smallNumbers(1, 255n, "DDL type");
  return { kind: "ddl", code, query: region.string("query"), ...key };
}

function readRow(region, key, groupSizes) {
  if (key.schema === null || key.table === null) throw new Rejection("a row without schema or table", region.offset);
  if (groupSizes.length === 0) throw new Rejection("a row without groups", region.offset);
  const images = new Map();
  groupSizes.forEach((size, index) => inside(["groups", index], () => readGroup(region.region(size, "group"), images)));

  const found = [...images.keys()].sort().join();
  if (found === "") return skip("a row with unknown groups only");
  if (!["1", "1,2", "3"].includes(found)) throw new Rejection(`a row with groups ${found}`, region.offset);
  const after = images.get(NEW_VALUES) ?? null;
  const before = images.get(OLD_VALUES) ?? images.get(DELETED_VALUES) ?? null;
  return { kind: "row", op: operation(before, after), ...key, before, after };
}

function readGroup(group, images) {
  const type = group.byte("group type");
  if (![NEW_VALUES, OLD_VALUES, DELETED_VALUES].includes(type)) return skip(`group type ${type}`);
  if (images.has(type)) throw new Rejection(`two groups of type ${type}`, group.offset - 1);
  const count = group.count("columns");
  if (count === 0) throw new Rejection("a group without columns", group.offset);
  images.set(type, readColumns(group, group.names(count, "column names"), FLOAT_SIZE));
}

function skip(what) {
  console.error(`warning: skipped ${what}`);
  return null;
}

// ---- encoding --------------------------------------------------------------------------------------------------

export function encodeMessages(request) {
  const changes = changesOf(request);
  return [...batches(changes, request.options, FLOAT_SIZE, MOST_EVENTS)].map((batch) => ({
    key: null,
    value: writeMessage(batch),
  }));
}

function writeMessage(changes) {
  const types = { row: ROW, ddl: DDL, resolved: RESOLVED };
  const nameOf = ({ kind }, name) => (kind === "resolved" ? "" : (name ?? ""));
  const prefix = Buffer.alloc(PREFIX_SIZE);
  prefix.writeUInt16BE(VERSION, 0);
  prefix.writeUInt16BE(changes.length, 2);
  const keys = wire.concat([
    wire.unsignedDeltas(changes.map(({ commitTs }) => commitTs)),
    wire.uvarints(changes.map(({ kind }) => types[kind])),
    wire.uvarints(changes.map(({ rowId }) => BigInt.asUintN(64, rowId))),
    wire.varints(changes.map(({ partition }) => partition ?? -1n)),
    wire.names(changes.map((change) => nameOf(change, change.schema))),
    wire.names(changes.map((change) => nameOf(change, change.table))),
  ]);
  const groups = changes.map((change) => (change.kind === "row" ? writeGroups(change) : []));
  const values = changes.map((change, i) =>
    change.kind === "ddl"
      ? wire.concat([wire.uvarint(change.code), wire.string(change.query)])
      : wire.concat(groups[i]),
  );
  const tables = wire.concat([[keys], values, ...groups].map(writeSizeTable));
  return wire.concat([prefix, keys, ...values, tables, wire.tail(tables.length)]);
}

function writeGroups({ op, after, before }) {
  if (op === "update" && before === null)
    throw new Rejection("an update without its old values would read as an insert");
  const groups = [
    [NEW_VALUES, after],
    [op === "delete" ? DELETED_VALUES : OLD_VALUES, before],
  ];
  return groups
    .filter(([, columns]) => columns !== null)
    .map(([type, columns]) => {
      if (columns.length === 0) throw new Rejection("a row without columns");
      return writeGroup(type, columns, wire.names(columns.map(({ name }) => name)));
    });
}

const writeSizeTable = (parts) =>
  wire.concat([wire.uvarint(parts.length), wire.uvarints(parts.map(({ length }) => length))]);
