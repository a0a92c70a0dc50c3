// Avro schemas and the binary encoding: a schema's text to a node, and a node and bytes to a value.
//
// A node is {kind, …}: the primitives, `record` with `fields` ({name, node}), `union` with `branches`, `array` with
// `items`, `map` with `values`, `enum` with `symbols`, `fixed` with `size`. `attributes` has the members of its object.
// A value is null, a boolean, a number (float, double), a BigInt (int, long), a Buffer (bytes, string, fixed), an array
// of values (record, array), of pairs (map), or {branch, value} (union).

import { Rejection, inside } from "./rejection.js";
import { expect, itemsOf, membersOf, required, string } from "./json_members.js";
import { readJson } from "./strict_json.js";

const TEXT_LIMIT = 2 * 1024 * 1024;
const JSON_DEPTH = 96;
const TYPE_DEPTH = 24;
const PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"];

/** The node of a schema's text. The error has no offset: the text is not part of the message. */
export function parseSchema(text) {
  if (text.length > TEXT_LIMIT) throw new Rejection("a schema of more than 2 MiB");
  try {
    return readJson(Buffer.from(text), (json) => readType(json, new Map(), "", 1), { depth: JSON_DEPTH });
  } catch (error) {
    if (error instanceof Rejection) Object.assign(error, { message: `the schema: ${error.message}`, offset: undefined, path: [] });
    throw error;
  }
}

function readType(json, known, namespace, depth) {
  if (depth > TYPE_DEPTH) throw new Rejection(`types nested deeper than ${TYPE_DEPTH}`, json.at);
  const inner = (each, space = namespace) => readType(each, known, space, depth + 1);
  if (json.type === "array") return unionOf(json, inner);
  if (json.type === "string") return named(json.text, known, namespace, json.at);
  const member = membersOf(json);
  const type = required(json, "type");
  if (type.type !== "string") return { ...inner(type), attributes: json.members };
  switch (type.text) {
    case "record":
    case "error":
      return readRecord(json, known, namespace, inner);
    case "array":
      return { kind: "array", items: inner(required(json, "items")) };
    case "map":
      return { kind: "map", values: inner(required(json, "values")) };
    case "enum":
      return define(json, known, namespace, { kind: "enum", symbols: itemsOf(required(json, "symbols")).map(string) });
    case "fixed": {
      const size = Number(expect(required(json, "size"), "number").text);
      if (!Number.isSafeInteger(size) || size < 0) throw new Rejection("a size of bytes", member("size").at);
      return define(json, known, namespace, { kind: "fixed", size });
    }
    default:
      return { ...named(type.text, known, namespace, json.at), attributes: json.members };
  }
}

