// TiCDC's Simple: one event per Kafka message, in JSON or Avro. Messages of their own carry the table schemas.

import { openMessage } from "./compression.js";
import { findBlob, isOn, option } from "./events.js";
import { required, strictBase64, string } from "./json_members.js";
import { Rejection, inside } from "./rejection.js";
import * as avro from "./simple_avro.js";
import * as json from "./simple_json.js";
import { findSchema } from "./simple_schemas.js";
import { readJson } from "./strict_json.js";

export const without = [];

const VERSION = 1n;
const OPERATIONS = { INSERT: "insert", UPDATE: "update", DELETE: "delete" };
const ENCODINGS = { json, avro };

export function decodeMessage({ value }, request) {
  return readMessage(value, request, (message) => {
    if (message.type === "BOOTSTRAP") return readBootstrap(message);
    if (message.type === "WATERMARK") return [{ kind: "progress", what: "watermark", position: positionOf(message) }];
    return [Object.hasOwn(OPERATIONS, message.type) ? rowEvent(message, request) : ddlEvent(message)];
  });
}

/** What `use` gives of the message in `bytes`. Places in a rejection are right if `use` throws it. */
function readMessage(bytes, { options }, use) {
  const opened = openMessage(bytes, option(options, "large-message-handle-compression", "none"));
  if (opened === null) throw new Rejection("a message without value", 0);
  return encodingOf(options).read(opened, (message) => {
    if (message.version !== VERSION) throw new Rejection(`version ${message.version}`);
    return use(message);
  });
}

const encodingOf = (options) => ENCODINGS[option(options, "encoding-format", "json")];

const positionOf = ({ commitTs, buildTs }) => ({ commit_ts: String(commitTs), sent_ms: String(buildTs) });

function readBootstrap({ commitTs, tableSchema }) {
  if (commitTs !== 0n) throw new Rejection("a table schema has the commitTs 0");
  if (tableSchema === null) throw new Rejection("a bootstrap message without tableSchema");
  return [];
}

function ddlEvent({ type, sql, tableSchema, ...message }) {
  const names = tableSchema === null ? {} : { schema: tableSchema.schema, table: tableSchema.table };
  return { kind: "ddl", what: type.toLowerCase(), ...names, position: positionOf(message), query: sql };
}

// ---- table schemas of the feed ---------------------------------------------------------------------------------

const schemasOf = new WeakMap();

/** The table schemas of a request, in the order of their messages; broken messages are reported when they are read. */
function feedSchemas(request) {
  if (!schemasOf.has(request)) {
    const found = [];
    for (const { value } of request.messages ?? []) {
      try {
        const bytes = typeof value === "string" ? Buffer.from(value, "base64") : null;
        readMessage(bytes, request, ({ preTableSchema, tableSchema }) => found.push(preTableSchema, tableSchema));
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
      }
    }
    schemasOf.set(request, found.filter((schema) => schema !== null && schema !== undefined));
  }
  return schemasOf.get(request);
}

// ---- rows ------------------------------------------------------------------------------------------------------

function rowEvent(message, request) {
  const { claimCheck, handleKeyOnly, database, table, type } = message;
  const schema = findSchema(message, namesOf(message), feedSchemas(request), request.tables ?? []);
  const stored = claimCheck === null ? null : inside(["claim check"], () => readStored(message, schema, request));
  return {
    ...{ kind: "row", op: OPERATIONS[type], schema: database, table, key: schema.key, position: positionOf(message) },
    ...imagesOf(stored ?? message, schema, request),
    ...(stored === null && (handleKeyOnly || claimCheck !== null) ? { sent: "key" } : {}),
    extra: extraOf(message),
  };
}

const namesOf = ({ data, old }) => new Set([...(data ?? []), ...(old ?? [])].map(([name]) => name));

function imagesOf({ data, old }, schema, { options }) {
  const { toColumn } = encodingOf(options);
  const read = (which, cells) => {
    if (cells === null) return null;
    const image = Object.create(null); // a column may be named __proto__
    for (const [name, cell] of cells) image[name] = inside([which, name], () => toColumn(cell, schema.columns.get(name)));
    return image;
  };
  return { before: read("old", old), after: read("data", data) };
}

function extraOf({ checksum, claimCheck, tableId }) {
  const extra = { table_id: String(tableId) };
  if (claimCheck !== null) extra.claim_check = claimCheck;
  if (checksum === null) return extra;
  const { version, corrupted, current, previous } = checksum;
  return {
    ...extra,
    checksum: String(current),
    checksum_previous: String(previous),
    checksum_version: String(version),
    corrupted: String(corrupted),
  };
}

// ---- claim check -----------------------------------------------------------------------------------------------

/** The whole message of a row, from the file that it names; null if the file is not there. */
function readStored(message, schema, request) {
  const file = findBlob(message.claimCheck, request.blobs ?? {});
  if (file === undefined) return null; // the key columns and the location are all that is known
  return readMessage(storedValue(file, request.options), request, (stored) => {
    const isSame = ["type", "database", "table", "schemaVersion", "commitTs"].every((name) => stored[name] === message[name]);
    if (!isSame || stored.claimCheck !== null) throw new Rejection("the file of another row");
    const unknown = [...namesOf(stored)].find((name) => !schema.columns.has(name));
    if (unknown !== undefined) throw new Rejection(`column ${unknown.slice(0, 40)} is not in the table schema`);
    const [cut, whole] = [message, stored].map((each) => imagesOf(each, schema, request));
    for (const which of ["before", "after"])
      for (const [name, column] of Object.entries(cut[which] ?? {}))
        if (JSON.stringify(column) !== JSON.stringify(whole[which]?.[name])) throw new Rejection("the file of a row with another key");
    return stored;
  });
}

function storedValue(file, options) {
  if (isOn(options, "claim-check-raw-value")) return file;
  return readJson(file, (json) => {
    if (required(json, "key").type !== "null") throw new Rejection("a stored message has no key", required(json, "key").at);
    const value = required(json, "value");
    return strictBase64(string(value), value.at);
  });
}
