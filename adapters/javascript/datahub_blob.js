// DataHub Blob: changes of a database as JSON, each with its own schema.

import { isBody, readBody } from "./datahub.js";
import { isOn, number, option } from "./events.js";
import { base64, expect, itemsOf, membersOf, numberText, presentMembersOf, string } from "./json_members.js";
import { doubleText, parseDouble } from "./numbers.js";
import { parseInteger } from "./mysql_values.js";
import { Rejection, inside } from "./rejection.js";
import { readJson } from "./strict_json.js";

export const without = [];

const DEPTH = 16;
const NUMBER_LIMIT = 1024;
const LATEST = 9999999999999n;
const JAVA_STREAM = Buffer.from("aced0005", "hex");

const row = (op, sides, half) => ({ kind: "row", op, sides, half });
const OPS = {
  INSERT: row("insert", ["after"]),
  UPDATE: row("update", ["before", "after"]),
  UPDATE_BEFOR: row("update", ["before"], "before"),
  UPDATE_AFTER: row("update", ["after"], "after"),
  DELETE: row("delete", ["before"]),
  MHEARTBEAT: { kind: "progress", what: "heartbeat", sides: [] },
  ...Object.fromEntries(
    ["CREATE", "ALTER", "QUERY", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "ERASE"].map((op) => [
      op,
      { kind: "ddl", what: op.toLowerCase(), sides: [] },
    ]),
  ),
  TRANSACTION_BEGIN: { kind: "marker", what: "begin", sides: [] },
  TRANSACTION_END: { kind: "marker", what: "end", sides: [] },
  GTID: { kind: "marker", what: "gtid", sides: [] },
  XACOMMIT: { kind: "marker", what: "xa_commit", sides: [] },
  XAROLLBACK: { kind: "marker", what: "xa_rollback", sides: [] },
};
const KINDS = { BOOLEAN: "bool", DOUBLE: "float64", DATE: "timestamp", BYTES: "bytes", LONG: "int64", STRING: "text" };

export function decodeMessage(message, request) {
  if (message.value === null) throw new Rejection("a message without a record");
  const encoding = option(request.options, "encoding", "record");
  if (encoding === "record" || (encoding === "auto" && !isBody(message, request.options))) return [readRecord(message.value, request.options)];
  return readBody(message, request.options, null).map(({ fields: [bytes], at }, index) =>
    inside(["Records", index], () => {
      if (bytes === null) throw new Rejection("a blob that is NULL", at);
      try {
        return readRecord(bytes, request.options);
      } catch (error) {
        if (error instanceof Rejection) error.offset = at; // a place inside a record is none of the body
        throw error;
      }
    }),
  );
}

const readRecord = (bytes, options) => readJson(bytes, (json) => eventOf(json, options), { depth: DEPTH });

function eventOf(json, options) {
  const member = presentMembersOf(json);
  const [schema, payload] = ["schema", "payload"].map((name) => {
    if (member(name) === undefined) throw new Rejection(`member ${name} is missing`, json.end - 1);
    return expect(member(name), "object");
  });
  const version = string(member("version"));
  if (version === null || !/^[0-9]+\.[0-9]+\.[0-9]+$/.test(version)) throw new Rejection("version has three numbers", json.end - 1);
  const opText = string(requiredPresent(payload, "op"));
  const name = opText === "UPDATE_BEFORE" && isOn(options, "lenient-ops") ? "UPDATE_BEFOR" : opText;
  if (!Object.hasOwn(OPS, name)) throw new Rejection(`unknown op ${opText.slice(0, 40)}`, membersOf(payload)("op").at);
  const op = OPS[name];

  const { columns, source, key } = inside(["schema"], () => readSchema(schema, op, name));
  const extra = { version };
  if (source.dbType !== null) extra.db_type = source.dbType;
  if (source.dbVersion !== null) extra.db_version = source.dbVersion;
  return inside(["payload"], () => {
    const images = readImages(payload, op, columns, number(options, "date-digits", 0));
    const ddl = readDdl(payload, op);
    if (ddl?.meta) extra.ddl_meta = { bytes: ddl.meta.toString("base64") };
    const position = positionOf(payload, op, extra);
    const table = op.kind === "row" || op.kind === "ddl" ? tableOf(source) : {};
    const { kind, what, op: operation, half } = op;
    if (kind === "row") return { kind, op: operation, ...table, key, position, ...(half ? { half } : {}), ...images, extra };
    return { kind, what, ...table, position, ...(ddl ? { query: ddl.text } : {}), extra };
  });
}

function requiredPresent(json, name) {
  const value = presentMembersOf(json)(name);
  if (value === undefined) throw new Rejection(`member ${name} is missing`, json.end - 1);
  return value;
}

// ---- schema ----------------------------------------------------------------------------------------------------

function readSchema(json, { kind }, name) {
  const member = presentMembersOf(json);
  const hasTable = kind === "row" || kind === "ddl";
  const [columnsJson, keyJson] = [member("dataColumn"), member("primaryKey")];
  if (!hasTable && (columnsJson || keyJson)) throw new Rejection("columns of an event without a table", json.at);
  if (kind === "row" && columnsJson === undefined) throw new Rejection("a row without dataColumn", json.end - 1);

  const columns = new Map();
  if (columnsJson) {
    for (const each of itemsOf(columnsJson)) {
      const [column, type] = ["name", "type"].map((part) => string(requiredPresent(each, part)));
      if (column === "") throw new Rejection("a column without a name", each.at);
      if (columns.has(column)) throw new Rejection(`column ${column.slice(0, 40)} is declared twice`, each.at);
      if (!Object.hasOwn(KINDS, type)) throw new Rejection(`type ${type.slice(0, 40)}`, each.at);
      columns.set(column, type);
    }
    if (columns.size === 0) throw new Rejection("dataColumn without columns", columnsJson.at);
  }
  const key = keyJson === undefined ? [] : itemsOf(keyJson).map(string);
  if (new Set(key).size < key.length) throw new Rejection("a key names a column twice", keyJson.at);
  if (key.some((each) => !columns.has(each))) throw new Rejection("a key of a column that is not declared", keyJson.at);
  return { columns, key, source: readSource(member("source"), json, hasTable, name === "QUERY") };
}

