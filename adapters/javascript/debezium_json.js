// Debezium JSON: change events of Debezium's connectors, and CDL's messages of message_version 2.0.

import { tombstone } from "./cdl_json.js";
import { readConnect } from "./connect.js";
import { PLACEHOLDER, toImage } from "./connect_columns.js";
import { rowSchema } from "./connect_tables.js";
import { isOn, option } from "./events.js";
import { Rejection, inside } from "./rejection.js";

export const without = ["string keys", "unwrapped rows", "ticdc"];

const OPERATIONS = { c: "insert", u: "update", d: "delete", r: "read" };
const IMAGES = { c: [["after"], []], r: [["after"], []], u: [["after"], ["before"]], d: [["before"], []], t: [[], []] };
const SNAPSHOTS = ["true", "last", "false", "incremental", "first", "first_in_data_collection", "last_in_data_collection"];
const BOUNDARY = ["status", "id", "event_count", "data_collections"];
const NOTIFICATION = ["id", "type", "aggregate_type", "additional_data", "timestamp"];
// The members of `source` that a connector has besides those of all: texts and integers.
const POSTGRESQL = [["origin"], ["lsn", "txId", "xmin", "origin_lsn"]];
const MYSQL = [["file", "gtid", "query"], ["pos", "row", "server_id", "thread"]];
const ORACLE_TEXTS = ["txId", "lcr_position", "rs_id", "user_name", "redo_sql", "row_id", "start_scn"];
const MEMBERS = {
  __proto__: null,
  postgresql: POSTGRESQL,
  opengauss: POSTGRESQL,
  "drs-opengauss-json": POSTGRESQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  sqlserver: [["commit_lsn", "change_lsn"], ["event_serial_no"]],
  oracle: [ORACLE_TEXTS, ["ssn", "redo_thread", "commit_ts_ms", "start_ts_ms", "txSeq"]],
  db2: [["commit_lsn", "change_lsn"], []],
  informix: [["txId", "commit_lsn", "change_lsn", "begin_lsn"], []],
  vitess: [["vgtid", "shard", "keyspace"], []],
};
const EITHER = ["lsn", "txId", "xmin", "scn", "commit_scn"]; // texts or integers where a connector does not decide it
// prettier-ignore
const POSITIONS = [
  "lsn", "tx_id", "file", "pos", "row", "gtid", "server_id", "commit_lsn", "change_lsn", "event_serial_no", "commit_scn", "scn",
  "rs_id", "ssn",
];
const OTHER_NAMES = { txId: "tx_id", txSeq: "tx_seq" };
const INTEGERS = ["int8", "int16", "int32", "int64"];
const PHYSICAL_TABLE = "__dbz__physicalTableIdentifier"; // ByLogicalTableRouter adds it to keys
// REPLICA IDENTITY is theirs: a delete may have the key alone. CDL has no other connectors.
const LIKE_POSTGRESQL = ["postgresql", "opengauss", "drs-opengauss-json"];

const fail = (problem) => {
  throw new Rejection(problem);
};

export function decodeMessage({ key, value }, { options, tables = [] }) {
  const keyRow = key === null ? null : inside(["key"], () => readConnect(key, options));
  if (value === null) return [tombstone(key)];
  const isStrict = option(options, "lint", "") === "strict";
  return inside(["value"], () => {
    const { schema, value: payload } = readConnect(value, options, (json) => defineRows(json, tables));
    if (schema.type !== "struct" || payload === null) fail("a message is a struct");
    return [eventOf(structOf(payload, schema), keyRow, { options, isStrict })].flat();
  });
}

function defineRows(json, tables) {
  const source = json.members?.get("source")?.members;
  const [schema, database, table] = ["schema", "db", "table"].map((name) => source?.get(name)?.text);
  return rowSchema(json, tables, schema ?? database, table, ["before", "after", "unique"]);
}

