// TiCDC's CSV files and the storage prefix around them.
//
// Bytes are scanned as Latin-1 text, a character per byte; what a field holds becomes a Buffer again.

import { csvSettings } from "./csv_settings.js";
import { Rejection, inside } from "./rejection.js";
import { strictBase64 } from "./json_members.js";
import { CHECKS, checkRange, declaredOf, parseFloating, typeOf } from "./mysql_text.js";
import { doubleText, floatText } from "./numbers.js";
import { findDefinitions, readFile } from "./storage.js";
import { decodeUtf8 } from "./utf8.js";

export const without = [];

const OPERATIONS = { I: "insert", U: "update", D: "delete" };
const COLUMN_LIMIT = 4096;
const FLOAT_LIMIT = 512;
const BARE_KINDS = ["int8", "int16", "int24", "int32", "int64", "bit", "year", "float32", "float64"];
const CHECKED_TEXT = ["decimal", "date", "time", "datetime", "timestamp", "vector"];

export function decodeMessage({ path, value }, request) {
  const settings = csvSettings(request.options ?? {});
  return readFile({ path, value }, request, "csv", (bytes, place) => readRows(bytes, place, request, settings));
}

function readRows(bytes, place, request, settings) {
  const text = bytes.toString("latin1");
  if (text === "") return [];
  let start = 0;
  let table = place && definitionOf(request, place);
  if (settings.hasHeader) [start, table] = inside(["header"], () => readHeader(text, table, request, settings));
  const records = splitRecords(text, start, settings);
  return Array.from(records, (record, index) =>
    inside(["records", index], () => {
      table ??= definitionOf(request, namesOf(record, settings));
      const event = readRecord(record, table, settings);
      if (place?.partition) event.position = { ...event.position, partition: place.partition };
      return event;
    }),
  );
}

// ---- definitions -----------------------------------------------------------------------------------------------

function definitionOf(request, place) {
  const found = findDefinitions(request, "csv", place);
  if (found.length === 1) return prepare(found[0]);
  const name = `${place.schema}.${place.table}`;
  if (found.length === 0) throw new Rejection(`the columns of ${name} are not known`, 0);
  throw new Rejection(`no definition of ${name} of version ${place.version}: ${found.map((each) => each.version)}`, 0);
}

function prepare({ schema, table, columns }, missing = []) {
  return {
    schema,
    table,
    key: columns.filter(({ roles }) => roles?.includes("primary")).map(({ name }) => name),
    columns: columns
      .filter(({ name, roles }) => !roles?.includes("virtual") && !missing.includes(name))
      .map((column) => ({ label: column.name, isNotNull: column.nullable === false, ...declaredOf(column) })),
  };
}

function namesOf(fields, settings) {
  const [table, schema] = fields.slice(1, 3).map((field) => decodeUtf8(stringOf(field, settings)));
  return { schema, table };
}

const META = ["ticdc-meta$operation", "ticdc-meta$table", "ticdc-meta$schema"];

/** Where the records begin, and the definition without the columns that the header line does not have. */
function readHeader(text, table, request, settings) {
  const candidates = table ? [table] : (request.tables ?? []).map((each) => prepare(each));
  const lineOf = ({ columns }) => {
    const names = [...META];
    if (settings.hasCommitTs) names.push("ticdc-meta$commit-ts");
    if (settings.hasOldValue) names.push("ticdc-meta$is-update");
    const all = [...names, ...columns.map(({ label }) => label)];
    return [Buffer.from(all.join(settings.delimiter)).toString("latin1"), names.length];
  };
  for (const candidate of candidates) {
    const line = lineOf(candidate)[0] + settings.terminatorBytes;
    if (text.startsWith(line)) return [line.length, candidate];
  }
  const end = text.indexOf(settings.terminatorBytes);
  if (end < 0) throw new Rejection("the header line has no end", text.length);
  const [candidate] = candidates;
  if (candidate === undefined) throw new Rejection("the columns are not known", 0);
  const names = text.slice(0, end).split(settings.delimiter).map((each) => Buffer.from(each, "latin1").toString());
  const [line, metaCount] = lineOf(candidate);
  const isMeta = line.split(settings.delimiter).slice(0, metaCount).every((name, index) => names[index] === name);
  const there = names.slice(metaCount);
  const columns = candidate.columns.filter(({ label }) => there.includes(label));
  if (!isMeta || there.length === 0 || columns.map(({ label }) => label).join("\0") !== there.join("\0"))
    throw new Rejection("the header line is that of another table", 0);
  return [end + settings.terminatorBytes.length, { ...candidate, columns }];
}