function named(name, known, namespace, at) {
  if (PRIMITIVES.includes(name)) return { kind: name, attributes: new Map() };
  const node = known.get(name.includes(".") || namespace === "" ? name : `${namespace}.${name}`) ?? known.get(name);
  if (node === undefined) throw new Rejection(`the type ${name.slice(0, 40)} is not known`, at);
  return node;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

function define(json, known, namespace, node) {
  const name = string(required(json, "name"));
  const space = name.includes(".") ? name.split(".").slice(0, -1).join(".") : (string(membersOf(json)("namespace")) ?? namespace);
  const fullName = name.includes(".") || space === "" ? name : `${space}.${name}`;
  if (!NAME.test(fullName)) throw new Rejection(`${fullName.slice(0, 40)} is not a name`, json.at);
  if (known.has(fullName)) throw new Rejection(`the type ${fullName.slice(0, 40)} appears twice`, json.at);
  known.set(fullName, Object.assign(node, { fullName, space, attributes: json.members }));
  return node;
}

function readRecord(json, known, namespace, inner) {
  const node = define(json, known, namespace, { kind: "record", fields: [] });
  const names = new Set();
  for (const each of itemsOf(required(json, "fields"))) {
    const name = string(required(each, "name"));
    if (!NAME.test(name) || name.includes(".")) throw new Rejection(`${name.slice(0, 40)} is not a name`, each.at);
    if (names.has(name)) throw new Rejection(`field ${name.slice(0, 40)} appears twice`, each.at);
    names.add(name);
    node.fields.push({ name, node: inner(required(each, "type"), node.space) });
  }
  return node;
}

function unionOf(json, inner) {
  const branches = json.items.map((each) => inner(each));
  const keys = branches.map(({ kind, fullName }) => fullName ?? kind);
  if (branches.length === 0 || keys.includes("union") || new Set(keys).size < keys.length)
    throw new Rejection("a union of types that differ", json.at);
  return { kind: "union", branches };
}

// ---- values ----------------------------------------------------------------------------------------------------

const DEPTH_LIMIT = 64;
const FREE_ITEMS = 16384;

/** The value of a whole message: `bytes` from `start` to the end. */
export function readBinary(bytes, start, node) {
  const reader = { bytes, at: start, items: FREE_ITEMS + 2 * (bytes.length - start) };
  const value = readNode(reader, node, 0);
  if (reader.at < bytes.length) throw new Rejection("bytes after the record", reader.at);
  return value;
}

function take(reader, count, what = "the record") {
  if (count > reader.bytes.length - reader.at) throw new Rejection(`${what} is cut short`, reader.at);
  reader.at += Number(count);
  return reader.bytes.subarray(reader.at - Number(count), reader.at);
}

const VARINT_BYTES = { int: 5, long: 10 };

function varint(reader, kind) {
  const begin = reader.at;
  let value = 0n;
  for (let index = 0; index < VARINT_BYTES[kind]; index++) {
    const [byte] = take(reader, 1, "a number");
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte >= 128) continue;
    const number = (value >> 1n) ^ -(value & 1n);
    const bits = kind === "int" ? 32 : 64;
    if (BigInt.asIntN(bits, number) === number) return number;
    break;
  }
  throw new Rejection(`a number beyond ${kind}`, begin);
}

function lengthOf(reader) {
  const begin = reader.at;
  const length = varint(reader, "long");
  if (length < 0n) throw new Rejection(`a length of ${length}`, begin);
  return length;
}

function readNode(reader, node, depth) {
  if (depth > DEPTH_LIMIT) throw new Rejection(`values nested deeper than ${DEPTH_LIMIT}`, reader.at);
  switch (node.kind) {
    case "null":
      return null;
    case "boolean": {
      const [byte] = take(reader, 1);
      if (byte > 1) throw new Rejection(`a boolean of ${byte}`, reader.at - 1);
      return byte === 1;
    }
    case "int":
    case "long":
      return varint(reader, node.kind);
    case "float":
      return take(reader, 4).readFloatLE();
    case "double":
      return take(reader, 8).readDoubleLE();
    case "bytes":
    case "string":
      return take(reader, lengthOf(reader), "a text or bytes");
    case "fixed":
      return take(reader, node.size);
    case "enum": {
      const begin = reader.at;
      const symbol = node.symbols[Number(varint(reader, "int"))];
      if (symbol === undefined) throw new Rejection("a symbol that does not exist", begin);
      return Buffer.from(symbol);
    }
    case "union": {
      const begin = reader.at;
      const branch = Number(varint(reader, "long"));
      if (node.branches[branch] === undefined) throw new Rejection(`branch ${branch} of a union`, begin);
      return { branch, value: readNode(reader, node.branches[branch], depth + 1) };
    }
    case "array":
      return readBlocks(reader, () => readNode(reader, node.items, depth + 1));
    case "map":
      return readBlocks(reader, () => [take(reader, lengthOf(reader)), readNode(reader, node.values, depth + 1)]);
    default:
      return node.fields.map((field) => inside([field.name], () => readNode(reader, field.node, depth + 1)));
  }
}

function readBlocks(reader, readItem) {
  const items = [];
  for (;;) {
    const begin = reader.at;
    const count = varint(reader, "long");
    if (count === 0n) return items;
    const size = count < 0n ? lengthOf(reader) : null;
    const first = reader.at;
    for (let left = count < 0n ? -count : count; left > 0n; left--) {
      if (--reader.items < 0) throw new Rejection("more items than the bytes can hold", begin);
      items.push(readItem());
    }
    if (size !== null && BigInt(reader.at - first) !== size) throw new Rejection("the size of a block is wrong", begin);
  }
}
