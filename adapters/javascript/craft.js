// TiCDC Craft as shipped, wire version 1.
//
//   version  headers  body…  dictionary  size tables  tail
//
// Nothing but the size tables at the end says how long a region is and how many events there are, so a reader
// begins there. All names are ids of one dictionary.

import { Rejection, inside } from "./rejection.js";
import { changesOf, operation, toEvent } from "./events.js";
import { batches, readColumns, sentBy, writeGroup } from "./craft_rows.js";
import * as wire from "./craft_primitives.js";

const VERSION = 1n;
const ROW = 1;
const DDL = 2;
const RESOLVED = 3;
const NEW_VALUES = 1;
const OLD_VALUES = 2;
const FLOAT_SIZE = 8;
const ABSENT = -1n; // a term id or partition that is not there

export const without = [];

// ---- decoding --------------------------------------------------------------------------------------------------

export function decodeMessage({ value }, { options }) {
  if (value === null) throw new Rejection("a craft message has a value", 0);
  const reader = new wire.Reader(value);
  const version = reader.uvarint("version");
  if (version !== VERSION) throw new Rejection(`unsupported version ${version}`, 0);

  const tables = wire.sizeTables(value, reader.offset);
  const tablesStart = tables.offset;
  const [meta, bodySizes, ...groupSizes] = readSizeTables(tables);
  if (meta?.length !== 2) throw new Rejection("the first size table needs 2 elements", tablesStart);
  if (bodySizes === undefined) throw new Rejection("the size table of the bodies is missing", tablesStart);
  const [headersSize, dictionarySize] = meta;
  const total = reader.offset + headersSize + sum(bodySizes) + dictionarySize;
  if (total !== tablesStart) throw new Rejection(`sizes add up to ${total}, not ${tablesStart}`, tablesStart);

  const headers = reader.region(headersSize, "headers");
  const bodies = bodySizes.map((size) => reader.region(size, "body"));
  const dictionary = reader.region(dictionarySize, "dictionary");
  const terms = inside(["dictionary"], () => readDictionary(dictionary));
  const changes = inside(["headers"], () => readHeaders(headers, bodies.length, terms));

  const { type } = changes[0];
  if (groupSizes.length !== (type === ROW ? bodies.length : 0)) {
    throw new Rejection(`${groupSizes.length} size tables of groups for ${bodies.length} events`, tablesStart);
  }
  return changes.map((header, index) => {
    const change = inside(["events", index], () => readBody(bodies[index], header, groupSizes[index], terms));
    return toEvent(change, options, sentBy(change, options));
  });
}

function readSizeTables(reader) {
  const limit = BigInt(reader.bytes.length); // no region is larger than the message
  const tables = [];
  while (reader.left > 0) {
    const { offset } = reader;
    const count = reader.count("size table");
    if (count === 0) throw new Rejection("a size table has no element", offset);
    const sizes = reader.signedDeltas(count, "size table");
    const wrong = sizes.find((size) => size < 0n || size > limit);
    if (wrong !== undefined) throw new Rejection(`a size of ${wrong} bytes`, offset);
    tables.push(sizes.map(Number));
  }
  return tables;
}

const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);

function readDictionary(dictionary) {
  if (dictionary.left === 0) return [];
  const count = dictionary.count("dictionary");
  if (count === 0) throw new Rejection("a dictionary without a term", dictionary.offset);
  const terms = dictionary.names(count, "dictionary");
  if (terms.includes("")) throw new Rejection("a term of length 0", dictionary.offset);
  dictionary.finish("dictionary");
  return terms;
}

function readHeaders(reader, count, terms) {
  const commitTs = reader.unsignedDeltas(count, "commit ts");
  const types = reader.smallNumbers(count, 255n, "event type");
  const partitions = reader.signedDeltas(count, "partition");
  const schemas = reader.signedDeltas(count, "schema");
  const tables = reader.signedDeltas(count, "table");
  reader.finish("headers");

  if (types[0] < ROW || types[0] > RESOLVED) throw new Rejection(`event type ${types[0]}`, reader.offset);
  if (types.some((type) => type !== types[0])) throw new Rejection("kinds of events are mixed", reader.offset);
  if (types[0] !== ROW && count > 1) throw new Rejection("more than one DDL or resolved event", reader.offset);
  return types.map((type, i) => ({
    type,
    commitTs: commitTs[i],
    partition: partitions[i] === ABSENT ? null : partitions[i],
    rowId: null,
    schema: termAt(schemas[i], terms, reader.offset),
    table: termAt(tables[i], terms, reader.offset),
  }));
}

