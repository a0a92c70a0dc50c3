// Simple in Avro: a bare datum of one fixed schema.

import { parseSchema, readBinary } from "./avro_schema.js";
import { doubleText, floatText } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";
import { newSchema } from "./simple_schemas.js";
import { textColumn, timestampColumn } from "./simple_values.js";
import { NAME_LIMIT, decodeUtf8 } from "./utf8.js";

// ---- the schema ------------------------------------------------------------------------------------------------

const NAMESPACE = "com.pingcap.simple.avro";
const fieldsOf = (types) => Object.entries(types).map(([name, type]) => ({ name, type }));
const record = (name, types) => ({ type: "record", name, namespace: NAMESPACE, fields: fieldsOf(types) });
const symbols = (name, text) => ({ type: "enum", name, namespace: NAMESPACE, symbols: text.split(" ") });
const list = (items) => ({ type: "array", items });
const optional = (type) => ["null", type];
const image = optional({
  type: "map",
  values: ["null", "long", "float", "double", "string", "bytes", "Timestamp", "UnsignedBigint"],
});

// prettier-ignore
const RECORDS = [
  record("DataType", {
    mysqlType: "string", charset: "string", collate: "string", length: "long", decimal: optional("int"),
    elements: optional(list("string")), unsigned: optional("boolean"), zerofill: optional("boolean"),
  }),
  record("ColumnSchema", { name: "string", dataType: "DataType", nullable: "boolean", default: optional("string") }),
  record("IndexSchema", {
    name: "string", unique: "boolean", primary: "boolean", nullable: "boolean", columns: list("string"),
  }),
  record("TableSchema", {
    database: "string", table: "string", tableID: "long", version: "long", columns: list("ColumnSchema"),
    indexes: list("IndexSchema"),
  }),
  record("Checksum", { version: "int", corrupted: "boolean", current: "long", previous: "long" }),
  record("Watermark", { version: "int", commitTs: "long", buildTs: "long" }),
  record("Bootstrap", { version: "int", buildTs: "long", tableSchema: "TableSchema" }),
  record("DDL", {
    version: "int", type: symbols("DDLType", "CREATE ALTER ERASE RENAME TRUNCATE CINDEX DINDEX QUERY"), sql: "string",
    commitTs: "long", buildTs: "long", tableSchema: optional("TableSchema"), preTableSchema: optional("TableSchema"),
  }),
  record("Timestamp", { location: "string", value: "string" }),
  record("UnsignedBigint", { value: "long" }),
  record("DML", {
    version: "int", database: "string", table: "string", tableID: "long", type: symbols("DMLType", "INSERT UPDATE DELETE"),
    commitTs: "long", buildTs: "long", schemaVersion: "long", claimCheckLocation: optional("string"),
    handleKeyOnly: optional("boolean"), checksum: optional("Checksum"), data: image, old: image,
  }),
  record("Message", {
    type: symbols("MessageType", "WATERMARK BOOTSTRAP DDL DML"), payload: ["Watermark", "Bootstrap", "DDL", "DML"],
  }),
];
const SCHEMA = parseSchema(JSON.stringify(RECORDS));

/**
 * A value of avro_schema.js with its names: a record as an object, a symbol as text, a union with null as the value or
 * null, another union as {branch, value} with the name of the branch.
 */
function named(node, value) {
  switch (node.kind) {
    case "record":
      return Object.fromEntries(node.fields.map((field, index) => [field.name, named(field.node, value[index])]));
    case "enum":
      return value.toString();
    case "array":
      return value.map((item) => named(node.items, item));
    case "map":
      return value.map(([key, item]) => [key, named(node.values, item)]);
    case "union": {
      const branch = node.branches[value.branch];
      const inner = named(branch, value.value);
      if (node.branches.length === 2) return inner;
      return { branch: branch.fullName?.split(".").at(-1) ?? branch.kind, value: inner };
    }
    default:
      return value;
  }
}

// ---- messages --------------------------------------------------------------------------------------------------

export const read = (bytes, use) => use(readMessage(bytes));

