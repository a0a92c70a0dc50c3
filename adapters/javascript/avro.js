// TiCDC Avro: a row in a Kafka message, key and value as records whose schemas are in a registry.

import { parseSchema, readBinary } from "./avro_schema.js";
import { TIDB_TYPES, foreignColumn, toColumn } from "./avro_columns.js";
import { ddlKind, isOn, option } from "./events.js";
import { integer, required, string } from "./json_members.js";
import { Rejection, inside } from "./rejection.js";
import { readJson } from "./strict_json.js";

export const without = [];

const OPERATIONS = { c: "insert", u: "update", d: "delete", "": "upsert" };
const EXTENSION = {
  _tidb_op: "string",
  _tidb_commit_ts: "long",
  _tidb_commit_physical_time: "long",
  _tidb_row_level_checksum: "string",
  _tidb_corrupted: "boolean",
  _tidb_checksum_version: "int",
};
const BEFORE = "_ticdc_before";
const STAMPED = 9; // a byte and a timestamp

export function decodeMessage({ key, value }, request) {
  const { options } = request;
  const isGlue = option(options, "registry", "confluent") === "glue";
  if (key === null && value === null) throw new Rejection("a message without key and value", 0);
  const readsTests = isOn(options, "avro-enable-watermark") && isOn(options, "enable-tidb-extension");
  if (key === null && value[0] === 1) return [readDdl(value)];
  if (key === null && value[0] === 2) return [{ kind: "progress", what: "checkpoint", position: { commit_ts: readStamp(value) } }];

  const read = (part, bytes) => inside([part], () => readRecord(bytes, isGlue, request));
  const keyRow = key === null ? null : read("key", key);
  const isStampedDelete = key !== null && value?.[0] === 3 && (!isGlue || (readsTests && value.length === STAMPED));
  const rows = isStampedDelete || value === null ? { key: keyRow, value: null } : { key: keyRow, value: read("value", value) };
  const event = eventOf(rows);
  if (isStampedDelete) event.position = { commit_ts: readStamp(value) };
  return [event];
}

// ---- test messages ---------------------------------------------------------------------------------------------

function readStamp(bytes) {
  if (bytes.length !== STAMPED) throw new Rejection("a timestamp has eight bytes", Math.min(bytes.length, STAMPED));
  return String(bytes.readBigUInt64BE(1));
}

function readDdl(bytes) {
  return readJson(
    bytes.subarray(1),
    (json) => {
      const text = (name) => string(required(json, name));
      const [query, schema, table] = ["query", "schema", "table"].map(text);
      const code = integer(required(json, "type"), true);
      if (code > 255n) throw new Rejection(`type ${code} of a DDL`, required(json, "type").at);
      const position = { commit_ts: String(integer(required(json, "commitTs"), true)) };
      const event = { kind: "ddl", what: ddlKind(Number(code)), code: String(code), position, query };
      return { ...event, ...(schema === "" ? {} : { schema }), ...(table === "" ? {} : { table }) };
    },
    { start: 1 },
  );
}

// ---- records ---------------------------------------------------------------------------------------------------

const plans = new Map();

/** {plan, values} of an envelope. */
function readRecord(bytes, isGlue, request) {
  const start = isGlue ? 18 : 5;
  const magic = isGlue ? [3, 0] : [0];
  magic.forEach((byte, index) => {
    if (index < bytes.length && bytes[index] !== byte) throw new Rejection("this is not an envelope", index);
  });
  if (bytes.length < start) throw new Rejection("the envelope is cut short", bytes.length);
  const id = isGlue
    ? bytes.toString("hex", 2, start).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
    : String(bytes.readInt32BE(1));
  if (!Object.hasOwn(request.schemas ?? {}, id)) throw new Rejection(`schema ${id} is not in the registry`, magic.length);
  const text = request.schemas[id];
  if (!plans.has(text)) plans.set(text, newPlan(parseSchema(text)));
  const plan = plans.get(text);
  return { plan, values: readBinary(bytes, start, plan.node), request };
}

/** What a schema says: table, schema, and its fields as columns, of the extension, or the row before. */
function newPlan(node) {
  if (node.kind !== "record") throw new Rejection("the schema is not a record");
  const names = node.fullName.split(".");
  return { node, table: names.at(-1), schema: names.length > 2 ? names[1] : null, fields: node.fields.map(newField) };
}

