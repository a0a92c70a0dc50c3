// Columns of TiCDC's Avro: what `tidb_type` makes of an Avro value.

import { bigInteger } from "./connect.js";
import { plainDecimal } from "./connect_columns.js";
import { isOn, option } from "./events.js";
import { declaredOf } from "./mysql_text.js";
import { checkVector } from "./mysql_values.js";
import { doubleText, floatText } from "./numbers.js";
import { Rejection } from "./rejection.js";
import { decodeUtf8 } from "./utf8.js";

const DECIMAL_BYTES = 416;
const INT_MOST = 2n ** 32n - 1n;

function textOf(bytes) {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Rejection("not UTF-8");
  return text;
}

const texted = (type) => ({ avro: ["string"], read: (value) => ({ type, value: textOf(value) }) });
const labelled = (type) => ({ avro: ["string"], read: (value, ...context) => labels(type, textOf(value), ...context) });

/** Of each `tidb_type` the Avro types that it may have, and how a value is read. */
export const TIDB_TYPES = {
  __proto__: null,
  INT: { avro: ["int"], read: (value) => ({ type: "int32", value: String(value) }) },
  "INT UNSIGNED": {
    avro: ["int", "long"],
    read(value) {
      if (value < 0n || value > INT_MOST) throw new Rejection(`${value} is not an INT UNSIGNED`);
      return { type: "int32 unsigned", value: String(value) };
    },
  },
  BIGINT: { avro: ["long"], read: (value) => ({ type: "int64", value: String(value) }) },
  "BIGINT UNSIGNED": { avro: ["long", "string"], read: bigintUnsigned },
  FLOAT: { avro: ["float", "double"], read: (value) => ({ type: "float32", value: floatText(Math.fround(value)) }) },
  DOUBLE: { avro: ["double"], read: (value) => ({ type: "float64", value: doubleText(value) }) },
  DECIMAL: { avro: ["bytes", "string"], read: decimal },
  TEXT: {
    avro: ["string"],
    read(value) {
      const text = decodeUtf8(value);
      return text === null ? { type: "text", bytes: value.toString("base64") } : { type: "text", value: text };
    },
  },
  BLOB: { avro: ["bytes"], read: (value) => ({ type: "bytes", bytes: value.toString("base64") }) },
  BIT: {
    avro: ["bytes"],
    read(value) {
      if (value.length === 0 || value.length > 8) throw new Rejection("a BIT has 1 to 8 bytes");
      return { type: "bit", value: String(BigInt(`0x${value.toString("hex")}`)) };
    },
  },
  ENUM: labelled("enum"),
  SET: labelled("set"),
  JSON: texted("json"),
  DATE: texted("date"),
  DATETIME: texted("datetime"),
  TIMESTAMP: {
    avro: ["string"],
    read(value, field, plan, { options }) {
      const zone = option(options, "time-zone");
      return { type: "timestamp", value: textOf(value), ...(zone ? { zone } : {}) };
    },
  },
  TIME: texted("time"),
  YEAR: { avro: ["int"], read: (value) => ({ type: "year", value: String(value) }) },
  TiDBVECTORFloat32: { avro: ["string"], read: (value) => ({ type: "vector", value: checkVector(textOf(value)) }) },
};

export const toColumn = (value, field, plan, request) => TIDB_TYPES[field.parameters.tidb_type].read(value, field, plan, request);

function bigintUnsigned(value, field, plan, { options }) {
  const type = "int64 unsigned";
  if (typeof value === "bigint" && !isOn(options, "unsigned-wrap", true)) return { type: "int64", value: String(value) };
  if (typeof value === "bigint") return { type, value: String(BigInt.asUintN(64, value)) };
  const text = textOf(value);
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text) || BigInt(text) >= 2n ** 64n) throw new Rejection(`${text.slice(0, 40)} is not a BIGINT UNSIGNED`);
  return { type, value: text };
}

function decimal(value, field) {
  if (field.node.kind === "string") {
    const text = textOf(value);
    if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text)) throw new Rejection(`${text.slice(0, 40)} is not a decimal`);
    return { type: "decimal", value: text };
  }
  const extension = value[0] & 0x80 ? 0xff : 0;
  const length = value.length - Math.max(0, value.findIndex((byte) => byte !== extension));
  if (length > DECIMAL_BYTES) throw new Rejection(`a decimal of ${length} bytes`);
  if (field.decimal === null) throw new Rejection("a DECIMAL without precision and scale");
  return { type: "decimal", value: plainDecimal(bigInteger(value), field.decimal.scale) };
}

/** A label, with its number where the elements are known: by the table's definition, else by `allowed`. */
function labels(type, label, { name, parameters }, { schema, table }, { tables = [] }) {
  const definition = tables.find((each) => each.schema === schema && each.table === table);
  const column = definition?.columns.find((each) => each.name === name);
  const elements = (column && declaredOf(column).elements) ?? splitAllowed(parameters.allowed);
  const indexes = (type === "enum" ? [label] : label === "" ? [] : label.split(",")).map((each) => elements.indexOf(each));
  if (indexes.includes(-1)) return { type, label };
  const index = type === "enum" ? BigInt(indexes[0] + 1) : indexes.reduce((mask, each) => mask | (1n << BigInt(each)), 0n);
  return { type, label, index: String(index) };
}

const splitAllowed = (text = "") => [...text.matchAll(/((?:\\,|[^,])*)(?:,|$)/g)].map(([, each]) => each.replaceAll("\\,", ","));

const FOREIGN = {
  boolean: (value) => ({ type: "bool", value: String(value) }),
  int: (value) => ({ type: "int32", value: String(value) }),
  long: (value) => ({ type: "int64", value: String(value) }),
  float: (value) => ({ type: "float32", value: floatText(value) }),
  double: (value) => ({ type: "float64", value: doubleText(value) }),
  bytes: (value) => ({ type: "bytes", bytes: value.toString("base64") }),
  string: (value) => TIDB_TYPES.TEXT.read(value),
};

/** A column that no TiCDC writes: without a `tidb_type`, the kind of its Avro type; with one that is not known, unknown. */
export function foreignColumn(value, { node, parameters }) {
  const column = FOREIGN[node.kind]?.(value);
  if (column && parameters.tidb_type === undefined) return column;
  if (column) return { ...column, type: "unknown" };
  if (node.kind === "fixed") return { type: "unknown", bytes: value.toString("base64") };
  return { type: "unknown", value: node.kind === "enum" ? textOf(value) : JSON.stringify(value, jsonOf) };
}

const jsonOf = (_, value) => (typeof value === "bigint" ? String(value) : value);
