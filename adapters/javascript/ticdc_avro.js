// What every Avro library needs around it to read TiCDC: envelope, schema, columns, events. A reader is a function
// read(schemaText, bytes) that gives the record of a key or value: an object of what the library made of the fields.
// Nothing here looks into the binary encoding. What a column is stands in `connect.parameters` of its field's type,
// which libraries pass over; the fields of the extension are told from columns by their name and their bare type.

import { Rejection } from "./rejection.js";

// DDL and checkpoints are the producer's own bytes; arrays, maps and other unions are in no row of TiCDC.
const WITHOUT = ["ddl", "checkpoint", "foreign types"];
const EXTENSION = new Set([
  "_tidb_op",
  "_tidb_commit_ts",
  "_tidb_commit_physical_time",
  "_tidb_row_level_checksum",
  "_tidb_corrupted",
  "_tidb_checksum_version",
]);
const BEFORE = "_ticdc_before";
const OPERATIONS = { c: "insert", u: "update", d: "delete", "": "upsert" };

/** The format `avro` of a library. Whatever `read` throws says that a message is bad. */
export const avroFormat = (read, without = []) => ({
  without: [...WITHOUT, ...without],
  decodeMessage({ key, value }, request) {
    const isGlue = request.options?.registry === "glue";
    const [keyRow, valueRow] = [key, value].map((whole) => {
      if (whole === null) return null;
      const [text, bytes] = openEnvelope(whole, request.schemas ?? {}, isGlue);
      const shape = shapeOf(text);
      return { shape, record: refusing(() => read(text, bytes)) };
    });
    return [eventOf(keyRow, valueRow)];
  },
});

function refusing(read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof Rejection ? error : new Rejection(error.message);
  }
}

/** Take the envelope off: the schema's text and the binary encoding. */
function openEnvelope(whole, schemas, isGlue) {
  const start = isGlue ? 18 : 5;
  const magic = isGlue ? [3, 0] : [0];
  if (whole.length < start) throw new Rejection(`an envelope has ${start} bytes`, whole.length);
  if (magic.some((byte, index) => whole[index] !== byte)) throw new Rejection("this is not an envelope", 0);
  const id = isGlue
    ? whole.toString("hex", 2, start).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
    : String(whole.readInt32BE(1));
  if (!Object.hasOwn(schemas, id)) throw new Rejection(`schema ${id} is missing`, magic.length);
  return [schemas[id], whole.subarray(start)];
}

const shapes = new Map();

/** What a schema says beside the names of its fields. Schemas of one text share it. */
function shapeOf(text) {
  if (!shapes.has(text)) shapes.set(text, refusing(() => newShape(JSON.parse(text))));
  return shapes.get(text);
}

function newShape({ name, namespace = "", fields }) {
  const full = name.includes(".") ? name : `${namespace}.${name}`; // a full name goes before the namespace
  const names = full.split(".");
  const old = fields.find((field) => field.name === BEFORE)?.type.find((branch) => branch !== "null");
  return {
    table: names.at(-1),
    schema: names.slice(1, -1)[0] ?? null,
    fields: fields.map(fieldOf),
    before: old?.fields.map(fieldOf) ?? [],
  };
}

function fieldOf({ name, type }) {
  const branches = [type].flat().filter((branch) => typeof branch === "object");
  const { "connect.parameters": parameters, logicalType, scale = 0 } = branches.length === 1 ? branches[0] : {};
  return {
    name,
    tidbType: parameters?.tidb_type,
    scale: logicalType === "decimal" ? scale : null,
    isColumn: name !== BEFORE && (parameters !== undefined || !EXTENSION.has(name)),
  };
}

function eventOf(key, value) {
  const row = value ?? key;
  if (row === null) throw new Rejection("a message has a key or a value");
  const columns = imageOf(row.shape.fields, row.record);
  const event = {
    kind: "row",
    op: "delete",
    schema: row.shape.schema,
    table: row.shape.table,
    key: key?.shape.fields.filter(({ isColumn }) => isColumn).map(({ name }) => name) ?? [],
    before: null,
    after: null,
  };
  if (value === null) return { ...event, before: columns };
  const told = Object.fromEntries(row.shape.fields.filter((f) => !f.isColumn).map(({ name }) => [name, row.record[name]]));
  const operation = told._tidb_op ?? "";
  if (!Object.hasOwn(OPERATIONS, operation)) throw new Rejection(`_tidb_op is ${operation}`);
  event.op = OPERATIONS[operation];
  event[event.op === "delete" ? "before" : "after"] = columns;
  if (told[BEFORE] && ["update", "upsert"].includes(event.op)) event.before = imageOf(row.shape.before, told[BEFORE]);
  event.position = textsOf(told, { commit_ts: "_tidb_commit_ts", commit_ms: "_tidb_commit_physical_time" });
  event.extra = textsOf(told, {
    checksum: "_tidb_row_level_checksum",
    corrupted: "_tidb_corrupted",
    checksum_version: "_tidb_checksum_version",
  });
  return event;
}

/** The fields of the extension that are there, under other names. */
const textsOf = (told, names) =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, field]) => (field in told ? [[name, String(told[field])]] : [])),
  );

function imageOf(fields, record) {
  const image = Object.create(null); // a column may be named __proto__
  for (const field of fields) if (field.isColumn) image[field.name] = valueOf(field, record[field.name]);
  return image;
}

/** What a library made of a value, as a column of the testee protocol. */
function valueOf({ tidbType, scale }, cell) {
  if (cell === null) return null;
  if (tidbType === "BIGINT UNSIGNED" && typeof cell !== "string") return String(BigInt.asUintN(64, BigInt(cell)));
  if (Buffer.isBuffer(cell)) {
    if (scale !== null) return decimalText(cell, scale);
    if (tidbType === "BIT" && (cell.length === 0 || cell.length > 8)) throw new Rejection("a BIT has 1 to 8 bytes");
    if (tidbType === "BIT") return String(unsigned(cell));
    return { bytes: cell.toString("base64") };
  }
  return typeof cell === "number" ? numberText(cell) : String(cell);
}

function numberText(number) {
  if (Object.is(number, -0)) return "-0.0";
  return { NaN: "nan", Infinity: "inf", "-Infinity": "-inf" }[number] ?? String(number);
}

const unsigned = (bytes) => BigInt(`0x${bytes.toString("hex")}`);

/** Bytes of the logical type decimal, which this library leaves as they are. */
function decimalText(bytes, scale) {
  if (bytes.length === 0) throw new Rejection("a decimal has a byte at least");
  const number = BigInt.asIntN(bytes.length * 8, unsigned(bytes));
  const digits = String(number < 0n ? -number : number).padStart(scale + 1, "0");
  const text = scale ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
  return number < 0n ? `-${text}` : text;
}