// ---- records ---------------------------------------------------------------------------------------------------

/** The fields of each record: {isQuoted, text, at}. The text of a field without quotes is as it stands. */
function* splitRecords(text, start, { delimiterBytes, terminatorBytes, quote }) {
  const separators = [delimiterBytes, terminatorBytes].sort((left, right) => right.length - left.length);
  const separatorAt = (at) => separators.find((each) => text.startsWith(each, at));
  const pattern = separators.map((each) => each.replace(/[^]/g, (char) => `\\x${hex(char)}`)).join("|");
  const stop = new RegExp(quote === "" ? `\\\\[^]|${pattern}|[\\r\\n]` : pattern, "g");

  let at = start;
  const cut = () => new Rejection("the file ends within a record", text.length);
  const readField = () => {
    const begin = at;
    if (quote !== "" && text[at] === quote) {
      const pieces = [];
      for (let from = at + 1; ; from = at + 1) {
        at = text.indexOf(quote, from);
        if (at < 0) throw cut();
        pieces.push(text.slice(from, at));
        at++;
        if (text[at] !== quote) break;
        pieces.push(quote);
      }
      if (at === text.length) throw cut();
      if (!separatorAt(at)) throw new Rejection("bytes after the closing quote", at);
      return { isQuoted: true, text: pieces.join(""), at: begin };
    }
    for (;;) {
      stop.lastIndex = at;
      const found = stop.exec(text);
      if (found === null) throw cut();
      at = found.index;
      if (separators.includes(found[0])) return { isQuoted: false, text: text.slice(begin, at), at: begin };
      if (found[0][0] !== "\\") throw new Rejection("a line end without a backslash", at);
      at += 2;
    }
  };
  while (at < text.length) {
    const fields = [];
    for (;;) {
      fields.push(readField());
      if (fields.length > COLUMN_LIMIT + 6) throw new Rejection(`more than ${COLUMN_LIMIT} columns`, at);
      const separator = separatorAt(at);
      at += separator.length;
      if (separator === terminatorBytes) break;
    }
    yield fields;
  }
}

const hex = (char) => char.charCodeAt(0).toString(16).padStart(2, "0");

function readRecord(fields, table, settings) {
  const rest = [...fields];
  const operation = stringOf(rest.shift(), settings).toString("latin1");
  if (rest.length < 3) throw new Rejection("a record has four fields at least", fields[0].at);
  const names = namesOf(fields, settings);
  if (names.table !== table.table || names.schema !== table.schema)
    throw new Rejection(`a row of ${names.schema}.${names.table} in a file of ${table.schema}.${table.table}`, rest[0].at);
  rest.splice(0, 2);
  if (!Object.hasOwn(OPERATIONS, operation)) throw new Rejection(`operation ${operation.slice(0, 40)}`, fields[0].at);
  const expected = [settings.hasCommitTs, settings.hasOldValue, settings.hasHandleKey].filter(Boolean).length + table.columns.length;
  if (rest.length !== expected) throw new Rejection(`${fields.length} fields, ${expected + 3} are expected`, fields[0].at);

  const event = { kind: "row", op: OPERATIONS[operation], schema: table.schema, table: table.table, key: table.key };
  event.position = {};
  if (settings.hasCommitTs) event.position.commit_ts = commitTs(rest.shift());
  const half = settings.hasOldValue ? halfOf(rest.shift(), operation) : null;
  const extra = {};
  if (settings.hasHandleKey) extra.handle_key = handleKey(rest.shift(), settings);
  const image = Object.create(null); // a column may be named __proto__
  const ambiguous = [];
  table.columns.forEach((column, index) => {
    const mark = () => ambiguous.push(column.label);
    image[column.label] = inside(["columns", column.label], () => readColumn(rest[index], column, settings, mark));
  });
  if (ambiguous.length > 0) extra.ambiguous_null = ambiguous.join(",");
  const side = operation === "D" ? "before" : "after";
  Object.assign(event, { before: null, after: null, [side]: image });
  if (half) Object.assign(event, { op: "update", half });
  if (Object.keys(extra).length > 0) event.extra = extra;
  return event;
}

function commitTs(field) {
  bareOnly(field);
  checkRange(field.text, 0n, 2n ** 64n - 1n, field.at);
  return field.text;
}

