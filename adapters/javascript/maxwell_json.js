// Maxwell JSON: rows, schema changes and bootstraps of MySQL, as Maxwell's daemon writes them.

import { tombstone } from "./cdl_json.js";
import { boolean, expect, integer, itemsOf, membersOf, nameText, numberText, required, strictBase64, string } from "./json_members.js";
import { CHECKS, declaredOf, parseFloating, typeOf } from "./mysql_text.js";
import { parseInteger } from "./mysql_values.js";
import { doubleText, floatText, plainDecimal } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";
import { readJson } from "./strict_json.js";

export const without = [];

const DEPTH = 128;
const NUMBER_LIMIT = 400;
const EXPONENT_LIMIT = 999;
const ROWS = { insert: "insert", update: "update", delete: "delete", "bootstrap-insert": "read" };
const BORDERS = ["bootstrap-start", "bootstrap-complete"];
const DDL = { create: "create", alter: "alter", drop: "erase" };

export function decodeMessage({ key, value }, request) {
  // The key of a schema change is a random UUID, so a key is read with a row only.
  const keyColumns = () => (key === null ? null : inside(["key"], () => readJson(key, readKey, { depth: DEPTH })));
  if (value === null) {
    keyColumns();
    return [tombstone(key)];
  }
  return [readJson(value, (json, text) => readMessage(json, text, keyColumns, request), { depth: DEPTH })];
}

/** The names of the key columns, in lower case; none for a table without primary key. */
function readKey(json) {
  if (json.type === "array") {
    const items = itemsOf(json);
    if (items.length !== 3) throw new Rejection("a key has database, table and columns", json.at);
    items.slice(0, 2).forEach(nameText);
    return itemsOf(items[2]).map((column) => {
      membersOf(column);
      if (column.members.size !== 1) throw new Rejection("an object per column", column.at);
      return [...column.members.keys()][0];
    });
  }
  for (const name of ["database", "table"]) nameText(required(json, name));
  const names = [...json.members.keys()].filter((name) => !["database", "table", "_uuid"].includes(name));
  return names.map((name) => {
    if (!name.startsWith("pk.")) throw new Rejection(`member ${name.slice(0, 40)} of a key`, json.members.get(name).at);
    return name.slice(3);
  });
}

function readMessage(json, text, keyColumns, request) {
  const member = membersOf(json);
  if (member("encrypted")) throw new Rejection("an encrypted message", member("encrypted").at);
  const type = string(required(json, "type"));
  if (Object.hasOwn(ROWS, type) || BORDERS.includes(type)) return readRow(json, text, type, keyColumns(), request);
  const [, object, verb] = /^(table|database)-(create|alter|drop)$/.exec(type) ?? [];
  if (object === undefined) throw new Rejection(`type ${type.slice(0, 40)}`, member("type").at);
  return readSchemaChange(json, object, verb);
}

// ---- rows ------------------------------------------------------------------------------------------------------

const TEXTS = { query: "query", comment: "comment", position: "binlog_position" };

function readRow(json, text, type, keyColumns, { tables = [], options }) {
  const member = membersOf(json);
  const [schema, table] = ["database", "table"].map((name) => nameText(required(json, name)));
  const definition = tables.find((each) => each.schema === schema && each.table === table);
  const columns = new Map(definition?.columns.map((column) => [column.name, declaredOf({ type: column.type })]));
  const image = (name) => inside([name], () => readImage(member(name), text, columns));

  const seconds = integer(required(json, "ts"));
  if (BigInt.asIntN(64, seconds * 1000n) !== seconds * 1000n) throw new Rejection("ts is too large", member("ts").at);
  const position = { commit_ms: String(seconds * 1000n) };
  if (member("xid")) position.tx_id = String(integer(member("xid")));
  if (member("xoffset")) position.tx_order = String(integer(member("xoffset")));
  const extra = readExtra(member);
  const named = readKeyColumns(member);

  const data = (required(json, "data"), image("data"));
  if (member("old") && type !== "update") throw new Rejection("only updates have old", member("old").at);
  if (BORDERS.includes(type)) {
    if (Object.keys(data).length > 0) throw new Rejection("the border of a bootstrap has no columns", member("data").at);
    return { kind: "marker", what: "logical_message", position, extra: { message_type: type, schema, table } };
  }
  if (Object.keys(data).length === 0) throw new Rejection("data has a column at least", member("data").at);
  const event = { kind: "row", op: ROWS[type], schema, table, position };
  const key = named ?? definition?.key ?? keyColumns?.map((name) => sameName(name, data));
  if (key) event.key = key;
  const old = member("old") ? image("old") : null;
  Object.assign(event, type === "delete" ? { before: data, after: null } : { before: old, after: data });
  if (old && String(options?.output_nulls ?? true) === "true") event.sent = "changed";
  return Object.keys(extra).length > 0 ? { ...event, extra } : event;
}

const sameName = (name, row) => Object.keys(row).find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;

function readExtra(member) {
  const extra = {};
  for (const [name, meaning] of Object.entries(TEXTS)) if (member(name)) extra[meaning] = string(member(name));
  if (member("gtid") && member("gtid").type !== "null") extra.gtid = string(member("gtid"));
  for (const name of ["server_id", "thread_id", "schema_id"]) if (member(name)) extra[name] = String(integer(member(name)));
  if (member("push_ts")) extra.push_ts = numberText(member("push_ts"));
  if (boolean(member("commit"))) extra.commit = "true";
  return extra;
}