/** Typed access to the fields of a struct: {has, get(name, type), text, integer, struct}. A missing field is null. */
function structOf(value, schema) {
  const get = (name, ...types) => {
    const found = value.get(name) ?? null;
    if (found !== null && !types.includes(schema.fields.get(name).type)) fail(`${name} is not ${types.join(" or ")}`);
    return found;
  };
  const needed = (name, found) => found ?? fail(`${name} is missing`);
  return {
    schema,
    value,
    has: (name) => value.get(name) !== undefined,
    get,
    text: (name) => get(name, "string"),
    neededText: (name) => needed(name, get(name, "string")),
    integer: (name) => get(name, ...INTEGERS),
    neededInteger: (name) => needed(name, get(name, "int64", "int32")),
    struct: (name) => {
      const found = get(name, "struct");
      return found && structOf(found, schema.fields.get(name));
    },
  };
}

function eventOf(message, key, rules) {
  if (message.has("op")) {
    const op = message.neededText("op");
    return op === "m" ? logicalMessage(message) : changeOf(op, message, key, rules);
  }
  if (message.has("tableChanges")) return schemaChanges(message, rules);
  const names = [...message.value.keys()].filter((name) => !["ts_ms", "ts_us", "ts_ns"].includes(name));
  if (message.has("status") && names.every((name) => BOUNDARY.includes(name))) return boundaryOf(message);
  if (message.has("aggregate_type") && names.every((name) => NOTIFICATION.includes(name))) return [];
  if (!message.has("ts_ms") || names.length > 0) fail("this is not a message of Debezium");
  const event = { kind: "progress", what: "heartbeat", position: { sent_ms: String(message.neededInteger("ts_ms")) } };
  const server = key?.value?.get?.("serverName");
  return server ? { ...event, extra: { source_name: server } } : event;
}

// ---- changes ---------------------------------------------------------------------------------------------------

function changeOf(op, message, key, { options, isStrict }) {
  const isCdl = message.text("message_version") !== null;
  if (!Object.hasOwn(IMAGES, op) || (isCdl && !["c", "u", "d"].includes(op))) fail(`op ${op.slice(0, 40)}`);
  if (isCdl) checkCdl(message, isStrict);
  const source = message.struct("source") ?? fail("source is missing");
  const { position, extra } = inside(["source"], () => readSource(source, isStrict));
  addTimes(message, position, extra);
  addTransaction(message, position, extra);
  const table = tableOf(source);
  const images = readImages(op, message, option(options, "unavailable-value-placeholder", PLACEHOLDER));
  if (op === "t") return { kind: "ddl", what: "truncate", ...table, position, extra };

  const keyNames = keyOf(isCdl ? message.struct("unique")?.value : key?.value);
  const row = images.after ?? images.before;
  if (isStrict && keyNames.some((name) => !(name in row))) fail("a key column that the row does not have");
  if (isStrict && isCdl && !LIKE_POSTGRESQL.includes(extra.connector)) fail(`connector ${extra.connector}`);
  const event = { kind: "row", op: OPERATIONS[op], ...table, key: keyNames, position };
  if (op === "r" && isOn(options, "read-r-as-c")) event.op = "insert";
  const hasIdentity = LIKE_POSTGRESQL.includes(extra.connector);
  if (op === "d" && keyNames.length > 0 && hasIdentity && option(options, "replica-identity", "") !== "full") {
    images.before = Object.fromEntries(keyNames.filter((name) => name in row).map((name) => [name, row[name]]));
    event.sent = "key"; // the other columns are NULL or made up
  }
  return { ...event, ...images, extra };
}

function checkCdl(message, isStrict) {
  if (message.text("message_version") !== "2.0") fail(`message_version ${message.text("message_version").slice(0, 40)}`);
  const type = message.neededText("message_type");
  if (isStrict && type !== "0") fail(`message_type ${type.slice(0, 40)}`);
  message.neededInteger("ts_ms");
}

