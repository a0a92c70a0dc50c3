// MySQL columns between three forms: TiCDC's type code and flags, a JavaScript value, and the column object of the
// testee protocol. The codecs turn bytes or JSON into JavaScript values and know nothing of the column objects.
//
//   group of a type   JavaScript value
//   integer, mask     BigInt (64 bits; `mask` is always unsigned)
//   float, double     number
//   text, vector      string
//   string            Uint8Array, whether it holds text or not
//   none              nothing but NULL
// NULL is null in all of them.

import { Rejection } from "./rejection.js";
import { doubleText, floatText, parseDouble, parseFloat32, shortestPlain32 } from "./numbers.js";
import { decodeUtf8, isWellFormed } from "./utf8.js";

export const FLAG = {
  binary: 1,
  handle: 2,
  generated: 4,
  primary: 8,
  unique: 16,
  multiple: 32,
  nullable: 64,
  unsigned: 128,
};
const YEAR = 13;
const BIT = 16;
const ROLES = ["handle", "generated", "primary", "unique", "multiple"];

// prettier-ignore
const TYPES = new Map([
  [1, ["integer", "int8"]], [2, ["integer", "int16"]], [9, ["integer", "int24"]],
  [3, ["integer", "int32"]], [8, ["integer", "int64"]], [13, ["integer", "year"]],
  [16, ["mask", "bit"]], [247, ["mask", "enum"]], [248, ["mask", "set"]],
  [4, ["float", "float32"]], [5, ["double", "float64"]],
  [246, ["text", "decimal"]], [10, ["text", "date"]], [14, ["text", "date"]], [11, ["text", "time"]],
  [12, ["text", "datetime"]], [7, ["text", "timestamp"]], [245, ["text", "json"]],
  [15, ["string", "text"]], [253, ["string", "text"]], [254, ["string", "text"]],
  [249, ["string", "text"]], [250, ["string", "text"]], [251, ["string", "text"]], [252, ["string", "text"]],
  [225, ["vector", "vector"]],
]);

export const groupOf = (code) => TYPES.get(code)?.[0] ?? "none";
export const isUnsigned = (code, flags) => groupOf(code) === "mask" || (code !== YEAR && (flags & FLAG.unsigned) !== 0);

/** The kind of a column as the testee protocol names it. */
export function kindOf(code, flags) {
  const [group, kind] = TYPES.get(code) ?? ["none", "unknown"];
  if (group === "string") return flags & FLAG.binary ? "bytes" : "text";
  return group === "integer" && isUnsigned(code, flags) ? `${kind} unsigned` : kind;
}

/** The column object of a value. `zone` is that of timestamps, if it is known. */
export function toColumn({ code, flags, value }, zone) {
  const type = kindOf(code, flags);
  if (value === null) return { type, value: null };
  switch (groupOf(code)) {
    case "integer":
      return { type, value: String(value) };
    case "mask":
      return code === BIT ? { type, value: String(value) } : { type, index: String(value) };
    case "float":
      return { type, value: floatText(value) };
    case "double":
      return { type, value: doubleText(value) };
    case "string": {
      const text = type === "text" ? decodeUtf8(value) : null;
      return text === null ? { type, bytes: Buffer.from(value).toString("base64") } : { type, value: text };
    }
    default:
      return type === "timestamp" && zone ? { type, value, zone } : { type, value };
  }
}

/** The value of a column object: what `toColumn` gives, or short, a text or null. */
export function fromColumn(code, flags, column) {
  const { value, bytes, index } =
    typeof column === "string" ? { value: column, index: column } : (column ?? { value: null });
  if (value === null) return null;
  const group = groupOf(code);
  if (group === "string" && typeof bytes === "string") return Buffer.from(bytes, "base64");
  const text = value ?? (group === "mask" ? index : undefined);
  if (typeof text !== "string")
    throw new Rejection(`no value of type ${kindOf(code, flags)}: ${JSON.stringify(column)}`);
  if (!isWellFormed(text)) throw new Rejection("the text is not Unicode");
  switch (group) {
    case "integer":
    case "mask":
      return parseInteger(text, isUnsigned(code, flags));
    case "float":
      return SPECIAL.get(text) ?? parseFloat32(text);
    case "double":
      return SPECIAL.get(text) ?? parseDouble(text);
    case "string":
      return Buffer.from(text);
    case "vector":
      return normaliseVector(text);
    case "text":
      return text;
    default:
      throw new Rejection(`type code ${code} has no values but NULL`);
  }
}

