// Simple in JSON: a message, its table schemas and its values.

import { base64, boolean, checkName, expect, integer, itemsOf, membersOf, nameText, required, string } from "./json_members.js";
import { Rejection, inside } from "./rejection.js";
import { newSchema } from "./simple_schemas.js";
import { textColumn, timestampColumn } from "./simple_values.js";
import { readJson } from "./strict_json.js";

const ROWS = ["INSERT", "UPDATE", "DELETE"];
const STATEMENTS = ["CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY"];
const TYPES = [...ROWS, ...STATEMENTS, "BOOTSTRAP", "WATERMARK"];

export const read = (bytes, use) => readJson(bytes, (json) => use(readMessage(json)));

function readMessage(json) {
  const member = membersOf(json);
  const type = string(required(json, "type"));
  if (!TYPES.includes(type)) throw new Rejection(`type ${type.slice(0, 40)}`, member("type").at);
  const message = {
    type,
    version: integer(required(json, "version")),
    commitTs: integer(required(json, "commitTs"), true),
    buildTs: integer(required(json, "buildTs")),
  };
  if (type === "WATERMARK") return message;
  if (ROWS.includes(type)) return { ...message, ...readRow(json, type) };
  for (const name of ["tableSchema", "preTableSchema"]) message[name] = inside([name], () => readSchema(member(name)));
  if (type !== "BOOTSTRAP") message.sql = string(required(json, "sql"));
  return message;
}

// ---- rows ------------------------------------------------------------------------------------------------------

function readRow(json, type) {
  const member = membersOf(json);
  const [data, old] = ["data", "old"].map((name) => inside([name], () => readImage(member(name))));
  if (type === "DELETE" && data !== null) throw new Rejection("data of a delete", member("data").at);
  if (type === "INSERT" && old !== null) throw new Rejection("old of an insert", member("old").at);
  if (type === "UPDATE" && (data === null) !== (old === null)) throw new Rejection("an update has data and old", json.end - 1);
  return {
    database: nameText(member("database")) ?? "",
    table: nameText(member("table")) ?? "",
    tableId: integer(member("tableID")) ?? 0n,
    schemaVersion: integer(member("schemaVersion"), true) ?? 0n,
    claimCheck: string(member("claimCheckLocation")) || null,
    handleKeyOnly: boolean(member("handleKeyOnly")),
    checksum: inside(["checksum"], () => readChecksum(member("checksum"))),
    // A row without any column has neither member.
    data: type === "DELETE" ? null : (data ?? new Map()),
    old: type === "INSERT" ? null : (old ?? new Map()),
  };
}

/** The values of a row by column, or null. */
function readImage(json) {
  if (json === undefined) return null;
  for (const [name, value] of expect(json, "object").members) checkName(name, value);
  return json.members;
}

function readChecksum(json) {
  if (json === undefined) return null;
  const sum = (name) => {
    const value = integer(required(json, name), true);
    if (value >= 2n ** 32n) throw new Rejection("a checksum of more than 32 bits", required(json, name).at);
    return value;
  };
  return {
    version: integer(required(json, "version")),
    corrupted: boolean(required(json, "corrupted")),
    current: sum("current"),
    previous: sum("previous"),
  };
}

/** The column object of a value; SQL NULL is null. */
export function toColumn(json, column) {
  if (json.type === "null") return null;
  if (column.kind === "timestamp")
    return timestampColumn(string(required(json, "value")), string(required(json, "location")), column, json.at);
  if (column.kind === "bytes") return { type: "bytes", bytes: base64(json).toString("base64") };
  return textColumn(string(json), column, json.at);
}

// ---- table schemas ---------------------------------------------------------------------------------------------

function readSchema(json) {
  if (json === undefined) return null;
  const columns = itemsOf(required(json, "columns")).map((each, index) => inside(["columns", index], () => readColumn(each)));
  const indexes = itemsOf(required(json, "indexes")).map((each, index) => inside(["indexes", index], () => readIndex(each)));
  const schema = {
    schema: nameText(required(json, "schema")),
    table: nameText(required(json, "table")),
    tableId: integer(required(json, "tableID")),
    version: integer(required(json, "version"), true),
  };
  return newSchema({ ...schema, columns, indexes }, json.at);
}

function readColumn(json) {
  const name = nameText(required(json, "name"));
  boolean(required(json, "nullable"));
  const type = inside(["dataType"], () => readType(required(json, "dataType")));
  const initial = membersOf(json)("default");
  if (initial?.type === "number") integer(initial, true);
  else if (initial !== undefined && initial.type !== "null") string(initial);
  return { name, ...type };
}

function readType(json) {
  const member = membersOf(json);
  const elements = member("elements");
  for (const name of ["charset", "collate"]) string(required(json, name));
  boolean(member("zerofill"));
  return {
    mysqlType: string(required(json, "mysqlType")),
    length: integer(member("length")) ?? 0n,
    decimal: integer(member("decimal")),
    unsigned: boolean(member("unsigned")),
    elements: elements === undefined ? null : itemsOf(elements).map(string),
  };
}

function readIndex(json) {
  nameText(required(json, "name"));
  const [unique, primary, nullable] = ["unique", "primary", "nullable"].map((name) => boolean(required(json, name)));
  return { unique, primary, nullable, columns: itemsOf(required(json, "columns")).map(nameText) };
}