function keyOf(struct) {
  if (struct === null || struct === undefined) return [];
  if (!(struct instanceof Map)) fail("a key is a struct");
  return [...struct.keys()].filter((name) => name !== PHYSICAL_TABLE);
}

function readImages(op, message, placeholder) {
  const [needed, allowed] = IMAGES[op];
  const images = {};
  for (const name of ["before", "after"]) {
    const struct = message.struct(name);
    if (struct === null && needed.includes(name)) fail(`${op} without ${name}`);
    if (struct !== null && !needed.includes(name) && !allowed.includes(name)) fail(`${op} with ${name}`);
    images[name] = struct && inside([name], () => toImage(struct.value, struct.schema, placeholder));
  }
  return images;
}

function readSource(source, isStrict) {
  const extra = {
    connector: source.neededText("connector"),
    connector_version: source.neededText("version"),
    source_name: source.neededText("name"),
  };
  const position = {};
  for (const name of ["snapshot", "sequence"]) if (source.text(name) !== null) extra[name] = source.text(name);
  for (const name of ["ts_us", "ts_ns"]) if (source.integer(name) !== null) extra[`source_${name}`] = String(source.integer(name));
  const [texts, integers] = MEMBERS[extra.connector] ?? [[], []];
  for (const member of new Set([...texts, ...integers, ...EITHER])) {
    const types = [...(integers.includes(member) ? [] : ["string"]), ...(texts.includes(member) ? [] : INTEGERS)];
    const value = source.get(member, ...types);
    const name = OTHER_NAMES[member] ?? member;
    if (value !== null && member !== "keyspace") (POSITIONS.includes(name) ? position : extra)[name] = String(value);
  }
  position.commit_ms = String(source.neededInteger("ts_ms"));
  if (isStrict && extra.snapshot && !SNAPSHOTS.includes(extra.snapshot)) fail(`snapshot ${extra.snapshot}`);
  return { position, extra };
}

function tableOf(source) {
  source.neededText("table");
  return namesOf(source);
}

/** The names in `source`; a statement about a database has no table. */
function namesOf(source) {
  const [database, table] = [source.neededText("db"), source.text("table")];
  const isVitess = source.text("connector") === "vitess";
  const schema = (isVitess ? source.text("keyspace") : null) ?? source.text("schema");
  return {
    ...(schema === null || database === "" ? {} : { database }),
    schema: schema ?? database,
    ...(table === null ? {} : { table }),
  };
}

function addTimes(message, position, extra) {
  const [ms, us, ns] = ["ts_ms", "ts_us", "ts_ns"].map(message.integer);
  if (ms !== null) position.sent_ms = String(ms);
  if (us !== null) extra.ts_us = String(us);
  if (ns !== null) extra.ts_ns = String(ns);
  const texts = { message_type: "message_type", lob_columns: "LOB_COLUMNS", heartbeat_identifier: "HEARTBEAT_IDENTIFIER" };
  for (const [name, member] of Object.entries(texts)) {
    const text = message.text(member);
    if (text !== null && !(name === "message_type" && text === "0")) extra[name] = text;
  }
}

function addTransaction(message, position, extra) {
  const transaction = message.struct("transaction");
  if (transaction === null) return;
  extra.transaction_id = transaction.neededText("id");
  position.tx_order = String(transaction.neededInteger("total_order"));
  extra.data_collection_order = String(transaction.neededInteger("data_collection_order"));
}

// ---- schema changes --------------------------------------------------------------------------------------------