function newField({ name, node }) {
  const { type, isUnion } = nullable(node);
  const json = type.attributes?.get("connect.parameters");
  const parameters = Object.create(null);
  if (json?.type === "object")
    for (const [each, value] of json.members) if (value.type === "string") parameters[each] = value.text;
  if (json === undefined && Object.hasOwn(EXTENSION, name)) {
    if (isUnion || type.kind !== EXTENSION[name]) throw new Rejection(`${name} is ${type.kind}`);
    return { name, role: "extension" };
  }
  if (name === BEFORE && isUnion && type.kind === "record") return { name, role: "before", fields: type.fields.map(newField) };
  const allowed = TIDB_TYPES[parameters.tidb_type];
  if (allowed && (type.kind === "union" || !allowed.avro.includes(type.kind)))
    throw new Rejection(`${parameters.tidb_type} on ${type.kind}`);
  const logical = type.attributes?.get("logicalType")?.text;
  return { name, role: "column", node: type, isUnion, parameters, decimal: logical === "decimal" ? decimalOf(type) : null };
}

/** A type, or the one other than null of a union of two. */
function nullable(node) {
  const others = node.kind === "union" ? node.branches.filter(({ kind }) => kind !== "null") : [];
  const isUnion = node.kind === "union" && node.branches.length === 2 && others.length === 1;
  return { type: isUnion ? others[0] : node, isUnion };
}

const DECIMAL_DIGITS = 1000;

function decimalOf({ attributes }) {
  const number = (name, otherwise) => {
    const json = attributes.get(name);
    return json === undefined ? otherwise : /^[0-9]{1,9}$/.test(json.text ?? "") && json.type === "number" ? Number(json.text) : NaN;
  };
  const [precision, scale] = [number("precision", NaN), number("scale", 0)];
  if (!(precision >= 1 && precision <= DECIMAL_DIGITS && scale >= 0 && scale <= precision))
    throw new Rejection(`a decimal of ${precision} digits, ${scale} of them after the point`);
  return { precision, scale };
}

// ---- events ----------------------------------------------------------------------------------------------------

function eventOf({ key, value }) {
  const row = value ?? key;
  const { plan, values } = row;
  const event = {
    kind: "row",
    op: "delete",
    ...(plan.schema === null ? {} : { schema: plan.schema }),
    table: plan.table,
    key: key === null ? [] : key.plan.fields.filter(({ role }) => role === "column").map(({ name }) => name),
    position: {},
    before: null,
    after: null,
  };
  if (key !== null) imageOf(key.plan.fields, key.values, key); // what is wrong in the key is wrong in the message
  const image = inside([value ? "value" : "key"], () => imageOf(plan.fields, values, row));
  if (value === null) return { ...event, before: image, sent: "key" };

  const extension = readExtension(plan.fields, values);
  const side = extension.op === "delete" ? "before" : "after";
  Object.assign(event, { op: extension.op, position: extension.position, [side]: image });
  const beforeIndex = plan.fields.findIndex(({ role }) => role === "before");
  const old = beforeIndex < 0 ? null : values[beforeIndex].value;
  if (old !== null) {
    const before = inside(["value", BEFORE], () => imageOf(plan.fields[beforeIndex].fields, old, row));
    if (["update", "upsert"].includes(event.op)) event.before = before;
  }
  return Object.keys(extension.extra).length > 0 ? { ...event, extra: extension.extra } : event;
}

function readExtension(fields, values) {
  const found = {};
  fields.forEach(({ name, role }, index) => {
    if (role === "extension") found[name] = Buffer.isBuffer(values[index]) ? values[index].toString() : String(values[index]);
  });
  const { _tidb_op: op = "", _tidb_commit_ts: commitTs, _tidb_commit_physical_time: commitMs } = found;
  if (!Object.hasOwn(OPERATIONS, op)) throw new Rejection(`_tidb_op is ${op.slice(0, 40)}`);
  if (commitTs?.startsWith("-")) throw new Rejection(`_tidb_commit_ts is ${commitTs}`);
  const position = { ...(commitTs ? { commit_ts: commitTs } : {}), ...(commitMs ? { commit_ms: commitMs } : {}) };
  const names = { checksum: "_tidb_row_level_checksum", corrupted: "_tidb_corrupted", checksum_version: "_tidb_checksum_version" };
  const extra = Object.fromEntries(Object.entries(names).flatMap(([name, field]) => (field in found ? [[name, found[field]]] : [])));
  return { op: OPERATIONS[op], position, extra };
}

function imageOf(fields, values, { plan, request }) {
  const image = Object.create(null); // a column may be named __proto__
  fields.forEach((field, index) => {
    if (field.role !== "column") return;
    const value = field.isUnion ? values[index].value : values[index];
    const read = () => {
      if (value === null) return null;
      return TIDB_TYPES[field.parameters.tidb_type] ? toColumn(value, field, plan, request) : foreignColumn(value, field);
    };
    image[field.name] = inside([field.name], read);
  });
  return image;
}
