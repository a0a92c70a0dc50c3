// The layout of a storage prefix: paths, schema files, index files and `metadata`. CSV and Canal-JSON share it.
//
// `readFile` gives the events of one file. For a data file it calls `readData(value, place)` of the format; `place` has
// schema, table, version and partition of the path, and is null for a file outside of any layout.

import { crc32 } from "./checksums.js";
import { Rejection } from "./rejection.js";
import { ddlKind, option } from "./events.js";
import { expect, integer, itemsOf, membersOf, required, string } from "./json_members.js";
import { parseInteger } from "./mysql_values.js";
import { declaredOf, parseDeclared } from "./mysql_text.js";
import { readJson } from "./strict_json.js";
import { decodeUtf8 } from "./utf8.js";

const PATH_LIMIT = 4096;
const INDEX_LIMIT = 256;
const METADATA_LIMIT = 4096;
const SCHEMA_FILE = /^schema_(0|[1-9][0-9]*)_([0-9]{10})\.json$/;
const INDEX_FILE = /^CDC(?:_([A-Za-z0-9_-]{1,64}))?\.index$/;
const DATA_FILE = /^CDC(?:_([A-Za-z0-9_-]{1,64})_)?([0-9]{6,})\.([^.]+)$/;
const WHOLE = /^(0|[1-9][0-9]*)$/;
const MOST = { version: 2n ** 64n - 1n, partition: 2n ** 63n - 1n };
const DATES = { none: null, year: /^[0-9]{4}$/, month: /^[0-9]{4}-[0-9]{2}$/, day: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/ };

export function readFile({ path, value }, request, extension, readData) {
  if (value === null) throw new Rejection("a file has bytes");
  const place = parsePath(path, request.options, extension);
  switch (place.kind) {
    case "metadata":
      return [readMetadata(value)];
    case "index":
      readIndex(value, place, extension);
      return [];
    case "schema":
      return schemaEvents(readSchemaFile(value, place));
    default:
      return readData(value, place.kind === "data" ? place : null);
  }
}

// ---- paths -----------------------------------------------------------------------------------------------------

const refusePath = (path, problem) => {
  throw new Rejection(`${path.slice(0, 200)}: ${problem}`, 0);
};

/** What a path says: {kind: metadata, index, schema, data or alone, …}. */
export function parsePath(path, options, extension) {
  if (path === "metadata") return { kind: "metadata" };
  if (!path.includes("/")) return { kind: "alone" };
  if (path.length > PATH_LIMIT) refusePath(path, `more than ${PATH_LIMIT} characters`);
  const folders = path.split("/");
  if (folders.some((part) => ["", ".", ".."].includes(part) || part.includes("\0"))) refusePath(path, "an empty part");
  const name = folders.pop();

  const schemaFile = SCHEMA_FILE.exec(name);
  if (schemaFile && folders.at(-1) === "meta" && [2, 3].includes(folders.length)) {
    const [schema, table = null] = folders.slice(0, -1);
    const version = wholeNumber(schemaFile[1], MOST.version, path);
    return { kind: "schema", schema, table, version, hash: schemaFile[2] };
  }
  const index = INDEX_FILE.exec(name);
  if (index && folders.at(-1) === "meta")
    return { kind: "index", dispatcher: index[1], ...parseFolders(folders.slice(0, -1), options, path) };
  const data = parseDataName(name, extension);
  if (data === null) refusePath(path, "no file of the layout");
  return { kind: "data", ...data, ...parseFolders(folders, options, path) };
}

function parseDataName(name, extension) {
  const [, dispatcher, number, found] = DATA_FILE.exec(name) ?? [];
  if (number === undefined || found !== extension) return null;
  const value = BigInt(number.slice(-40));
  return value > 0n && value <= MOST.version && number.length <= 40 ? { dispatcher, number: value } : null;
}

function wholeNumber(text, most, path) {
  if (!WHOLE.test(text) || text.length > 20 || BigInt(text) > most) refusePath(path, `${text.slice(0, 40)} is not a number`);
  return text;
}