export function parseInteger(text, unsigned, offset) {
  // 20 digits are enough for 64 bits; converting millions would take long.
  if (!/^-?[0-9]{1,20}$/.test(text)) throw new Rejection(`${text.slice(0, 40)} is not a 64-bit integer`, offset);
  const value = BigInt(text);
  const fits = value === (unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value));
  if (!fits) throw new Rejection(`${text} is outside 64 bits ${unsigned ? "unsigned" : "signed"}`, offset);
  return value;
}

// prettier-ignore
const SPECIAL = new Map([["nan", NaN], ["inf", Infinity], ["-inf", -Infinity]]);

const VECTOR_ITEM = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/;

/** Reject what TiCDC would not write as a vector. */
export function checkVector(text, offset) {
  const items = text === "[]" ? [] : text.slice(1, -1).split(",");
  if (text.length < 2 || text[0] !== "[" || text.at(-1) !== "]") throw new Rejection("a vector needs [ ] around it", offset);
  for (const item of items) {
    if (!VECTOR_ITEM.test(item)) throw new Rejection(`${item.slice(0, 40)} is not a vector item`, offset);
    parseFloat32(item, offset);
  }
  return text;
}

/** Any JSON array of numbers, as TiCDC writes it. */
function normaliseVector(text) {
  const inner = text
    .trim()
    .match(/^\[([^]*)\]$/)?.[1]
    .trim();
  if (inner === undefined) throw new Rejection("a vector needs [ ] around it");
  const items = inner === "" ? [] : inner.split(",");
  return `[${items.map((item) => shortestPlain32(parseFloat32(item.trim()))).join(",")}]`;
}

// ---- column definitions: the table's `type`, `source` and `roles` to code and flags ----------------------------

// prettier-ignore
const SOURCE_CODES = new Map(Object.entries({
  tinyint: 1, bool: 1, boolean: 1, smallint: 2, mediumint: 9, int: 3, integer: 3, bigint: 8,
  float: 4, double: 5, real: 5, decimal: 246, numeric: 246, bit: 16, year: 13,
  date: 10, time: 11, datetime: 12, timestamp: 7, json: 245, enum: 247, set: 248, vector: 225, null: 6,
  char: 254, binary: 254, varchar: 15, varbinary: 15,
  tinytext: 249, mediumtext: 250, longtext: 251, text: 252, tinyblob: 249, mediumblob: 250, longblob: 251, blob: 252,
}));

// Used where a definition has no `source`.
// prettier-ignore
const KIND_CODES = new Map(Object.entries({
  bool: 1, int8: 1, int16: 2, int24: 9, int32: 3, int64: 8, float32: 4, float64: 5, decimal: 246, bit: 16, year: 13,
  date: 10, time: 11, datetime: 12, timestamp: 7, json: 245, enum: 247, set: 248, vector: 225, unknown: 6,
  text: 252, bytes: 252,
}));

/** {name, code, flags} of a column of a table definition. */
export function defineColumn({ name, type, source, nullable, roles = [] }) {
  const outside = (text) =>
    text
      ?.toLowerCase()
      .replace(/\(.*\)/s, " ")
      .trim()
      .split(/\s+/) ?? [];
  const [sourceWord, ...sourceRest] = outside(source);
  const [kind, ...kindRest] = outside(type);
  const code = SOURCE_CODES.get(sourceWord) ?? KIND_CODES.get(kind);
  if (code === undefined) throw new Rejection(`column ${name}: type ${source ?? type} has no code`);
  const holdsText = kind ? ["text", "enum", "set"].includes(kind) : /char|text|enum|set/.test(sourceWord);
  const words = [...kindRest, ...sourceRest];
  const isBinary = !holdsText || /\bcharacter set binary\b|\bcharset binary\b/.test(sourceRest.join(" "));
  const unsigned = code === BIT || code === YEAR || words.includes("unsigned") || words.includes("zerofill");
  let flags = 0;
  if (isBinary) flags |= FLAG.binary;
  for (const role of ROLES) if (roles.includes(role)) flags |= FLAG[role];
  if (nullable) flags |= FLAG.nullable;
  if (unsigned) flags |= FLAG.unsigned;
  return { name, code, flags, virtual: roles.includes("virtual") };
}
