// DataHub Tuple: rows of one table, six metadata columns and those of the table.

import { readBody } from "./datahub.js";
import { isOn, option } from "./events.js";
import { strictBase64 } from "./json_members.js";
import { doubleText, floatText, parseDouble, parseFloat32, plainDecimal } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";
import { decodeUtf8 } from "./utf8.js";

export const without = ["short records"];

const META = [
  ["_sequence_id_", "STRING"],
  ["_operation_type_", "STRING"],
  ["_excute_time_", "BIGINT"],
  ["_source_table_", "STRING"],
  ["_before_image_", "STRING"],
  ["_after_image_", "STRING"],
];
const META_NAMES = new Set([...META.map(([name]) => name), "_execute_time_"]);
const FLAGS = { I: ["NY"], U: ["YN", "NY"], D: ["YN"] };
const OPERATIONS = { I: "insert", U: "update", D: "delete" };
const LATEST = 9999999999999n;

export function decodeMessage(message, request) {
  const table = topicOf(request);
  const fields = fieldsOf(table, request.options);
  const records = readBody(message, request.options, fields.map(({ type }) => type));
  return records.map((record, index) =>
    inside(["records", index], () => {
      try {
        return eventOf(record, fields, table, request.options);
      } catch (error) {
        if (error instanceof Rejection) error.offset ??= record.at;
        throw error;
      }
    }),
  );
}

// ---- topic -----------------------------------------------------------------------------------------------------

function topicOf({ tables = [], options }) {
  const wanted = option(options, "table", "");
  const found = tables.filter(({ schema, table }) => wanted === "" || wanted === table || wanted === `${schema}.${table}`);
  if (found.length !== 1) throw new Rejection(`${found.length} definitions of the topic`);
  return found[0];
}

/** The fields of the topic, metadata columns among them: {name, type, kind, isMeta, isNotNull}. */
function fieldsOf({ columns }, options) {
  const fields = columns.map((column) => ({
    name: column.name,
    type: fieldType(column),
    kind: column.type.split("(")[0],
    isMeta: META_NAMES.has(column.name),
    isNotNull: column.nullable === false,
  }));
  if (fields.some(({ isMeta }) => isMeta)) {
    const names = fields.map(({ name }) => name);
    const missing = META.map(([name]) => name).filter((name) => !names.includes(name));
    const may = names.includes("_execute_time_") ? ["_excute_time_", "_source_table_"] : ["_source_table_"];
    if (missing.some((name) => !may.includes(name))) throw new Rejection(`the definition is without ${missing.join(", ")}`);
    return fields;
  }
  const timeName = option(options, "execute-time-column", "_excute_time_");
  const meta = META.map(([name, type]) => ({ name: name === "_excute_time_" ? timeName : name, type, isMeta: true, isNotNull: true }));
  return [...meta, ...fields];
}

const TYPES = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING", "DECIMAL"];
const OF_KIND = {
  int8: "TINYINT", int16: "SMALLINT", int24: "INTEGER", int32: "INTEGER", int64: "BIGINT",
  "int8 unsigned": "SMALLINT", "int16 unsigned": "INTEGER", "int24 unsigned": "INTEGER", "int32 unsigned": "BIGINT",
  year: "INTEGER", float32: "FLOAT", float64: "DOUBLE", bool: "BOOLEAN", decimal: "DECIMAL",
}; // prettier-ignore
const FITTING = {
  TINYINT: ["int8"], SMALLINT: ["int16", "int8 unsigned"], INTEGER: ["int24", "int32", "int16 unsigned", "year"],
  BIGINT: ["int64", "int32 unsigned", "bit"], FLOAT: ["float32"], DOUBLE: ["float64"], BOOLEAN: ["bool"],
  TIMESTAMP: ["timestamp"], DECIMAL: ["decimal"],
}; // prettier-ignore

function fieldType({ type, source = "", ...column }) {
  const kind = type.replace(/\(.*\)/s, "");
  const upper = source.toUpperCase();
  const isTimestamp = upper === "TIMESTAMP";
  const isFitting = upper === "STRING" || (FITTING[upper]?.includes(kind) ?? false);
  if (TYPES.includes(upper) && isFitting && (!isTimestamp || source === upper || column.zone)) return upper;
  if (kind === "bit") return Number(/\((\d+)\)/.exec(type)?.[1] ?? 64) < 64 ? "BIGINT" : "STRING";
  if (kind === "timestamp") return column.zone ? "TIMESTAMP" : "STRING";
  return OF_KIND[kind] ?? "STRING";
}

// ---- rows ------------------------------------------------------------------------------------------------------