function halfOf(field, operation) {
  bareOnly(field);
  if (field.text !== "true" && field.text !== "false") throw new Rejection("is-update is true or false", field.at);
  if (operation === "U") throw new Rejection("an update is D and I under output-old-value", field.at);
  return field.text === "true" ? (operation === "D" ? "before" : "after") : null;
}

function handleKey(field, settings) {
  const text = stringOf(field, settings).toString();
  if (/^\{[^]*\}$/.test(text)) return text; // a clustered key that is not an integer
  checkRange(text, -(2n ** 63n), 2n ** 63n - 1n, field.at);
  return text;
}

// ---- fields ----------------------------------------------------------------------------------------------------

function bareOnly({ isQuoted, at }) {
  if (isQuoted) throw new Rejection("a number in quotes", at);
}

/** The bytes of a string field. */
function stringOf({ isQuoted, text, at }, { quote }) {
  if (quote !== "" && !isQuoted) throw new Rejection("a string without quotes", at);
  return Buffer.from(quote === "" ? unescape(text) : text, "latin1");
}

const unescape = (text) =>
  text.replace(/\\([^])/g, (_, char) => (char === "n" ? "\n" : char === "r" ? "\r" : char));

function readColumn(field, column, settings, mark) {
  const { kind } = column;
  if (!field.isQuoted && field.text === settings.nullBytes && isNull(column, settings, mark)) return null;
  if (kind === "unknown") throw new Rejection("a column of an unknown type holds NULL only", field.at);
  if (BARE_KINDS.includes(kind)) {
    bareOnly(field);
    return readNumber(field, column);
  }
  const isBareVector = kind === "vector" && !field.isQuoted && settings.quote !== "";
  const bytes = isBareVector ? Buffer.from(field.text, "latin1") : stringOf(field, settings);
  return readString(bytes, column, settings, field.at);
}

/** Whether a field that is the null text is NULL. */
function isNull({ kind, isNotNull, ...column }, { quote, null: text, isAmbiguous }, mark) {
  if (quote !== "" || !isAmbiguous || BARE_KINDS.includes(kind) || kind === "unknown") return true;
  if (CHECKED_TEXT.includes(kind) && !passes(() => CHECKS[kind](text, { kind, ...column }))) return true;
  if (kind === "json" && text === "") return true;
  if (isNotNull) return false;
  mark();
  return true;
}

function passes(check) {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof Rejection) return false;
    throw error;
  }
}

const FLOAT = /^([+-]?)0*([0-9]+)(\.[0-9]+)?((?:[eE][+-]?[0-9]+)?)$/;

function readNumber({ text, at }, column) {
  const type = typeOf(column);
  if (!column.kind.startsWith("float")) {
    CHECKS[column.kind](text, column, at);
    return { type, value: text };
  }
  if (text.length > FLOAT_LIMIT) throw new Rejection(`a number of more than ${FLOAT_LIMIT} characters`, at);
  const [, sign, whole, fraction = "", exponent] = FLOAT.exec(text) ?? [];
  if (whole === undefined) throw new Rejection(`${text.slice(0, 40)} is not a number`, at);
  const number = parseFloating(`${sign.replace("+", "")}${whole}${fraction}${exponent}`, column.kind, at);
  return { type, value: column.kind === "float32" ? floatText(number) : doubleText(number) };
}

function readString(bytes, column, { binary, zone }, at) {
  const { kind, elements } = column;
  if (kind === "bytes") return { type: kind, bytes: binaryOf(bytes.toString("latin1"), binary, at).toString("base64") };
  const value = decodeUtf8(bytes);
  if (kind === "text") return value === null ? { type: kind, bytes: bytes.toString("base64") } : { type: kind, value };
  if (value === null) throw new Rejection("not UTF-8", at);
  if (kind === "enum" || kind === "set") {
    checkLabels(kind === "enum" ? [value] : value === "" ? [] : value.split(","), elements, at);
    return { type: kind, label: value };
  }
  CHECKS[kind](value, column, at);
  return kind === "timestamp" && zone ? { type: kind, value, zone } : { type: kind, value };
}

function checkLabels(labels, elements, at) {
  const unknown = elements && labels.find((label) => !elements.includes(label));
  if (unknown !== undefined && unknown !== null) throw new Rejection(`${unknown.slice(0, 40)} is not an element`, at);
}

function binaryOf(text, encoding, at) {
  if (encoding === "base64") return strictBase64(text, at);
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new Rejection("not hex in lower case", at);
  return Buffer.from(text, "hex");
}
