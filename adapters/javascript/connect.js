// Kafka Connect's JSON: an object of a schema and a payload, as JsonConverter writes it. CDL JSON and Debezium JSON are
// made of it.
//
// A schema is {type, optional, name, version, parameters, fallback, fields, items, keys, values}; `fields` is a Map.
// A value is null, or what its type wants: a BigInt, a number, a boolean, a string, a Buffer, an array, an array of pairs
// (map), or a Map of names (struct).

import { option } from "./events.js";
import { boolean, expect, integer, itemsOf, membersOf, string } from "./json_members.js";
import { parseInteger } from "./mysql_values.js";
import { parseDouble, parseFloat32 } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";
import { readJson } from "./strict_json.js";

const DEPTH = 64;
const SCHEMA_DEPTH = 24;
const NUMBER_LIMIT = 4096;
const DECIMAL_BYTES = 65536;
export const SCALE_LIMIT = 20000; // digits after the point of a decimal, or zeros before it
const INTEGER_BITS = { int8: 8, int16: 16, int32: 32, int64: 64 };
const TYPES = [...Object.keys(INTEGER_BITS), "float", "double", "boolean", "string", "bytes", "array", "map", "struct"];
const SCHEMA_MEMBERS = [
  ...["type", "fields", "items", "keys", "values", "optional", "name", "doc", "version", "parameters", "default", "field"],
];
export const CONNECT = "org.apache.kafka.connect.data.";
const BASE_TYPES = { Date: "int32", Time: "int32", Timestamp: "int64", Decimal: "bytes" };
const DAY_MS = 86400000n;

/**
 * Read a Kafka key or value: {schema, value, hasSchema}. `define(json)` may give the schema of a payload that has none;
 * otherwise it follows from the JSON.
 */
export function readConnect(bytes, options, define = () => undefined) {
  const rules = { isStrict: option(options, "lint", "") === "strict", replacesNull: isTrue(options, "replace-null-with-default") };
  return readJson(bytes, (json) => {
    const expected = String(option(options, "schemas-enable", "auto"));
    const { schemaJson, payload } = openEnvelope(json, expected);
    const hasSchema = schemaJson !== undefined && schemaJson.type !== "null";
    const schema = hasSchema
      ? inside(["schema"], () => readSchema(schemaJson, rules, 1))
      : (define(payload) ?? inferSchema(payload));
    return { schema, value: inside(schemaJson ? ["payload"] : [], () => readValue(payload, schema, rules)), hasSchema };
  }, { depth: DEPTH });
}

const isTrue = (options, name) => String(option(options, name, false)) === "true";

function openEnvelope(json, expected) {
  const members = json.type === "object" ? json.members : new Map();
  const names = ["schema", "payload"].filter((name) => members.has(name));
  if (names.length === 0) {
    if (expected === "true") throw new Rejection("a payload without schema", json.at);
    return { payload: json };
  }
  if (names.length < 2 || members.size > 2) throw new Rejection("an envelope has schema and payload", json.at);
  if (expected === "false") throw new Rejection("an envelope, and a payload alone is expected", json.at);
  return { schemaJson: members.get("schema"), payload: members.get("payload") };
}

// ---- schemas ---------------------------------------------------------------------------------------------------