function termAt(id, terms, offset) {
  if (id < ABSENT || id >= terms.length) throw new Rejection(`term ${id} of ${terms.length}`, offset);
  return id === ABSENT ? null : terms[Number(id)];
}

function readBody(body, { type, ...header }, groupSizes, terms) {
  if (type === RESOLVED) {
    body.finish("resolved event");
    return { kind: "resolved", ...header };
  }
  if (type === DDL) {
    const [code] = body.smallNumbers(1, 255n, "DDL type");
    const query = body.string("query");
    body.finish("DDL event");
    return { kind: "ddl", code, query, ...header };
  }

  if (header.schema === null || header.table === null)
    throw new Rejection("a row without schema or table", body.offset);
  if (sum(groupSizes) !== body.left) throw new Rejection("the groups do not fill the body", body.offset);
  const images = [null, null, null];
  groupSizes.forEach((size, index) =>
    inside(["groups", index], () => {
      const group = body.region(size, "group");
      const groupType = group.byte("group type");
      if (groupType !== NEW_VALUES && groupType !== OLD_VALUES)
        throw new Rejection(`group type ${groupType}`, group.offset - 1);
      if (images[groupType] !== null) throw new Rejection(`two groups of type ${groupType}`, group.offset - 1);
      images[groupType] = readGroup(group, terms);
    }),
  );
  const [, after, before] = images;
  return { kind: "row", op: operation(before, after), ...header, before, after };
}

function readGroup(group, terms) {
  const count = group.count("columns");
  if (count === 0) throw new Rejection("a group without columns", group.offset);
  const names = group.signedDeltas(count, "column names").map((id) => termAt(id, terms, group.offset));
  if (names.includes(null)) throw new Rejection("a column without a name", group.offset);
  const columns = readColumns(group, names, FLOAT_SIZE);
  group.finish("group");
  return columns;
}

// ---- encoding --------------------------------------------------------------------------------------------------

export function encodeMessages(request) {
  const changes = changesOf(request);
  return [...batches(changes, request.options, FLOAT_SIZE)].map((batch) => ({ key: null, value: writeMessage(batch) }));
}

function writeMessage(changes) {
  const dictionary = new Map(); // in order of first use
  const term = (name) => {
    if (name === null) return ABSENT;
    if (!dictionary.has(name)) dictionary.set(name, BigInt(dictionary.size));
    return dictionary.get(name);
  };

  const [{ kind }] = changes;
  const type = { row: ROW, ddl: DDL, resolved: RESOLVED }[kind];
  const resolved = kind === "resolved";
  const headers = wire.concat([
    wire.unsignedDeltas(changes.map(({ commitTs }) => commitTs)),
    wire.uvarints(changes.map(() => type)),
    wire.signedDeltas(changes.map(({ partition }) => partition ?? ABSENT)),
    wire.signedDeltas(changes.map(({ schema }) => term(resolved ? null : schema))),
    wire.signedDeltas(changes.map(({ table }) => term(resolved ? null : table))),
  ]);

  const groups = kind === "row" ? changes.map((change) => writeGroups(change, term)) : [];
  const bodies = changes.map((change, i) => (kind === "row" ? wire.concat(groups[i]) : writeBody(change)));
  const names = [...dictionary.keys()];
  const terms = names.length > 0 ? wire.concat([wire.uvarint(names.length), wire.names(names)]) : Buffer.alloc(0);
  const tables = wire.concat([[headers, terms], bodies, ...groups].map(writeSizeTable));
  return wire.concat([wire.uvarint(VERSION), headers, ...bodies, terms, tables, wire.tail(tables.length)]);
}

function writeBody({ kind, code, query }) {
  return kind === "ddl" ? wire.concat([wire.uvarint(code), wire.string(query)]) : Buffer.alloc(0);
}

function writeGroups({ op, after, before }, term) {
  if (op === "update" && before === null)
    throw new Rejection("an update without its old values would read as an insert");
  return [
    [NEW_VALUES, after],
    [OLD_VALUES, before],
  ]
    .filter(([, columns]) => columns !== null)
    .map(([type, columns]) => {
      if (columns.length === 0) throw new Rejection("a row without columns");
      return writeGroup(type, columns, wire.signedDeltas(columns.map(({ name }) => term(name))));
    });
}

function writeSizeTable(parts) {
  const sizes = parts.map(({ length }) => length);
  return wire.concat([wire.uvarint(sizes.length), wire.signedDeltas(sizes)]);
}
