// What every reader of TiCDC's CSV needs around it: settings, the fields of a record, events. A reader is a function
// read(value, settings, fields) that gives the records of a file, each an array of cells: null for NULL, a string, or a
// Buffer. Nothing here looks at the bytes of the file.

import { Rejection } from "./rejection.js";

// What the files beside the data say, and the path of a file: no reader here knows any of it.
const LAYOUT = ["partition", "ddl", "checkpoint"];
const META = ["operation", "table", "schema"];
const OPERATIONS = { I: "insert", U: "update", D: "delete" };

/**
 * The format `csv` of a reader. `isRefusal` tells the errors by which it refuses a file from all others; `without` is
 * the list of features that it does not have.
 */
export const csvFormat = (read, isRefusal, without = []) => ({
  without: [...LAYOUT, ...without],
  decodeMessage({ value, path }, request) {
    if (!path.endsWith(".csv")) return []; // as in any program that reads *.csv of a folder
    const settings = settingsOf(request.options ?? {});
    const table = tableOf(path, request.tables);
    const fields = fieldsOf(settings, table);
    return readRecords(read, isRefusal, value, settings, fields).map((record) =>
      eventOf(record, settings, fields, table),
    );
  },
});

function readRecords(read, isRefusal, ...file) {
  try {
    return read(...file);
  } catch (error) {
    throw isRefusal(error) ? new Rejection(error.message) : error;
  }
}

/** The settings of a request, with TiCDC's defaults for those that are not there. */
function settingsOf(options) {
  const named = Object.fromEntries(Object.entries(options).map(([name, value]) => [name.split(".").at(-1), value]));
  const isOn = (name) => String(named[name] ?? false).toLowerCase() === "true";
  return {
    delimiter: named.delimiter ?? ",",
    quote: named.quote ?? '"',
    null: named.null ?? "\\N",
    terminator: named.terminator ?? "\r\n",
    hasCommitTs: isOn("include-commit-ts"),
    hasOldValue: isOn("output-old-value"),
    hasHandleKey: isOn("output-handle-key"),
    hasHeader: isOn("output-field-header"),
    binary: named["binary-encoding-method"] ?? "base64",
  };
}

/** The definition for a file: of the table and version that its path names. */
function tableOf(path, tables = []) {
  if (tables.length === 0) throw new Rejection("the columns of a file are not known without a definition");
  const [schema, table, version] = path.split("/");
  if (version === undefined) return tables[0];
  const fitting = tables.filter((each) => each.schema === schema && each.table === table);
  return fitting.find((each) => String(each.version) === version) ?? fitting[0] ?? tables[0];
}

function fieldsOf({ hasCommitTs, hasOldValue, hasHandleKey }, { columns }) {
  const meta = [...META];
  if (hasCommitTs) meta.push("commit-ts");
  if (hasOldValue) meta.push("is-update");
  if (hasHandleKey) meta.push("handle-key");
  return [
    ...meta.map((name) => ({ name, isMeta: true, nullable: false })),
    ...columns
      .filter(({ roles }) => !roles?.includes("virtual"))
      .map(({ name, type, nullable }) => ({ name, kind: type.split("(")[0], nullable: nullable !== false })),
  ];
}

function eventOf(record, settings, fields, table) {
  if (record.length !== fields.length) throw new Rejection(`${record.length} fields, ${fields.length} are expected`);
  const meta = {};
  const image = Object.create(null); // a column may be named __proto__
  fields.forEach((field, index) => {
    if (field.isMeta) meta[field.name] = String(record[index]);
    else image[field.name] = valueOf(field.kind, record[index], settings.binary);
  });
  const event = {
    kind: "row",
    op: OPERATIONS[meta.operation],
    schema: meta.schema,
    table: meta.table,
    key: table.columns.filter(({ roles }) => roles?.includes("primary")).map(({ name }) => name),
    before: null,
    after: null,
  };
  if (!event.op) throw new Rejection(`the operation is I, U or D, not ${meta.operation}`);
  const side = event.op === "delete" ? "before" : "after";
  if (settings.hasCommitTs) event.position = { commit_ts: integerText(meta["commit-ts"]) };
  if (settings.hasOldValue) {
    if (!["true", "false"].includes(meta["is-update"])) throw new Rejection(`is-update is ${meta["is-update"]}`);
    if (meta["is-update"] === "true") Object.assign(event, { op: "update", half: side });
  }
  if (settings.hasHandleKey) event.extra = { handle_key: integerText(meta["handle-key"]) };
  event[side] = image;
  return event;
}

/** A cell as a column of the testee protocol. Integers never become a JavaScript number, which has 53 bits. */
function valueOf(kind, cell, binary) {
  if (cell === null) return null;
  const text = String(cell);
  if (/^int|^year|^bit/.test(kind)) return integerText(text);
  if (kind.startsWith("float")) return floatText(Number(text), text);
  if (kind === "bytes") return { bytes: Buffer.from(text, binary).toString("base64") };
  if (Buffer.isBuffer(cell) && !cell.equals(Buffer.from(text))) return { bytes: cell.toString("base64") };
  return text;
}

function integerText(text) {
  try {
    return String(BigInt(text));
  } catch {
    throw new Rejection(`${text} is not an integer`);
  }
}

function floatText(number, text) {
  if (text === "" || Number.isNaN(number)) throw new Rejection(`${text} is not a number`);
  return Object.is(number, -0) ? "-0.0" : String(number);
}
