// MySQL columns whose values are texts: what a declared type such as `decimal(6,3) unsigned` says, and which texts a
// value of it may be. Canal-JSON, CSV and schema files share this.

import { Rejection } from "./rejection.js";
import { checkVector } from "./mysql_values.js";
import { parseDouble, parseFloat32 } from "./numbers.js";

// prettier-ignore
const KINDS = new Map(Object.entries({
  tinyint: "int8", bool: "int8", boolean: "int8", smallint: "int16", mediumint: "int24", int: "int32",
  integer: "int32", bigint: "int64", float: "float32", double: "float64", real: "float64", decimal: "decimal",
  numeric: "decimal", bit: "bit", year: "year", date: "date", time: "time", datetime: "datetime",
  timestamp: "timestamp", json: "json", enum: "enum", set: "set", vector: "vector",
  char: "text", varchar: "text", nchar: "text", nvarchar: "text", tinytext: "text", mediumtext: "text", text: "text",
  longtext: "text", binary: "bytes", varbinary: "bytes", tinyblob: "bytes", mediumblob: "bytes", blob: "bytes",
  longblob: "bytes", null: "unknown", geometry: "unknown", point: "unknown", linestring: "unknown",
  polygon: "unknown", multipoint: "unknown", multilinestring: "unknown", multipolygon: "unknown",
  geomcollection: "unknown", geometrycollection: "unknown",
}));

const DECLARED = /^\s*([a-z0-9_]+)\s*(?:\((.*)\))?\s*([^()]*)$/is;
const TWO_WORDS = { "double precision": "double", "long varchar": "mediumtext", "long varbinary": "mediumblob" };

/**
 * What a declared type says: {name, kind, unsigned, parameters, elements}. Null for a type that MySQL does not have.
 * `parameters` are numbers; they are empty where nothing is declared.
 */
export function parseDeclared(text) {
  const [, word, inner, rest] = DECLARED.exec(text) ?? [];
  if (word === undefined) return null;
  const words = rest.toLowerCase().split(/\s+/).filter(Boolean);
  let name = word.toLowerCase();
  name = TWO_WORDS[`${name} ${words[0]}`] ?? name;
  if (name.startsWith("vector")) name = "vector";
  const kind = KINDS.get(name);
  if (kind === undefined) return null;
  const hasElements = kind === "enum" || kind === "set";
  const numbers = hasElements || inner === undefined ? [] : inner.split(",").map((each) => each.trim());
  if (kind !== "vector" && !numbers.every((each) => /^[0-9]{1,10}$/.test(each))) return null;
  return {
    name,
    kind,
    unsigned: words.includes("unsigned") || words.includes("zerofill"),
    parameters: numbers.map(Number),
    elements: hasElements && inner !== undefined ? splitElements(inner) : null,
  };
}

function splitElements(inner) {
  const elements = [...inner.matchAll(/'((?:[^']|'')*)'/g)].map(([, element]) => unescaped(element.replaceAll("''", "'")));
  return elements.length > 0 ? elements : null;
}

/** An element as TiDB prints it, without its escapes. A backslash before another character is itself. */
const unescaped = (element) => element.replace(/\\([nr0])/g, (_, sign) => ({ n: "\n", r: "\r", 0: "\0" })[sign]);

/** What a column of a table definition declares: by its `source`, else by its `type`. */
export function declaredOf({ source, type }) {
  return (source ? parseDeclared(source) : null) ?? kindDeclared(type ?? "unknown");
}

function kindDeclared(type) {
  const [, kind, inner, rest] = /^([a-z0-9]+)(?:\((.*)\))?(.*)$/s.exec(type) ?? [null, "unknown"];
  const hasElements = kind === "enum" || kind === "set";
  return {
    name: kind,
    kind: kind === "bool" ? "int8" : kind,
    unsigned: (rest ?? "").includes("unsigned"),
    parameters: hasElements || !inner ? [] : inner.split(",").map(Number),
    elements: hasElements && inner ? inner.split(",") : null,
  };
}

/** The type as the testee protocol names it. */
export const typeOf = ({ kind, unsigned }) => (unsigned && INTEGER_BITS[kind] ? `${kind} unsigned` : kind);