/** schema/table/version[/partition][/date], or of a newer producer table id/version[/date]. */
function parseFolders(folders, options, path) {
  const datePattern = DATES[option(options, "date-separator", "day")];
  if (datePattern === undefined) throw new Rejection(`date-separator ${options["date-separator"]}`);
  const separatesPartitions = String(option(options, "enable-partition-separator", true)) === "true";
  const rest = [...folders];
  const date = datePattern ? rest.pop() : null;
  if (datePattern && !isDate(date ?? "", datePattern)) refusePath(path, `${date} is not a date of this separator`);
  if (rest.length === 2 && WHOLE.test(rest[0]))
    return { schema: "", table: rest[0], version: wholeNumber(rest[1], MOST.version, path), partition: null };
  if (rest.length !== 3 && !(rest.length === 4 && separatesPartitions)) refusePath(path, "too many or too few directories");
  const [schema, table, version, partition = null] = rest;
  wholeNumber(version, MOST.version, path);
  if (partition !== null) wholeNumber(partition, MOST.partition, path);
  return { schema, table, version, partition };
}

function isDate(text, pattern) {
  if (!pattern.test(text)) return false;
  const [year, month = "01", day = "01"] = text.split("-");
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return year !== "0000" && !Number.isNaN(date.valueOf()) && date.getUTCDate() === Number(day);
}

// ---- small files -----------------------------------------------------------------------------------------------

function readMetadata(value) {
  if (value.length > METADATA_LIMIT) throw new Rejection(`metadata of more than ${METADATA_LIMIT} bytes`, METADATA_LIMIT);
  return readJson(value, (json) => {
    const checkpoint = integer(required(json, "checkpoint-ts"), true);
    if (json.members.size > 1) throw new Rejection("metadata has one member", json.at);
    return { kind: "progress", what: "checkpoint", position: { commit_ts: String(checkpoint) } };
  });
}

function readIndex(value, { dispatcher }, extension) {
  if (value.length > INDEX_LIMIT) throw new Rejection(`an index of more than ${INDEX_LIMIT} bytes`, INDEX_LIMIT);
  const text = decodeUtf8(value);
  const data = text === null ? null : parseDataName(text.replace(/\n$/, ""), extension);
  if (data === null || data.dispatcher !== dispatcher) throw new Rejection("an index names a data file", 0);
}

// ---- schema files ----------------------------------------------------------------------------------------------

const COLUMN_MEMBERS = [
  ...["ColumnId", "ColumnName", "ColumnType", "ColumnDefault", "ColumnPrecision", "ColumnScale", "ColumnNullable"],
  ...["ColumnIsPk", "ColumnElems"],
];
const FILE_MEMBERS = ["Table", "Schema", "Version", "TableVersion", "Query", "Type", "TableColumns", "TableColumnsTotal"];

/** {schema, table, version, code, query, columns, key, tableId} of a schema file; its path has been looked at. */
export function readSchemaFile(value, place) {
  return readJson(value, (json, text) => {
    const file = { table: string(required(json, "Table")), schema: string(required(json, "Schema")), place };
    const member = membersOf(json);
    if (integer(required(json, "Version")) !== 1n) throw new Rejection("Version is 1", member("Version").at);
    file.version = String(integer(required(json, "TableVersion"), true));
    file.query = string(required(json, "Query"));
    file.code = Number(integer(required(json, "Type"), true));
    if (file.code > 255) throw new Rejection("Type is 0 to 255", member("Type").at);
    file.columns = readColumns(required(json, "TableColumns"), file.table);
    file.key = file.columns.filter(({ roles }) => roles.includes("primary")).map(({ name }) => name);
    const total = required(json, "TableColumnsTotal");
    const count = total.type === "string" ? parseInteger(total.text, true, total.at) : integer(total, true);
    if (count !== BigInt(file.columns.length)) throw new Rejection("TableColumnsTotal is not the number of columns", total.at);
    checkNames(file, json);
    checkHash(json, text, file);
    return file;
  });
}