function readSource(json, schema, isNeeded, isQuery) {
  if (json === undefined && isNeeded) throw new Rejection("source is missing", schema.end - 1);
  const member = json ? presentMembersOf(json) : () => undefined;
  const names = ["dbType", "dbName", "tableName", "dbVersion", "schemaName"];
  const source = Object.fromEntries(names.map((name) => [name, string(member(name))]));
  const missing = isNeeded && !isQuery && names.slice(0, 3).find((name) => source[name] === null);
  if (missing) throw new Rejection(`${missing} is missing`, json.end - 1);
  return source;
}

function tableOf({ dbName, schemaName, tableName }) {
  const table = {};
  if (schemaName !== null && dbName !== null) table.database = dbName;
  if ((schemaName ?? dbName) !== null) table.schema = schemaName ?? dbName;
  if (tableName !== null) table.table = tableName;
  return table;
}

// ---- payload ---------------------------------------------------------------------------------------------------

function readImages(payload, { kind, sides }, columns, dateDigits) {
  const member = presentMembersOf(payload);
  const images = { before: null, after: null };
  for (const side of ["before", "after"]) {
    const json = member(side);
    if ((json !== undefined) !== sides.includes(side))
      throw new Rejection(`${side} ${json ? "must not be" : "is not"} there`, json?.at ?? payload.end - 1);
    if (json) images[side] = inside([side], () => readImage(json, columns, dateDigits));
  }
  return kind === "row" ? images : {};
}

function readImage(json, columns, dateDigits) {
  const data = expect(requiredPresent(json, "dataColumn"), "object");
  if (data.members.size === 0) throw new Rejection("an image without a column", data.at);
  const image = Object.create(null); // a column may be named __proto__
  for (const [name, value] of data.members) {
    if (!columns.has(name)) throw new Rejection(`column ${name.slice(0, 40)} is not declared`, value.at);
    const type = columns.get(name);
    const read = () => (value.type === "null" ? null : { type: KINDS[type], ...READERS[type](value, dateDigits) });
    image[name] = inside(["dataColumn", name], read);
  }
  return image;
}

function readDdl(payload, { kind }) {
  const json = presentMembersOf(payload)("ddl");
  if ((json !== undefined) !== (kind === "ddl")) throw new Rejection("only a DDL has ddl", json?.at ?? payload.end - 1);
  if (json === undefined) return null;
  const text = string(requiredPresent(json, "text"));
  if (text === "") throw new Rejection("an empty statement", json.at);
  const metaJson = presentMembersOf(json)("ddlMeta");
  const meta = metaJson ? base64(metaJson) : null;
  if (meta && !meta.subarray(0, 4).equals(JAVA_STREAM)) throw new Rejection("ddlMeta is not a Java stream", metaJson.at);
  return { text, meta };
}

function positionOf(payload, { kind }, extra) {
  const times = presentMembersOf(requiredPresent(payload, "timestamp"));
  const time = (name) => {
    const json = times(name);
    if (json === undefined) return null;
    const value = parseInteger(boundedNumber(json), false, json.at);
    if (value < 0n || value > LATEST) throw new Rejection(`${value} is not a time in milliseconds`, json.at);
    return String(value);
  };
  const position = { commit_ms: time("eventTime") };
  if (position.commit_ms === null) throw new Rejection("eventTime is missing", presentMembersOf(payload)("timestamp").end - 1);
  const [sent, checkpoint] = [time("systemTime"), time("checkpointTime")];
  if (sent !== null) position.sent_ms = sent;
  if (checkpoint !== null) extra.checkpoint_ms = checkpoint;

  const json = presentMembersOf(payload)("sequenceId");
  if (json === undefined && kind !== "progress") throw new Rejection("sequenceId is missing", payload.end - 1);
  if (json === undefined) return position;
  if (!/^[0-9]{1,38}$/.test(string(json))) throw new Rejection("a sequence id has 1 to 38 digits", json.at);
  return { sequence_id: String(BigInt(json.text)), ...position };
}

// ---- values ----------------------------------------------------------------------------------------------------

function boundedNumber(json) {
  const text = numberText(json);
  if (text.length > NUMBER_LIMIT) throw new Rejection(`a number of more than ${NUMBER_LIMIT} characters`, json.at);
  return text;
}

const READERS = {
  BOOLEAN(json) {
    if (json.type !== "true" && json.type !== "false") throw new Rejection("true or false expected", json.at);
    return { value: json.type };
  },
  LONG: (json) => ({ value: String(parseInteger(boundedNumber(json), false, json.at)) }),
  DOUBLE: (json) => ({ value: doubleText(parseDouble(boundedNumber(json), json.at)) }),
  DATE(json, digits) {
    const value = String(parseInteger(boundedNumber(json), false, json.at));
    if (digits > 0 && (value.length !== digits || value.startsWith("-")))
      throw new Rejection(`a DATE has ${digits} digits`, json.at);
    return { value, unit: "ms", zone: "+00:00" };
  },
  BYTES: (json) => ({ bytes: base64(json).toString("base64") }),
  STRING: (json) => ({ value: string(json) }),
};
