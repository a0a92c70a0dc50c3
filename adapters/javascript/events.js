// Events of the testee protocol, to and from the flat form that the codecs use:
//   {kind: "row", op, commitTs, partition, rowId, schema, table, before, after}
//   {kind: "ddl", code, query, commitTs, partition, rowId, schema, table}
//   {kind: "resolved", commitTs}
// commitTs, partition and rowId are BigInt, before and after are lists of columns as in mysql_values.js. What is absent
// is null.

import { Rejection, inside } from "./rejection.js";
import { FLAG, defineColumn, fromColumn, parseInteger, toColumn } from "./mysql_values.js";
import { NAME_LIMIT, isWellFormed } from "./utf8.js";

// ---- options: spelled as in the producer's configuration; a value may come as text -----------------------------

export const option = (options, name, otherwise) => options?.[name] ?? otherwise;
export const isOn = (options, name, otherwise = false) => String(option(options, name, otherwise)) === "true";
export const number = (options, name, otherwise) => Number(option(options, name, otherwise));

/** The claim-check file at a location, by all of it or by any part that follows a slash; undefined if it is not there. */
export function findBlob(location, blobs) {
  for (let name = location; ; name = name.slice(name.indexOf("/") + 1)) {
    if (Object.hasOwn(blobs, name)) return Buffer.from(blobs[name], "base64");
    if (!name.includes("/")) return undefined;
  }
}

/** No encoder here compresses. */
export function refuseCompression(options) {
  const compression = option(options, "large-message-handle-compression", "none");
  if (compression !== "none") throw new Rejection(`large-message-handle-compression ${compression} is for reading only`);
}

// ---- decoding --------------------------------------------------------------------------------------------------

export const DDL_KINDS = [
  ["create", [3]],
  ["erase", [4]],
  ["alter", [5, 6, 12, 13, 15, 17, 18, 19, 20, 22, 23, 37, 38, 41, 61, 64, 71, 72]],
  ["cindex", [7, 9, 32]],
  ["dindex", [8, 10, 33]],
  ["truncate", [11]],
  ["rename", [14, 47]],
];

export const ddlKind = (code) => DDL_KINDS.find(([, codes]) => codes.includes(code))?.[0] ?? "query";

/** The event of a change. `sent` and `extra` are left out when empty. */
export function toEvent(change, options, { sent, extra = {} } = {}) {
  const { kind, op, commitTs, partition, rowId, schema, table, before, after } = change;
  const position = { commit_ts: String(commitTs) };
  if (kind === "resolved") return { kind: "progress", what: "resolved", position };

  if (partition !== null) position.partition = String(partition);
  const event = { kind };
  if (kind === "row") event.op = op;
  else Object.assign(event, { what: ddlKind(change.code), code: String(change.code) });
  if (schema !== null) event.schema = schema;
  if (table !== null) event.table = table;
  if (kind === "row") event.key = (after ?? before).filter(isHandle).map(({ name }) => name);
  event.position = position;
  const zone = option(options, "time-zone");
  if (kind === "row") Object.assign(event, { before: toImage(before, zone), after: toImage(after, zone) });
  else event.query = change.query;
  if (sent) event.sent = sent;
  const more = rowId ? { row_id: String(rowId), ...extra } : extra;
  if (Object.keys(more).length > 0) event.extra = more;
  return event;
}

export const isHandle = ({ flags }) => (flags & FLAG.handle) !== 0;

function toImage(columns, zone) {
  if (columns === null) return null;
  const image = Object.create(null); // a column may be named __proto__
  for (const column of columns) image[column.name] = toColumn(column, zone);
  return image;
}

/** insert, update or delete, by the images that there are. */
export const operation = (before, after) => (before === null ? "insert" : after === null ? "delete" : "update");

// ---- encoding --------------------------------------------------------------------------------------------------

/** The changes of an encode request. Columns stand in the order of their table. */
export function changesOf({ events, tables = [], options }) {
  const keyOnlyDeletes = isOn(options, "delete-only-output-handle-key-columns");
  const definitions = tables.map(({ schema, table, columns }) => ({
    schema,
    table,
    columns: columns.map((column) => ({ ...defineColumn(column), name: checkName(column.name) })),
    names: new Set(columns.map(({ name }) => name)),
  }));
  return events.map((event, index) => inside(["events", index], () => toChange(event, definitions, keyOnlyDeletes)));
}

function toChange(event, definitions, keyOnlyDeletes) {
  const { commit_ts: commitTs, partition } = event.position ?? {};
  if (commitTs === undefined) throw new Rejection("commit_ts is missing");
  const change = {
    kind: event.kind,
    commitTs: parseInteger(String(commitTs), true),
    partition: partition === undefined || partition === null ? null : parseInteger(String(partition), false),
    rowId: parseInteger(String(event.extra?.row_id ?? 0), false),
    schema: checkName(event.schema) || null,
    table: checkName(event.table) || null,
  };
  if (event.kind === "row") return { ...change, ...toRow(event, definitions, keyOnlyDeletes) };
  if (event.kind === "ddl") {
    if (!/^[0-9]{1,3}$/.test(event.code) || event.code > 255) throw new Rejection(`DDL code ${event.code}`);
    if (typeof event.query !== "string") throw new Rejection("a DDL event needs its query");
    if (!isWellFormed(event.query)) throw new Rejection("the query is not Unicode");
    return { ...change, code: Number(event.code), query: event.query };
  }
  if (event.kind === "progress" && event.what === "resolved") return { ...change, kind: "resolved" };
  throw new Rejection(`the format has no event ${event.kind} ${event.what ?? ""}`);
}

function checkName(name) {
  if (!isWellFormed(name ?? "")) throw new Rejection("a name is not Unicode");
  if (Buffer.byteLength(name ?? "") > NAME_LIMIT) throw new Rejection(`a name of more than ${NAME_LIMIT} bytes`);
  return name;
}

const IMAGES = { insert: [false, true], update: [true, true], delete: [true, false] }; // before, after

function toRow({ op, schema, table, before, after }, definitions, keyOnlyDeletes) {
  if (!Object.hasOwn(IMAGES, op)) throw new Rejection(`the format has no operation ${op}`);
  if (!schema || !table) throw new Rejection("a row needs its schema and table");
  const definition = definitions.find((each) => each.schema === schema && each.table === table);
  if (definition === undefined) throw new Rejection(`no definition of table ${schema}.${table}`);
  const [hasBefore, hasAfter] = IMAGES[op];
  if (!hasBefore && before) throw new Rejection(`before of ${op}`);
  if (!hasAfter && after) throw new Rejection(`after of ${op}`);
  if (hasAfter && !after) throw new Rejection(`${op} without after`);
  if (op === "delete" && !before) throw new Rejection("delete without before");

  const row = { op, before: fromImage(before, definition, "before"), after: fromImage(after, definition, "after") };
  if (op === "delete" && keyOnlyDeletes) row.before = handleColumns(row.before);
  return row;
}

/** The handle-key columns, of which there must be one. */
export function handleColumns(columns) {
  const handle = columns.filter(isHandle);
  if (handle.length === 0) throw new Rejection("the table has no handle key");
  return handle;
}

function fromImage(image, { columns, names }, which) {
  if (!image) return null;
  const unknown = Object.keys(image).find((name) => !names.has(name));
  if (unknown !== undefined) throw new Rejection(`column ${unknown} is not in the table`);
  return columns
    .filter(({ name, virtual }) => Object.hasOwn(image, name) && !virtual)
    .map(({ name, code, flags }) =>
      inside([which, name], () => ({ name, code, flags, value: fromColumn(code, flags, image[name]) })),
    );
}