const ID_LIMIT = 8192;
const QUOTED = /"(?:[^"]|"")*"/g;
const LAST_NAMES = /"(?:[^"]|"")*"(?:\."(?:[^"]|"")*")*$/;
const CHANGE_TYPES = { CREATE: "create", ALTER: "alter", DROP: "erase" };
const STATEMENTS = [
  [/^rename\s|^alter\s+table\s+\S+\s+rename\s+(to\s|as\s)?\S+\s*$/, "rename"],
  [/^create\s+(unique\s+|fulltext\s+|spatial\s+)?index\s/, "cindex"],
  [/^drop\s+index\s/, "dindex"],
  [/^truncate\s/, "truncate"],
  [/^create\s/, "create"],
  [/^drop\s/, "erase"],
  [/^alter\s/, "alter"],
];

/** An event per table of a message that has `tableChanges`. */
function schemaChanges(message, { isStrict }) {
  const source = message.struct("source") ?? fail("source is missing");
  const { position, extra } = inside(["source"], () => readSource(source, isStrict));
  addTimes(message, position, extra);
  const query = message.text("ddl");
  const tableChanges = message.get("tableChanges", "array") ?? fail("tableChanges is null");
  const changes = tableChanges.map((change) => changeOfTable(change, query));
  if (changes.length === 0) changes.push({ what: statementKind(query) ?? "query", ...namesOf(source), table: source.text("table") || null });
  return changes.map((change) => ({
    ...{ kind: "ddl", ...change, position, extra },
    ...(query === null ? {} : { query }),
  }));
}

/** The kind of a change and the names of its table; a table that is renamed has its old name before the new one. */
function changeOfTable(change, query) {
  const [type, id] = change instanceof Map ? [change.get("type"), change.get("id")] : [];
  if (!Object.hasOwn(CHANGE_TYPES, type)) fail("a change of a table has one of the types CREATE, ALTER and DROP");
  if (typeof id !== "string" || id.length > ID_LIMIT) fail("a change of a table has an id");
  const names = id.match(LAST_NAMES)?.[0].match(QUOTED) ?? fail(`the id ${id.slice(0, 40)} has no names`);
  const [table, schema, database] = names.map((name) => name.slice(1, -1).replaceAll('""', '"')).reverse();
  return { what: statementKind(query) ?? CHANGE_TYPES[type], ...(database === undefined ? {} : { database }), schema, table };
}

/** Null without a statement. */
function statementKind(query) {
  if (query === null) return null;
  const words = query.trim().replace(/;$/, "").toLowerCase();
  return STATEMENTS.find(([pattern]) => pattern.test(words))?.[1] ?? "query";
}

// ---- other messages --------------------------------------------------------------------------------------------

function logicalMessage(message) {
  const source = message.struct("source") ?? fail("source is missing");
  const { position, extra } = inside(["source"], () => readSource(source, false));
  tableOf(source); // its names are empty, and are there
  addTimes(message, position, extra);
  addTransaction(message, position, extra);
  const content = message.struct("message") ?? fail("message is missing");
  const bytes = content.get("content", "bytes", "string");
  if (bytes !== null) extra.content = typeof bytes === "string" ? bytes : { bytes: bytes.toString("base64") };
  return { kind: "marker", what: "logical_message", id: content.neededText("prefix"), position, extra };
}

function boundaryOf(message) {
  const status = message.neededText("status");
  if (status !== "BEGIN" && status !== "END") fail(`status ${status.slice(0, 40)}`);
  const position = {};
  if (message.integer("ts_ms") !== null) position.sent_ms = String(message.integer("ts_ms"));
  const event = { kind: "marker", what: status.toLowerCase(), id: message.neededText("id"), position };
  const extra = {};
  if (message.integer("event_count") !== null) extra.event_count = String(message.integer("event_count"));
  const collections = message.get("data_collections", "array");
  if (collections !== null) extra.data_collections = `[${collections.map(countText)}]`;
  return Object.keys(extra).length > 0 ? { ...event, extra } : event;
}

function countText(each) {
  const [name, count] = each instanceof Map ? [each.get("data_collection"), each.get("event_count")] : [];
  if (typeof name !== "string" || typeof count !== "bigint") fail("a collection has a name and a count");
  return `[${JSON.stringify(name)},${count}]`;
}