export function readSchema(json, rules, depth) {
  if (depth > SCHEMA_DEPTH) throw new Rejection(`schemas nested deeper than ${SCHEMA_DEPTH}`, json.at);
  const members = membersOf(json);
  const member = (name) => (members(name)?.type === "null" ? undefined : members(name));
  const type = string(member("type"));
  if (!TYPES.includes(type)) throw new Rejection(`the type ${type}`, json.at);
  if (rules.isStrict)
    for (const name of json.members.keys())
      if (!SCHEMA_MEMBERS.includes(name)) throw new Rejection(`unknown member ${name} of a schema`, json.at);

  const schema = { type, optional: boolean(member("optional")), name: string(member("name")), version: null };
  string(member("doc"));
  const version = integer(member("version"));
  if (version !== null && BigInt.asIntN(32, version) !== version) throw new Rejection("a version of 32 bits", member("version").at);
  schema.parameters = readParameters(member("parameters"));
  const inner = (name) => {
    if (member(name) === undefined) throw new Rejection(`${name} is missing`, json.end - 1);
    return inside([name], () => readSchema(member(name), rules, depth + 1));
  };
  if (type === "struct") schema.fields = readFields(member("fields"), json, rules, depth);
  if (type === "array") schema.items = inner("items");
  if (type === "map") Object.assign(schema, { keys: inner("keys"), values: inner("values") });
  checkLogical(schema, json.at);
  if (member("default")) schema.fallback = { value: inside(["default"], () => readValue(member("default"), schema, rules)) };
  return schema;
}

function readFields(json, schema, rules, depth) {
  if (json === undefined) throw new Rejection("fields is missing", schema.end - 1);
  const fields = new Map();
  itemsOf(json).forEach((each, index) => {
    const nameJson = membersOf(each)("field");
    if (nameJson === undefined) throw new Rejection("a field without a name", each.at);
    const name = string(nameJson);
    if (fields.has(name)) throw new Rejection(`field ${name.slice(0, 40)} appears twice`, each.at);
    fields.set(name, inside(["fields", index], () => readSchema(each, rules, depth + 1)));
  });
  return fields;
}

function readParameters(json) {
  const parameters = {};
  if (json !== undefined) for (const [name, value] of expect(json, "object").members) parameters[name] = string(value);
  return parameters;
}

function checkLogical({ type, name, parameters }, at) {
  const logical = name?.startsWith(CONNECT) ? name.slice(CONNECT.length) : null;
  if (!Object.hasOwn(BASE_TYPES, logical ?? "")) return;
  if (BASE_TYPES[logical] !== type) throw new Rejection(`${logical} on ${type}`, at);
  if (logical !== "Decimal") return;
  if (!/^-?[0-9]{1,6}$/.test(parameters.scale ?? "") || Math.abs(parameters.scale) > SCALE_LIMIT)
    throw new Rejection("a Decimal without its scale", at);
}

const plainSchema = (type, more = {}) => ({ type, optional: true, name: null, parameters: {}, ...more });

/** The schema of a payload that has none: integers are int64, other numbers doubles. */
export function inferSchema(json) {
  switch (json.type) {
    case "object":
      return plainSchema("struct", { fields: new Map([...json.members].map(([name, value]) => [name, inferSchema(value)])) });
    case "array":
      return plainSchema("array", { items: inferItems(json.items) });
    case "number":
      return plainSchema(/[.eE]/.test(json.text) ? "double" : "int64");
    case "true":
    case "false":
      return plainSchema("boolean");
    default:
      return plainSchema("string");
  }
}

const NOT_FINITE = { NaN, Infinity, "-Infinity": -Infinity };

/** One schema that fits all items: doubles where a NaN or an infinity is among numbers. */
function inferItems(items) {
  const present = items.filter(({ type }) => type !== "null");
  const found = present.map(inferSchema);
  const numbers = present.filter(({ type }) => type === "number");
  const others = present.filter(({ type, text }) => type !== "number" && !(type === "string" && Object.hasOwn(NOT_FINITE, text)));
  if (present.length > 0 && others.length === 0 && (numbers.length < present.length || found.some(({ type }) => type === "double")))
    return plainSchema("double");
  return found[0] ?? plainSchema("string");
}