function readMessage(bytes) {
  const { branch, value } = named(SCHEMA, readBinary(bytes, 0, SCHEMA));
  if (branch !== "Message") throw new Rejection(`a ${branch} is not a message`, 0);
  const { type, payload } = value;
  if (type !== payload.branch.toUpperCase()) throw new Rejection(`a ${payload.branch} in a message of the type ${type}`, 1);
  const { version, commitTs = 0n, buildTs, ...rest } = payload.value;
  const message = { type, version, commitTs: BigInt.asUintN(64, commitTs), buildTs };
  if (type === "WATERMARK") return message;
  if (type === "DML") return { ...message, ...readRow(rest) };
  for (const name of ["tableSchema", "preTableSchema"]) message[name] = inside([name], () => readSchema(rest[name] ?? null));
  if (type === "DDL") Object.assign(message, { type: rest.type, sql: textOf(rest.sql) });
  return message;
}

function textOf(bytes) {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Rejection("not UTF-8");
  return text;
}

function nameOf(bytes) {
  if (bytes.length > NAME_LIMIT) throw new Rejection(`a name of more than ${NAME_LIMIT} bytes`);
  return textOf(bytes);
}

// ---- rows ------------------------------------------------------------------------------------------------------

function readRow({ type, database, table, tableID, schemaVersion, claimCheckLocation, handleKeyOnly, checksum, data, old }) {
  if ((data === null) !== (type === "DELETE")) throw new Rejection(`data of ${type}`);
  if ((old === null) !== (type === "INSERT")) throw new Rejection(`old of ${type}`);
  return {
    type,
    database: nameOf(database),
    table: nameOf(table),
    tableId: tableID,
    schemaVersion: BigInt.asUintN(64, schemaVersion),
    claimCheck: (claimCheckLocation && textOf(claimCheckLocation)) || null,
    handleKeyOnly: handleKeyOnly === true,
    checksum: checksum && checkSums(checksum),
    data: inside(["data"], () => readImage(data)),
    old: inside(["old"], () => readImage(old)),
  };
}

/** The values of a row by column, or null. */
function readImage(pairs) {
  if (pairs === null) return null;
  const cells = new Map(pairs.map(([name, cell]) => [nameOf(name), cell]));
  if (cells.size < pairs.length) throw new Rejection("a column appears twice");
  return cells;
}

function checkSums(checksum) {
  for (const name of ["current", "previous"])
    if (BigInt.asUintN(32, checksum[name]) !== checksum[name]) throw new Rejection(`${checksum[name]} is not a checksum of 32 bits`);
  return checksum;
}

// Of a kind of column the branches that it may have, without null. The others have a string.
// prettier-ignore
const BRANCHES = {
  int8: ["long"], int16: ["long"], int24: ["long"], int32: ["long"], int64: ["long"], year: ["long"], enum: ["long"],
  set: ["long"], float32: ["float"], float64: ["double"], bytes: ["bytes"], timestamp: ["Timestamp"], bit: ["string", "long"],
};

const branchesOf = ({ kind, unsigned }) => (kind === "int64" && unsigned ? ["UnsignedBigint"] : (BRANCHES[kind] ?? ["string"]));

/** The column object of a value; SQL NULL is null. */
export function toColumn({ branch, value }, column) {
  if (branch === "null") return null;
  if (!branchesOf(column).includes(branch)) throw new Rejection(`a ${branch} in a column of the type ${column.name}`);
  switch (branch) {
    case "long":
      return textColumn(String(column.kind === "bit" ? BigInt.asUintN(64, value) : value), column);
    case "UnsignedBigint":
      return textColumn(String(BigInt.asUintN(64, value.value)), column);
    case "float":
      return { type: column.kind, value: floatText(value) };
    case "double":
      return { type: column.kind, value: doubleText(value) };
    case "bytes":
      return { type: "bytes", bytes: value.toString("base64") };
    case "Timestamp":
      return timestampColumn(textOf(value.value), textOf(value.location), column);
    default:
      return column.kind === "text" && decodeUtf8(value) === null
        ? { type: "text", bytes: value.toString("base64") }
        : textColumn(textOf(value), column);
  }
}

// ---- table schemas ---------------------------------------------------------------------------------------------

function readSchema(schema) {
  if (schema === null) return null;
  return newSchema({
    schema: nameOf(schema.database),
    table: nameOf(schema.table),
    version: BigInt.asUintN(64, schema.version),
    columns: schema.columns.map((column, index) => inside(["columns", index], () => readColumn(column))),
    indexes: schema.indexes.map((each, index) => inside(["indexes", index], () => ({ ...each, columns: each.columns.map(nameOf) }))),
  });
}

function readColumn({ name, dataType }) {
  const { mysqlType, length, decimal, unsigned, elements } = dataType;
  return { name: nameOf(name), mysqlType: textOf(mysqlType), length, decimal, unsigned: unsigned === true, elements };
}
