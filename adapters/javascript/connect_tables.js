// Payloads of Kafka Connect without schema: their columns typed by the definition of the table.

import { CONNECT, inferSchema } from "./connect.js";

const KIND_TYPES = {
  bool: "boolean", int8: "int8", int16: "int16", int24: "int32", int32: "int32", int64: "int64", float32: "float",
  float64: "double", text: "string", bytes: "bytes", bit: "bytes", enum: "string", set: "string", json: "string", year: "int32",
}; // prettier-ignore
const TIME_TYPES = {
  Date: "int32", Time: "int32", MicroTime: "int64", NanoTime: "int64", Timestamp: "int64", MicroTimestamp: "int64",
  NanoTimestamp: "int64", MicroDuration: "int64", Year: "int32",
}; // prettier-ignore
const LOGICAL = /^(?:org\.apache\.kafka\.connect\.data|io\.debezium\.(?:time|data))\.(\w+)$/;

/** The schema of a change without schema, whose `images` are rows of a table; undefined if nothing is known of it. */
export function rowSchema(json, tables, schemaName, tableName, images) {
  const table = tables.find((each) => (each.schema ?? undefined) === schemaName && each.table === tableName);
  if (json.type !== "object" || table === undefined) return undefined;
  const schema = inferSchema(json);
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  for (const name of images) {
    const image = json.members.get(name);
    if (image?.type !== "object") continue;
    const fields = new Map(
      [...image.members].map(([column, value]) => [column, columnSchema(columns.get(column), value) ?? inferSchema(value)]),
    );
    schema.fields.set(name, { ...schema.fields.get(name), fields });
  }
  return schema;
}

/** The schema of a column: by the name that its `source` gives, else by its kind. */
function columnSchema(column, value) {
  if (column === undefined) return undefined;
  const { type, source = "" } = column;
  const [, kind, inner] = /^(\w+)(?:\((.*)\))?/s.exec(type);
  const logical = LOGICAL.exec(source)?.[1];
  const schema = { optional: true, name: logical || /\.cdc\.data\./.test(source) ? source : null, parameters: {} };
  const elementSource = /^array of (.*)$/.exec(source)?.[1];
  const element = /^array<(.*)>$/s.exec(type)?.[1];
  if (element !== undefined && value.type === "array") {
    const items = value.items.find((item) => item.type !== "null");
    const itemSchema = columnSchema({ type: element, source: elementSource }, items ?? value) ?? inferSchema(items ?? value);
    return { ...schema, type: "array", name: null, items: itemSchema };
  }
  if (source === `${CONNECT}Decimal` || (kind === "decimal" && schema.name === null)) {
    if (value.type === "string" && inner === undefined) return undefined;
    return { ...schema, type: "bytes", name: `${CONNECT}Decimal`, parameters: { scale: (inner ?? "").split(",")[1] ?? "0" } };
  }
  if (schema.name !== null && value.type === "string" && !TIME_TYPES[logical] && logical !== "Bits") return { ...schema, type: "string" };
  if (TIME_TYPES[logical] && value.type === "number") return { ...schema, type: TIME_TYPES[logical] };
  if (logical === "Bits") return { ...schema, type: "bytes" };
  if (["enum", "set", "json"].includes(kind) && schema.name === null)
    return { ...schema, type: "string", name: `io.debezium.data.${{ enum: "Enum", set: "EnumSet", json: "Json" }[kind]}` };
  if (["object", "array"].includes(value.type)) return { ...inferSchema(value), name: schema.name };
  return KIND_TYPES[kind] ? { ...schema, type: KIND_TYPES[kind] } : undefined;
}