/** The columns of the primary key, or null where the message does not name them. */
function readKeyColumns(member) {
  if (member("primary_key")) itemsOf(member("primary_key"));
  if (member("primary_key_columns") === undefined) return null;
  const names = itemsOf(member("primary_key_columns")).map(nameText);
  if (new Set(names).size < names.length) throw new Rejection("a key column appears twice", member("primary_key_columns").at);
  return names;
}

function readImage(json, text, columns) {
  membersOf(json);
  const image = Object.create(null); // a column may be named __proto__
  for (const [name, value] of json.members) {
    const read = () => (columns.has(name) ? readTyped(value, text, columns.get(name)) : readUntyped(value, text));
    image[name] = value.type === "null" ? null : inside([name], read);
  }
  return image;
}

// ---- values ----------------------------------------------------------------------------------------------------

function boundedNumber(json) {
  const text = numberText(json);
  const exponent = /[eE][+-]?0*([0-9]*)$/.exec(text)?.[1] ?? "";
  if (text.length > NUMBER_LIMIT || exponent.length > 3) throw new Rejection("a number that is too long", json.at);
  return text;
}

/** A value whose column is not defined: as the JSON says. */
function readUntyped(json, text) {
  if (json.type === "string") return { type: "text", value: json.text };
  if (json.type !== "number") return { type: "json", value: text.slice(json.at, json.end) };
  const number = boundedNumber(json);
  if (/^-?[0-9]+$/.test(number)) {
    const value = BigInt(number);
    if (BigInt.asIntN(64, value) === value) return { type: "int64", value: String(value) };
    if (BigInt.asUintN(64, value) === value) return { type: "int64 unsigned", value: String(value) };
  }
  return { type: "decimal", value: plainDecimal(number, EXPONENT_LIMIT) };
}

function readTyped(json, text, column) {
  const { kind } = column;
  const type = typeOf(column);
  switch (kind) {
    case "int8":
    case "int16":
    case "int24":
    case "int32":
    case "int64":
    case "bit":
    case "year": {
      const value = String(parseInteger(boundedNumber(json), kind === "bit" || column.unsigned, json.at));
      if (kind !== "year") CHECKS[kind](value, column, json.at); // YEAR 0 is sent as 1900
      return { type, value };
    }
    case "float32":
      return { type, value: floatText(parseFloating(boundedNumber(json), kind, json.at)) };
    case "float64":
      return { type, value: doubleText(parseFloating(boundedNumber(json), kind, json.at)) };
    case "decimal":
      return { type, value: plainDecimal(boundedNumber(json), EXPONENT_LIMIT) };
    case "text":
      return { type, value: string(json) };
    case "bytes":
      return { type, bytes: strictBase64(string(json), json.at).toString("base64") };
    case "enum":
      return { type, label: string(json) };
    case "set":
      return { type, label: itemsOf(json).map((item) => expect(item, "string").text).join(",") };
    case "json":
      return { type, value: text.slice(json.at, json.end) };
    case "date":
    case "time":
    case "datetime":
    case "timestamp":
      CHECKS[kind](string(json), { parameters: [] }, json.at);
      return { type, value: json.text, ...(kind === "timestamp" ? { zone: "+00:00" } : {}) };
    default:
      return readUntyped(json, text);
  }
}

// ---- schema changes --------------------------------------------------------------------------------------------

function readSchemaChange(json, object, verb) {
  const member = membersOf(json);
  const event = { kind: "ddl", what: DDL[verb], query: string(required(json, "sql")), schema: nameText(required(json, "database")) };
  if (object === "table") event.table = nameText(required(json, "table"));
  nullableString(member("charset"));
  event.position = { commit_ms: String(integer(required(json, "ts"))) };
  if (object === "table" && verb !== "drop") {
    const definition = inside(["def"], () => readDefinition(required(json, "def")));
    if (verb === "alter") {
      const old = inside(["old"], () => readDefinition(required(json, "old")));
      if (old.schema !== definition.schema || old.table !== definition.table) event.what = "rename";
    }
    Object.assign(event, definition);
  }
  const extra = readExtra(member);
  return Object.keys(extra).length > 0 ? { ...event, extra } : event;
}

function nullableString(json) {
  if (json?.type !== "null") string(json);
}

function readDefinition(json) {
  const member = membersOf(json);
  const [schema, table] = ["database", "table"].map((name) => nameText(required(json, name)));
  nullableString(member("charset"));
  const columns = itemsOf(required(json, "columns")).map(readColumn);
  const names = columns.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Rejection("a column appears twice", member("columns").at);
  return { schema, table, columns, key: itemsOf(required(json, "primary-key")).map(nameText) };
}

function readColumn(json) {
  const member = membersOf(json);
  const [name, type] = ["name", "type"].map((each) => nameText(required(json, each)));
  const isUnsigned = member("signed") !== undefined && !boolean(member("signed"));
  nullableString(member("charset"));
  integer(member("column-length"));
  if (member("enum-values")) itemsOf(member("enum-values")).forEach(string);
  return { name, source: isUnsigned ? `${type} unsigned` : type };
}
