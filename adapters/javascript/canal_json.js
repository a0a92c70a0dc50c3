// Canal-JSON, of TiCDC and of the official Canal: an object per message of a queue, or rows in the files of a prefix.

import { openMessage } from "./compression.js";
import { DDL_KINDS, findBlob, isOn, option } from "./events.js";
import {
  base64,
  boolean,
  checkName,
  expect,
  integer,
  itemsOf,
  membersOf,
  nameText,
  presentMembersOf,
  required,
  strictBase64,
  string,
} from "./json_members.js";
import { CHECKS, checkRange, declaredOf, parseDeclared, parseFloating, typeOf } from "./mysql_text.js";
import { doubleText, floatText } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";
import { findDefinitions, readFile } from "./storage.js";
import { readJson, readJsonSequence } from "./strict_json.js";

export const without = [];

const OPERATIONS = { INSERT: "insert", UPDATE: "update", DELETE: "delete" };
const DDL_TYPES = [...DDL_KINDS.map(([kind]) => kind.toUpperCase()), "QUERY"];
const WATERMARK = "TIDB_WATERMARK";
const TYPE_LIMIT = 1048576;

export function decodeMessage({ value, path }, request) {
  if (path !== undefined) return readFile({ path, value }, request, "json", (bytes, place) => readRows(bytes, place, request));
  const bytes = openMessage(value, option(request.options, "large-message-handle-compression", "none"));
  if (bytes === null || bytes.length === 0) return [];
  return readJson(bytes, (json) => readMessage(json, request, {}));
}

// ---- files -----------------------------------------------------------------------------------------------------

function readRows(bytes, place, request) {
  const terminator = option(request.options, "terminator", "\r\n");
  const readRow = (json, index) => inside(["rows", index], () => readFileRow(json, place, request));
  return readJsonSequence(bytes, terminator, readRow).flat();
}

function readFileRow(json, place, request) {
  const events = readMessage(json, request, { place });
  if (!OPERATIONS[membersOf(json)("type").text]) throw new Rejection("a data file has rows only", json.at);
  const names = place && place.schema !== "" ? [place.schema, place.table] : null;
  for (const event of events) {
    if (names && (event.schema !== names[0] || event.table !== names[1]))
      throw new Rejection(`a row of ${event.schema}.${event.table} in a file of ${names.join(".")}`, json.at);
    if (place?.partition) event.position.partition = place.partition;
  }
  return events;
}

// ---- messages --------------------------------------------------------------------------------------------------

/** The events of a message. `place`: of the file that it is in. `isStored`: it is in a claim-check file itself. */
function readMessage(json, request, { place, isStored = false }) {
  const member = presentMembersOf(json);
  for (const name of json.members.keys()) checkName(name, json);
  const head = readHead(json);
  const extension = readExtension(member("_tidb"));
  if (head.isDdl) return [ddlEvent(head, extension, member)];
  if (head.type === WATERMARK) {
    if (extension.watermarkTs === null) throw new Rejection("a watermark without watermarkTs", json.end - 1);
    return [{ kind: "progress", what: "watermark", position: positionOf(head, extension.watermarkTs) }];
  }
  if (head.type === "QUERY") return []; // the official Canal's: the statement whose rows follow
  const op = OPERATIONS[head.type];
  if (op === undefined) throw new Rejection(`type ${head.type.slice(0, 40)} of a row`, member("type").at);
  if (head.table === "") throw new Rejection("a row without a table", member("table").at);
  string(member("sql"));

  const version = place?.version;
  const rows = readImages(json, op, columnsOf(json, head, request, version));
  const marks = marksOf(head, extension, op, rows, request.options);
  const location = extension.claimCheckLocation;
  if (location !== null) {
    if (isStored) throw new Rejection("a stored message with a claim check", json.at);
    const stored = request.blobs && inside(["claim_check"], () => readStored(location, head, extension, request));
    if (stored) return stored.map((event) => ({ ...event, extra: { ...event.extra, ...marks.extra } }));
  }
  const key = keyOf(member("pkNames"));
  const position = positionOf(head, extension.commitTs);
  const { database: schema, table } = head;
  return rows.map(({ before, after, sent }) => ({
    ...{ kind: "row", op, schema, table, key, position: { ...position }, before, after },
    ...(marks.sent || sent ? { sent: marks.sent ?? sent } : {}),
    ...(Object.keys(marks.extra).length > 0 ? { extra: marks.extra } : {}),
  }));
}