function checkNames({ schema, table, version, place }, { at }) {
  const isTableId = place.table === null && table !== "";
  const fits = isTableId ? WHOLE.test(place.schema) : schema === place.schema && table === (place.table ?? "");
  if (!fits) throw new Rejection(`the file of ${schema}.${table} is at ${place.schema}/${place.table ?? ""}`, at);
  if (version !== place.version) throw new Rejection(`version ${version} in the file of ${place.version}`, at);
}

function readColumns(json, table) {
  if (json.type === "null" && table === "") return [];
  const names = new Set();
  const columns = itemsOf(json).map((each) => {
    const column = readColumn(each);
    if (names.has(column.name)) throw new Rejection(`two columns ${column.name.slice(0, 40)}`, each.at);
    names.add(column.name);
    return column;
  });
  if (table === "" && columns.length > 0) throw new Rejection("a database has no columns", json.at);
  return columns;
}

function readColumn(json) {
  const member = membersOf(json);
  const name = string(required(json, "ColumnName"));
  const type = string(required(json, "ColumnType"));
  const precision = digits(member("ColumnPrecision") ?? member("ColumnLength"));
  const scale = digits(member("ColumnScale"));
  string(member("ColumnId"));
  const nullable = word(member("ColumnNullable"), true);
  const isKey = word(member("ColumnIsPk"), false);
  const elements = member("ColumnElems") && itemsOf(member("ColumnElems")).map(string);
  return {
    name,
    source: declaredText(type, precision, scale, elements),
    nullable,
    roles: isKey ? ["handle", "primary"] : [],
  };
}

function digits(json) {
  const text = string(json);
  if (text !== null && text !== "" && !/^[0-9]{1,20}$/.test(text)) throw new Rejection("a number as text", json.at);
  return text || null;
}

function word(json, otherwise) {
  const text = string(json);
  if (text === null) return otherwise;
  if (text !== "true" && text !== "false") throw new Rejection("true or false as text", json.at);
  return text === "true";
}

const FRACTIONAL = ["time", "datetime", "timestamp"];
const QUOTED = (element) => `'${element.replaceAll("'", "''")}'`;

function declaredText(type, precision, scale, elements) {
  const [name, ...rest] = type.toLowerCase().split(" ");
  const parameters = FRACTIONAL.includes(name) ? [scale] : [precision, scale];
  const inner = elements ? elements.map(QUOTED).join(",") : parameters.filter((each) => each !== null).join(",");
  const holds = inner !== "" && !/^(tiny|medium|long)?(text|blob)$|^(json|date|vector)$/.test(name);
  return [holds ? `${name}(${inner})` : name, ...rest].join(" ");
}

function schemaEvents({ schema, table, version, query, code, columns }) {
  if (query === "" && code === 0) return [];
  const event = { kind: "ddl", what: ddlKind(code), code: String(code), schema, position: { commit_ts: version }, query };
  if (table !== "") Object.assign(event, { table, columns });
  return [event];
}

// ---- hash ------------------------------------------------------------------------------------------------------

const hashOf = (text) => String(crc32(Buffer.from(text))).padStart(10, "0");

/** The hash in the name is that of names, Version 0 and columns, as the file spells its strings or as Go does. */
function checkHash(json, text, { place }) {
  const spellings = [
    (value) => text.slice(value.at, value.end),
    (value) => goText(value, text, { "\b": "\\b", "\f": "\\f" }),
    (value) => goText(value, text, {}),
  ];
  const hashes = spellings.map((spell) => hashOf(hashedText(json, spell)));
  if (!hashes.includes(place.hash) && !isForeign(json))
    throw new Rejection(`the hash is ${hashes[1]}, the name has ${place.hash}`, json.at);
}

function hashedText(json, spell) {
  const member = membersOf(json);
  const columns = member("TableColumns").items ?? [];
  const byName = (left, right) => Buffer.compare(nameBytes(left), nameBytes(right));
  const lines = [...columns].sort(byName).map((column) => columnText(column, spell));
  const list = lines.length > 0 ? `[\n${lines.join(",\n")}\n    ]` : "[]";
  return (
    `{\n    "Table": ${spell(member("Table"))},\n    "Schema": ${spell(member("Schema"))},\n    "Version": 0,\n` +
    `    "TableColumns": ${list},\n    "TableColumnsTotal": ${columns.length}\n}`
  );
}