function eventOf({ fields: values }, fields, table, options) {
  const meta = {};
  const image = Object.create(null); // a column may be named __proto__
  const emptyIsNull = isOn(options, "empty-is-null");
  fields.forEach((field, index) => {
    const bytes = values[index]?.length === 0 && emptyIsNull && field.type !== "STRING" ? null : values[index];
    inside([field.name], () => {
      if (bytes === null && (field.isMeta || field.isNotNull)) throw new Rejection("NULL in a column that is not null");
      const value = bytes === null ? null : readField(bytes, field);
      if (field.isMeta) meta[field.name] = value.value;
      else image[field.name] = value;
    });
  });
  const op = meta._operation_type_;
  const sequence = meta._sequence_id_;
  const time = meta._excute_time_ ?? meta._execute_time_;
  if (!/^[0-9]{1,38}$/.test(sequence)) throw new Rejection("a sequence id has 1 to 38 digits");
  if (!Object.hasOwn(FLAGS, op)) throw new Rejection(`operation ${op.slice(0, 40)}`);
  if (BigInt(time) < 0n || BigInt(time) > LATEST) throw new Rejection(`${time} is not a time in milliseconds`);
  const name = meta._source_table_ ?? table.table;
  if (name === "") throw new Rejection("a row without a table");
  if (table.table && name !== table.table) throw new Rejection(`a row of ${name}, the topic belongs to ${table.table}`);
  const flags = `${meta._before_image_}${meta._after_image_}`;
  if (!FLAGS[op].includes(flags)) throw new Rejection(`${op} with the flags ${flags.slice(0, 40)}`);

  const side = flags === "YN" ? "before" : "after";
  const event = { kind: "row", op: OPERATIONS[op] };
  if (table.database) event.database = table.database;
  if (table.schema) event.schema = table.schema;
  Object.assign(event, { table: name, key: table.key ?? [] });
  event.position = { sequence_id: String(BigInt(sequence)), commit_ms: time };
  Object.assign(event, { before: null, after: null, [side]: image });
  if (op === "U") event.half = side;
  return event;
}

// ---- values ----------------------------------------------------------------------------------------------------

const BITS = { TINYINT: 8n, SMALLINT: 16n, INTEGER: 32n, BIGINT: 64n };
const KINDS = { TINYINT: "int8", SMALLINT: "int16", INTEGER: "int32", BIGINT: "int64" };
const FIRST_TIME = -62135798400000000n;
const LAST_TIME = 253402271999000000n;
const STRING_LIMIT = 2 * 1024 * 1024;
const NUMBER_LIMIT = 1024;

function readField(bytes, { type, kind }) {
  if (bytes.length > STRING_LIMIT) throw new Rejection("a value of more than 2 MB");
  const text = decodeUtf8(bytes);
  if (text === null) throw new Rejection("not UTF-8");
  switch (type) {
    case "STRING":
      if (kind === "bytes") return { type: "bytes", bytes: strictBase64(text).toString("base64") };
      return kind === "text" || kind === undefined ? { type: "text", value: text } : { value: text };
    case "BOOLEAN":
      if (text !== "true" && text !== "false") throw new Rejection(`${text.slice(0, 40)} is not a BOOLEAN`);
      return { type: "bool", value: text };
    case "FLOAT":
    case "DOUBLE":
      return readFloat(text, type);
    case "DECIMAL":
      return { type: "decimal", value: decimalText(text) };
    case "TIMESTAMP":
      return { type: "timestamp", value: readInteger(text, FIRST_TIME, LAST_TIME), unit: "us", zone: "+00:00" };
    default: {
      const half = 2n ** (BITS[type] - 1n);
      const value = readInteger(text, -half, half - 1n);
      return kind === undefined || kind === KINDS[type] ? { type: KINDS[type], value } : { value };
    }
  }
}

function readInteger(text, least, most) {
  if (!/^-?[0-9]+$/.test(text) || text.length > NUMBER_LIMIT) throw new Rejection(`${text.slice(0, 40)} is not an integer`);
  const value = BigInt(text);
  if (value < least || value > most) throw new Rejection(`${text.slice(0, 40)} is out of range`);
  return String(value);
}

const FLOAT = /^([+-]?)(?:(nan)|(inf|infinity)|([0-9]+)\.?([0-9]*)(e[+-]?[0-9]+)?|\.([0-9]+)(e[+-]?[0-9]+)?)$/i;

function readFloat(text, type) {
  const kind = type === "FLOAT" ? "float32" : "float64";
  const [all, sign, nan, infinity, whole, fraction, exponent, bare, bareExponent] =
    (text.length <= NUMBER_LIMIT && FLOAT.exec(text)) || [];
  if (all === undefined) throw new Rejection(`${text.slice(0, 40)} is not a ${type}`);
  const minus = sign === "-" ? "-" : "";
  if (nan) return { type: kind, value: "nan" };
  if (infinity) return { type: kind, value: `${minus}inf` };
  const digits = (whole ?? "0").replace(/^0+(?=[0-9])/, "");
  const parts = fraction || bare;
  const plain = `${minus}${digits}${parts ? `.${parts}` : ""}${exponent ?? bareExponent ?? ""}`;
  return { type: kind, value: type === "FLOAT" ? floatText(parseFloat32(plain)) : doubleText(parseDouble(plain)) };
}

const EXPONENT_LIMIT = 400;

function decimalText(text) {
  const plain = text.length > NUMBER_LIMIT ? null : plainDecimal(text, EXPONENT_LIMIT);
  if (plain === null) throw new Rejection(`${text.slice(0, 40)} is not a DECIMAL`);
  return plain;
}
