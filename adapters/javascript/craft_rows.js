// What both Craft profiles share of a row: its cells, its groups of columns, and how rows are gathered into messages.
// The profiles differ in how a group spells its names, in the width of FLOAT, and in the group type of a delete.

import { Rejection, inside } from "./rejection.js";
import { isOn, number, option } from "./events.js";
import { checkVector, groupOf, isUnsigned } from "./mysql_values.js";
import * as wire from "./craft_primitives.js";

const DOUBLE_SIZE = 8;

/** Read all columns of a group behind its names: type codes, flags, cells. */
export function readColumns(reader, names, floatSize) {
  if (names.includes("")) throw new Rejection("a column without name", reader.offset);
  if (new Set(names).size < names.length) throw new Rejection("a column name appears twice in a group", reader.offset);
  const codes = reader.smallNumbers(names.length, 255n, "column types");
  const flags = reader.uvarints(names.length, "column flags");
  const cells = reader.nullables(names.length, "values");
  return names.map((name, i) =>
    inside([name], () => {
      const column = { name, code: codes[i], flags: Number(flags[i] & 0xffn), value: null };
      if (cells[i] !== null) column.value = readCell(cells[i], column, floatSize);
      return column;
    }),
  );
}

function readCell(cell, { code, flags }, floatSize) {
  const value = readValue(cell, code, flags, floatSize);
  cell.finish("value");
  return value;
}

function readValue(cell, code, flags, floatSize) {
  const group = groupOf(code);
  switch (group) {
    case "integer":
    case "mask":
      return isUnsigned(code, flags) ? cell.uvarint("value") : cell.varint("value");
    case "float":
      return Math.fround(readFloat(cell, floatSize));
    case "double":
      return readFloat(cell, DOUBLE_SIZE);
    case "text":
      return cell.text("value");
    case "vector": {
      const { offset } = cell;
      return checkVector(cell.text("value"), offset);
    }
    case "string":
      return cell.take(cell.left, "value");
    default:
      throw new Rejection(`type code ${code} has no values but NULL`, cell.offset);
  }
}

function readFloat(cell, size) {
  const bytes = cell.take(size, "value");
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  return size === DOUBLE_SIZE ? view.getFloat64(0, true) : view.getFloat32(0, true);
}

/** Deletes hold less if the producer was told so; the bytes don't say it. */
export function sentBy({ op }, options) {
  return op === "delete" && isOn(options, "delete-only-output-handle-key-columns") ? { sent: "key" } : {};
}

/** The bytes of a value; null for NULL. */
export function cellBytes({ code, flags, value }, floatSize) {
  if (value === null) return null;
  switch (groupOf(code)) {
    case "integer":
    case "mask":
      return isUnsigned(code, flags) ? wire.uvarint(value) : wire.varint(value);
    case "float":
      return floatBytes(value, floatSize);
    case "double":
      return floatBytes(value, DOUBLE_SIZE);
    case "string":
      return value;
    default:
      return Buffer.from(value);
  }
}

function floatBytes(value, size) {
  const bytes = Buffer.alloc(size);
  if (size === DOUBLE_SIZE) bytes.writeDoubleLE(value);
  else bytes.writeFloatLE(value);
  return bytes;
}

/** One group of a row; `nameBytes` is the profile's spelling of the names. */
export function writeGroup(type, columns, nameBytes) {
  return wire.concat([
    Buffer.from([type]),
    wire.uvarint(columns.length),
    nameBytes,
    wire.uvarints(columns.map(({ code }) => code)),
    wire.uvarints(columns.map(({ flags }) => flags)),
    wire.nullables(columns.map(({ cell }) => cell)),
  ]);
}

/**
 * Gather changes into messages: a batch of rows, or one DDL or resolved event alone.
 *
 * A row is added first and the batch is closed when it is too large or full after that, so one message may exceed
 * the limit. Every column gets its `cell`.
 */
export function* batches(changes, options, floatSize, mostRows = Infinity) {
  const maxBytes = number(options, "max-message-bytes", 10 * 1024 * 1024);
  const maxRows = Math.min(number(options, "max-batch-size", 16), mostRows);
  if (option(options, "large-message-handle-option", "none") !== "none") {
    throw new Rejection("craft has no large-message-handle-option");
  }
  let rows = [];
  let estimate = 0;
  for (const change of changes) {
    if (change.kind === "row") {
      rows.push(change);
      estimate += 32 + Buffer.byteLength(change.schema) + Buffer.byteLength(change.table);
      for (const column of [...(change.after ?? []), ...(change.before ?? [])]) {
        column.cell = cellBytes(column, floatSize);
        estimate += 16 + Buffer.byteLength(column.name) + (column.cell?.length ?? 0);
      }
      if (estimate <= maxBytes && rows.length < maxRows) continue;
    }
    if (rows.length > 0) yield rows;
    rows = [];
    estimate = 0;
    if (change.kind !== "row") yield [change];
  }
  if (rows.length > 0) yield rows;
}