const nameBytes = (column) => Buffer.from(column.members.get("ColumnName").text);

function columnText(column, spell) {
  const members = COLUMN_MEMBERS.filter((name) => column.members.has(name)).map((name) => {
    const value = column.members.get(name);
    if (value.type !== "array") return `            "${name}": ${spell(value)}`;
    const items = value.items.map((item) => `                ${spell(item)}`);
    return `            "${name}": [\n${items.join(",\n")}\n            ]`;
  });
  return `        {\n${members.join(",\n")}\n        }`;
}

const GO_ESCAPES = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function goText(value, text, moreEscapes) {
  if (value.type !== "string") return text.slice(value.at, value.end);
  const escapes = { ...GO_ESCAPES, ...moreEscapes };
  const escaped = value.text.replace(
    /["\\\u0000-\u001f<>&\u2028\u2029]/g,
    (each) => escapes[each] ?? `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${escaped}"`;
}

/** Whether a file has something that no producer writes, so that its hash says nothing. */
function isForeign(json) {
  const member = membersOf(json);
  const columns = member("TableColumns");
  const isOther = (column) =>
    [...column.members.keys()].some((name) => !COLUMN_MEMBERS.includes(name)) ||
    column.members.get("ColumnNullable")?.text === "true" ||
    column.members.get("ColumnIsPk")?.text === "false" ||
    column.members.get("ColumnDefault")?.type === "null";
  return (
    [...json.members.keys()].some((name) => !FILE_MEMBERS.includes(name)) ||
    member("TableColumnsTotal").type === "string" ||
    (member("Table").text === "" && columns.type === "array") ||
    (columns.items ?? []).some(isOther)
  );
}

// ---- definitions -----------------------------------------------------------------------------------------------

const filesOf = new WeakMap();

/** The definitions in the schema files of a request, whatever their place; broken files are reported when they are read. */
function definitionsOf(request, extension) {
  if (!filesOf.has(request)) {
    const found = [];
    for (const { path, value } of request.messages ?? []) {
      if (path === undefined) continue;
      try {
        const place = parsePath(path, request.options, extension);
        if (place.kind === "schema") found.push(readSchemaFile(Buffer.from(value, "base64"), place));
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
      }
    }
    filesOf.set(request, found);
  }
  return filesOf.get(request);
}

/**
 * The definitions that may be of a table, those of schema files first: {schema, table, version, key, columns}. What the
 * request knows besides (virtual columns, elements) is added to those of files.
 */
export function findDefinitions(request, extension, { schema, table, version }) {
  const isTable = (each) => each.schema === schema && each.table === table;
  const known = (request.tables ?? []).filter((each) => (schema === "" ? false : isTable(each)));
  const files = definitionsOf(request, extension)
    .filter((each) => (schema === "" ? each.place.table === null && each.place.schema === table : isTable(each)))
    .map((each) => withKnown(each, request.tables ?? []));
  const found = [...files, ...known.filter((each) => !files.some((file) => file.version === String(each.version ?? "")))];
  const exact = found.filter((each) => version !== undefined && String(each.version) === version);
  return exact.length > 0 ? exact.slice(0, 1) : found;
}

function withKnown(file, tables) {
  const fitting = tables.filter((each) => each.schema === file.schema && each.table === file.table);
  const known = fitting.find((each) => String(each.version) === file.version) ?? fitting[0];
  if (known === undefined) return file;
  const columns = file.columns.map((column) => {
    const other = known.columns.find(({ name }) => name === column.name);
    if (other === undefined) return column;
    const roles = other.roles?.includes("virtual") ? [...column.roles, "virtual"] : column.roles;
    const elements = declaredOf(other).elements;
    const mine = parseDeclared(column.source);
    const source = elements && mine && !mine.elements ? `${column.source}(${elements.map(QUOTED)})` : column.source;
    return { ...column, roles, source };
  });
  return { ...file, columns };
}