function readHead(json) {
  const member = presentMembersOf(json);
  const present = (name) => {
    required(json, name);
    if (member(name) === undefined) throw new Rejection(`member ${name} is null`, membersOf(json)(name).at);
    return member(name);
  };
  return {
    database: nameText(present("database")),
    table: nameText(present("table")),
    isDdl: boolean(present("isDdl")),
    type: string(present("type")),
    id: integer(member("id")) ?? 0n,
    commitMs: integer(present("es")),
    sentMs: integer(present("ts")),
    gtid: string(member("gtid")),
  };
}

const positionOf = ({ commitMs, sentMs }, commitTs) => ({
  ...(commitTs === null ? {} : { commit_ts: String(commitTs) }),
  commit_ms: String(commitMs),
  sent_ms: String(sentMs),
});

function readExtension(json) {
  if (json === undefined) return { commitTs: null, watermarkTs: null, claimCheckLocation: null };
  const member = presentMembersOf(json);
  const hasOrigin = member("originTs") !== undefined; // such a row has the columns of its key only
  return inside(["_tidb"], () => ({
    commitTs: integer(member("commitTs"), true),
    watermarkTs: integer(member("watermarkTs"), true),
    originTs: hasOrigin ? integer(member("originTs"), true) : null,
    checksum: hasOrigin && member("checksum") !== undefined ? base64(member("checksum")) : null,
    onlyHandleKey: boolean(member("onlyHandleKey")),
    claimCheckLocation: string(member("claimCheckLocation")) || null,
    rowKey: member("rowkey") === undefined ? null : base64(member("rowkey")),
  }));
}

function ddlEvent(head, { commitTs }, member) {
  if (!DDL_TYPES.includes(head.type)) throw new Rejection(`type ${head.type.slice(0, 40)} of a DDL`, member("type").at);
  const query = string(member("sql"));
  if (query === null) throw new Rejection("a DDL without sql");
  const event = { kind: "ddl", what: head.type.toLowerCase(), position: positionOf(head, commitTs), query };
  if (head.database !== "") event.schema = head.database;
  if (head.table !== "") event.table = head.table;
  return Object.assign(event, withExtra(extraOf(head, {})));
}

const withExtra = (extra) => (Object.keys(extra).length > 0 ? { extra } : {});

function extraOf({ id, gtid }, { claimCheckLocation, rowKey, originTs = null, checksum }) {
  const extra = {};
  if (id !== 0n) extra.message_id = String(id);
  if (gtid) extra.gtid = gtid;
  if (rowKey) extra.row_key = { bytes: rowKey.toString("base64") };
  if (originTs !== null) extra.origin_ts = String(originTs);
  if (checksum) extra.checksum = { bytes: checksum.toString("base64") };
  if (claimCheckLocation) extra.claim_check = claimCheckLocation;
  return extra;
}

function marksOf(head, extension, op, rows, options) {
  const marks = { extra: extraOf(head, extension) };
  const sendsChanges = ["only-output-updated-columns", "content-compatible"].some((name) => isOn(options, name));
  const isCut = extension.onlyHandleKey || extension.claimCheckLocation || (extension.originTs ?? null) !== null;
  if (isCut) marks.sent = "key";
  else if (op === "delete" && isOn(options, "delete-only-output-handle-key-columns")) marks.sent = "key";
  else if (op === "update" && rows.some(({ before }) => before !== null))
    if (sendsChanges || option(options, "dialect", "ticdc") === "canal") marks.sent = "changed";
  return marks;
}

function keyOf(json) {
  const names = json === undefined ? [] : itemsOf(json).map(nameText);
  if (new Set(names).size < names.length) throw new Rejection("a column of the key appears twice", json.at);
  return names;
}

/** The events of the file that a claim check names. */
function readStored(location, head, { commitTs }, request) {
  const file = findBlob(location, request.blobs);
  if (file === undefined) return null; // the handle key and the location are all there is
  const bytes = openMessage(storedValue(file, request.options), option(request.options, "large-message-handle-compression", "none"));
  return readJson(bytes, (json) => {
    const events = readMessage(json, request, { isStored: true });
    const stored = readHead(json);
    const ts = readExtension(presentMembersOf(json)("_tidb")).commitTs;
    const isSame = ["database", "table", "type", "isDdl"].every((name) => stored[name] === head[name]) && ts === commitTs;
    if (!isSame) throw new Rejection("the file of another row", json.at);
    return events;
  });
}

function storedValue(file, options) {
  if (isOn(options, "claim-check-raw-value")) return file;
  return readJson(file, (json) => {
    string(presentMembersOf(json)("key"));
    return strictBase64(string(required(json, "value")), required(json, "value").at);
  });
}

// ---- rows ------------------------------------------------------------------------------------------------------