// ---- values ----------------------------------------------------------------------------------------------------

const INTEGER_BITS = { int8: 8, int16: 16, int24: 24, int32: 32, int64: 64 };
const INTEGER = /^(0|-?[1-9][0-9]{0,19})$/;
const DECIMAL = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/;

/** A function per kind that rejects a text that is not a value of the column. Enum, set, text and bytes are not here. */
export const CHECKS = {
  int8: checkInteger,
  int16: checkInteger,
  int24: checkInteger,
  int32: checkInteger,
  int64: checkInteger,
  bit: (text, { parameters: [length = 64] }, at) => checkRange(text, 0n, 2n ** BigInt(length) - 1n, at),
  year: (text, _, at) => {
    if (text !== "0") checkRange(text, 1901n, 2155n, at);
  },
  decimal: checkDecimal,
  date: (text, _, at) => checkDate(text, at),
  time: checkTime,
  datetime: checkDatetime,
  timestamp: checkDatetime,
  vector: (text, _, at) => void checkVector(text, at),
  json: (text, _, at) => {
    if (text === "") throw new Rejection("an empty text is not JSON", at);
  },
};

function checkInteger(text, { kind, unsigned }, at) {
  const bits = BigInt(INTEGER_BITS[kind]);
  if (unsigned) checkRange(text, 0n, 2n ** bits - 1n, at);
  else checkRange(text, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n, at);
}

export function checkRange(text, least, most, at) {
  if (!INTEGER.test(text)) throw new Rejection(`${text.slice(0, 40)} is not an integer`, at);
  const value = BigInt(text);
  if (value < least || value > most) throw new Rejection(`${text} is not between ${least} and ${most}`, at);
}

function checkDecimal(text, { parameters: [precision, scale = 0] }, at) {
  const [, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) throw new Rejection(`${text.slice(0, 40)} is not a decimal`, at);
  if (precision === undefined) return;
  const digits = whole === "0" ? 0 : whole.length;
  if (fraction.length - 1 > scale || digits > precision - scale)
    throw new Rejection(`${text.slice(0, 40)} is not a DECIMAL(${precision},${scale})`, at);
}

function checkDate(text, at) {
  const [, month, day] = /^[0-9]{4}-([0-9]{2})-([0-9]{2})$/.exec(text) ?? [];
  if (month === undefined || month > 12 || day > 31) throw new Rejection(`${text.slice(0, 40)} is not a date`, at);
}

const CLOCK = /^(-?)([0-9]{2,3}):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,6}))?$/;

/** `digits` is how many digits of a second there must be; undefined: up to six. */
function checkClock(text, mostHours, mayBeNegative, digits, at) {
  const [, sign, hours, minutes, seconds, fraction = ""] = CLOCK.exec(text) ?? [];
  if (hours === undefined || Number(hours) > mostHours || (sign && !mayBeNegative) || (hours.length > 2 && hours < "100"))
    throw new Rejection(`${text.slice(0, 40)} is not a time`, at);
  if (mostHours === 838 && hours === "838" && minutes === "59" && seconds === "59" && /[1-9]/.test(fraction))
    throw new Rejection(`${text.slice(0, 40)} is beyond 838:59:59`, at);
  if (digits !== undefined && fraction.length !== digits)
    throw new Rejection(`${text.slice(0, 40)} has not ${digits} digits of a second`, at);
}

function checkTime(text, { parameters: [digits] }, at) {
  checkClock(text, 838, true, digits, at);
}

function checkDatetime(text, { parameters: [digits] }, at) {
  checkDate(text.slice(0, 10), at);
  if (text[10] !== " ") throw new Rejection(`${text.slice(0, 40)} is not a date and time`, at);
  checkClock(text.slice(11), 23, false, digits, at);
}

const FLOAT_LIMIT = 2048;

/** The number of a float or double. */
export function parseFloating(text, kind, at, limit = FLOAT_LIMIT) {
  if (text.length > limit) throw new Rejection(`a number of more than ${limit} characters`, at);
  return kind === "float32" ? parseFloat32(text, at) : parseDouble(text, at);
}