// ---- values ----------------------------------------------------------------------------------------------------

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function readValue(json, schema, rules = {}) {
  if (json.type === "null") {
    if (rules.replacesNull && schema.fallback) return schema.fallback.value;
    if (!schema.optional) throw new Rejection("null in a place that is not optional", json.at);
    return null;
  }
  const { type } = schema;
  switch (type) {
    case "float":
      return readFloat(json, parseFloat32);
    case "double":
      return readFloat(json, parseDouble);
    case "boolean":
      return boolean(json);
    case "string":
      return string(json);
    case "bytes":
      return schema.name === `${CONNECT}Decimal` ? readDecimal(json, Number(schema.parameters.scale)) : readBytes(json);
    case "array":
      return itemsOf(json).map((item, index) => inside([index], () => readValue(item, schema.items, rules)));
    case "map":
      return readMap(json, schema, rules);
    case "struct":
      return readStruct(json, schema, rules);
    default:
      return readInteger(json, schema);
  }
}

function boundedText(json) {
  const { text } = expect(json, "number");
  if (text.length > NUMBER_LIMIT) throw new Rejection(`a number of more than ${NUMBER_LIMIT} characters`, json.at);
  return text;
}

function readInteger(json, { type, name }) {
  const value = parseInteger(boundedText(json), false, json.at);
  if (BigInt.asIntN(INTEGER_BITS[type], value) !== value) throw new Rejection(`${value} is beyond ${type}`, json.at);
  if (name === `${CONNECT}Time` && (value < 0n || value > DAY_MS)) throw new Rejection(`${value} is not a Time`, json.at);
  return value;
}

function readFloat(json, parse) {
  if (json.type !== "string") return parse(boundedText(json), json.at);
  if (!Object.hasOwn(NOT_FINITE, json.text)) throw new Rejection("a number expected", json.at);
  return NOT_FINITE[json.text];
}

function readBytes(json) {
  const text = string(json);
  if (!BASE64.test(text)) throw new Rejection("not base64", json.at);
  return Buffer.from(text, "base64");
}

/** A Decimal as {unscaled, scale}. */
function readDecimal(json, scale) {
  if (json.type === "number") return decimalOfNumber(json, scale);
  const bytes = readBytes(json);
  return { unscaled: bigInteger(bytes, json.at), scale };
}

export function bigInteger(bytes, at) {
  if (bytes.length === 0 || bytes.length > DECIMAL_BYTES) throw new Rejection(`an integer of ${bytes.length} bytes`, at);
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString("hex")}`));
}

function decimalOfNumber(json, scale) {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(boundedText(json));
  const digits = `${whole}${fraction}`.replace(/0+$/, "") || "0";
  const end = `${whole}${fraction}`.length - digits.length;
  const own = fraction.length - end - Number(exponent); // digits after the point that are needed
  if (digits === "0") return { unscaled: 0n, scale };
  if (own > scale || Number(exponent) > DECIMAL_BYTES) throw new Rejection(`more than ${scale} digits after the point`, json.at);
  return { unscaled: BigInt(`${sign}${digits}`) * 10n ** BigInt(scale - own), scale };
}

function readMap(json, { keys, values }, rules) {
  if (keys.type === "string")
    return [...expect(json, "object").members].map(([name, value]) => [name, inside([name], () => readValue(value, values, rules))]);
  return itemsOf(json).map((pair, index) =>
    inside([index], () => {
      const items = itemsOf(pair);
      if (items.length !== 2) throw new Rejection("an entry has a key and a value", pair.at);
      return [readValue(items[0], keys, rules), readValue(items[1], values, rules)];
    }),
  );
}

function readStruct(json, { fields }, rules) {
  const { members } = expect(json, "object");
  if (rules.isStrict)
    for (const name of members.keys()) if (!fields.has(name)) throw new Rejection(`unknown member ${name}`, json.at);
  const struct = new Map();
  for (const [name, schema] of fields) {
    const value = members.get(name);
    if (value !== undefined) struct.set(name, inside([name], () => readValue(value, schema, rules)));
    else if (schema.fallback) struct.set(name, schema.fallback.value);
    else if (schema.optional) struct.set(name, null);
    else throw new Rejection(`member ${name} is missing`, json.end - 1);
  }
  return struct;
}