function rowsOf(json) {
  if (json === undefined) return null;
  const rows = itemsOf(json);
  return rows.length > 0 && rows.every(({ type }) => type === "null") ? null : rows;
}

/** [{before, after}] of a message; an image that is not there is null. */
function readImages(json, op, columns) {
  const member = presentMembersOf(json);
  const old = rowsOf(member("old"));
  const read = (name, rows) => rows.map((row, index) => inside([name, index], () => readRow(row, columns)));
  if (member("data") === undefined && op === "delete" && old !== null)
    return read("old", old).map((before) => ({ before, after: null }));
  if (member("data") === undefined) throw new Rejection("a row without data", json.members.get("data")?.at ?? json.end - 1);
  const rows = read("data", itemsOf(member("data")));
  if (op !== "update" && old !== null) throw new Rejection("only updates have old", member("old").at);
  if (op === "insert") return rows.map((after) => ({ before: null, after }));
  if (op === "delete") return rows.map((before) => ({ before, after: null }));
  if (old === null) return rows.map((after) => ({ before: null, after }));
  if (old.length !== rows.length)
    throw new Rejection(`${old.length} old rows of ${rows.length} rows`, member("old").at);
  return read("old", old).map((before, index) => {
    const isShort = Object.keys(rows[index]).some((name) => !(name in before));
    return { before, after: rows[index], ...(isShort ? { sent: "changed" } : {}) };
  });
}

function readRow(json, columns) {
  membersOf(json);
  const row = Object.create(null); // a column may be named __proto__
  for (const [name, value] of json.members) {
    checkName(name, value);
    row[name] = inside([name], () => readValue(value, columns(name, value)));
  }
  return row;
}

/** A function that gives what a column is declared as: by mysqlType, and by the definition of its table. */
function columnsOf(json, { database: schema, table }, request, version) {
  const member = presentMembersOf(json);
  if (member("sqlType")) readCodes(member("sqlType"));
  const declared = new Map();
  if (member("mysqlType"))
    for (const [name, value] of membersAt(member("mysqlType"))) {
      checkName(name, value);
      const text = string(value);
      const type = text.length > TYPE_LIMIT ? null : parseDeclared(text);
      if (type === null) throw new Rejection(`MySQL has no type ${text.slice(0, 40)}`, value.at);
      declared.set(name, type);
    }
  const [definition, another] = findDefinitions(request, "json", { schema, table, version });
  const known = another === undefined ? definition : undefined;
  const shared = {
    zone: option(request.options, "time-zone"),
    isOfficial: option(request.options, "dialect", "ticdc") === "canal",
  };
  return (name, { at }) => {
    const column = known?.columns.find((each) => each.name === name);
    const type = declared.get(name);
    const more = column && declaredOf(column);
    if (type === undefined && more === undefined) throw new Rejection(`column ${name} has no type`, at);
    if (type === undefined) return { ...more, ...shared };
    const isSame = more !== undefined && more.kind === type.kind && type.parameters.length === 0;
    return { ...type, parameters: isSame ? more.parameters : type.parameters, ...shared };
  };
}

const membersAt = (json) => expect(json, "object").members;

function readCodes(json) {
  for (const value of membersAt(json).values()) {
    const code = integer(value);
    if (code === null || BigInt.asIntN(32, code) !== code) throw new Rejection("an integer of 32 bits expected", value.at);
  }
}

// ---- values ----------------------------------------------------------------------------------------------------

/** The column object of a value; SQL NULL is null. */
function readValue(json, column) {
  const { kind, zone, isOfficial } = column;
  if (json.type === "null") return null;
  const value = string(json);
  const type = typeOf(column);
  if (isOfficial && kind === "year" && value === "0000") return { type, value: "0" };
  if (isOfficial && kind === "json" && value === "") return { type, value };
  CHECKS[kind]?.(value, column, json.at);
  switch (kind) {
    case "float32":
      return { type, value: floatText(parseFloating(value, kind, json.at)) };
    case "float64":
      return { type, value: doubleText(parseFloating(value, kind, json.at)) };
    case "bytes":
      if (/[^\u0000-\u00ff]/.test(value)) throw new Rejection("a character above U+00FF is not a byte", json.at);
      return { type, bytes: Buffer.from(value, "latin1").toString("base64") };
    case "enum":
    case "set":
      checkRange(value, 0n, kind === "enum" ? 65535n : 2n ** 64n - 1n, json.at);
      return { type, index: value };
    case "timestamp":
      return zone ? { type, value, zone } : { type, value };
    default:
      return { type, value };
  }
}
