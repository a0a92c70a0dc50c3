// CDL JSON 1.0: row changes of the Cloud Data Lake loader.

import { readConnect } from "./connect.js";
import { toImage } from "./connect_columns.js";
import { rowSchema } from "./connect_tables.js";
import { option } from "./events.js";
import { Rejection, inside } from "./rejection.js";

export const without = [];

const OPERATIONS = { INSERT: "insert", UPDATE: "update", DELETE: "delete" };
const IMAGES = { INSERT: [["data"], []], UPDATE: [["data"], ["before"]], DELETE: [["before"], []] }; // needed, allowed
const REQUIRED = ["DATA_STORE", "SEG_OWNER", "TABLE_NAME", "TIMESTAMP", "OPERATION", "transaction", "message_version", "message_type"];

export function decodeMessage({ key, value }, { options, tables = [] }) {
  if (key !== null) inside(["key"], () => readConnect(key, options));
  if (value === null) return [tombstone(key)];
  const isStrict = option(options, "lint", "") === "strict";
  return [inside(["value"], () => eventOf(readConnect(value, options, (json) => defineRows(json, tables)), isStrict))];
}

export const tombstone = (key) => ({
  kind: "marker",
  what: "tombstone",
  position: {},
  extra: { message_key: key === null ? null : { bytes: key.toString("base64") } },
});

function defineRows(json, tables) {
  const name = (member) => json.members?.get(member)?.text;
  return rowSchema(json, tables, name("SEG_OWNER"), name("TABLE_NAME"), ["data", "before", "unique"]);
}

function eventOf({ schema, value: payload }, isStrict) {
  const fail = (problem) => {
    throw new Rejection(problem);
  };
  if (schema.type !== "struct" || payload === null) fail("a change is a struct");
  const get = (name, type) => {
    const value = payload.get(name) ?? null;
    if (value === null && REQUIRED.includes(name)) fail(`${name} is missing`);
    if (value !== null && schema.fields.get(name).type !== type) fail(`${name} is not ${type}`);
    return value;
  };
  const text = (name) => get(name, "string");
  const operation = text("OPERATION");
  if (!Object.hasOwn(OPERATIONS, operation)) fail(`operation ${operation.slice(0, 40)}`);
  if (text("message_version") !== "1.0") fail(`message_version ${text("message_version").slice(0, 40)}`);
  if (isStrict && text("message_type") !== "0") fail(`message_type ${text("message_type").slice(0, 40)}`);

  const [needed, allowed] = IMAGES[operation];
  const structs = {};
  for (const name of ["data", "before"]) {
    structs[name] = get(name, "struct");
    if (needed.includes(name) && structs[name] === null) fail(`${operation} without ${name}`);
    if (structs[name] !== null && !needed.includes(name) && !allowed.includes(name)) fail(`${operation} with ${name}`);
  }
  const image = (name) => structs[name] && inside([name], () => toImage(structs[name], schema.fields.get(name)));
  const unique = get("unique", "struct");
  if (isStrict) checkColumns(schema, structs, unique, image, fail);

  const extra = { connector: text("DATA_STORE") };
  if (text("HEARTBEAT_IDENTIFIER") !== null) extra.heartbeat_identifier = text("HEARTBEAT_IDENTIFIER");
  if (text("LOB_COLUMNS") !== null) extra.lob_columns = text("LOB_COLUMNS");
  if (text("message_type") !== "0") extra.message_type = text("message_type");
  const position = { ...readTransaction(get("transaction", "struct"), extra, fail), commit_ms: String(get("TIMESTAMP", "int64")) };
  return {
    ...{ kind: "row", op: OPERATIONS[operation], schema: text("SEG_OWNER"), table: text("TABLE_NAME") },
    ...{ key: [...(schema.fields.get("unique")?.fields?.keys() ?? [])], position, before: image("before"), after: image("data"), extra },
  };
}

/** lsn and tx_id of the properties; others go into `extra`. */
function readTransaction(struct, extra, fail) {
  const position = {};
  const others = {};
  const names = new Set();
  const properties = struct.get("properties");
  if (!Array.isArray(properties)) fail("transaction without an array of properties");
  for (const property of properties) {
    const [name, value] = property instanceof Map ? [property.get("name"), property.get("value")] : [];
    if (typeof name !== "string" || typeof value !== "bigint") fail("a property has a name and a number");
    if (names.has(name)) fail(`property ${name.slice(0, 40)} appears twice`);
    names.add(name);
    if (name === "lsn") position.lsn = String(value);
    else if (name === "txId") position.tx_id = String(value);
    else others[name] = value;
  }
  const entries = Object.entries(others).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  if (entries.length > 0) extra.transaction_properties = `{${entries.join(",")}}`;
  return position;
}

function checkColumns({ fields }, structs, unique, image, fail) {
  const names = (name) => [...(fields.get(name)?.fields?.keys() ?? [])].join("\0");
  if (["data", "before"].every((name) => fields.get(name)?.fields) && names("data") !== names("before")) fail("data and before have other columns");
  const row = image(structs.data ? "data" : "before");
  const key = unique ? toImage(unique, fields.get("unique")) : {};
  for (const [name, value] of Object.entries(key))
    if (JSON.stringify(row[name]) !== JSON.stringify(value)) fail(`unique has another ${name.slice(0, 40)} than the row`);
}
