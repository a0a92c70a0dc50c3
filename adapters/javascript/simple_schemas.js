// Table schemas of Simple: what they say of a table, and which of them a row is read by.

import { declaredOf, parseDeclared } from "./mysql_text.js";
import { Rejection } from "./rejection.js";

const TIMES = { time: 10, datetime: 19, timestamp: 19 }; // the length without digits of a second

/**
 * What a `tableSchema` says: {schema, table, version, key, columns}, of which `columns` is a Map from names to declared
 * types as mysql_text.js has them. Of each of its columns: {name, mysqlType, length, decimal, unsigned, elements};
 * of each index: {unique, primary, nullable, columns}.
 */
export function newSchema({ schema, table, version, columns, indexes }, at) {
  const declared = new Map(columns.map((column) => [column.name, newType(column, at)]));
  if (declared.size < columns.length) throw new Rejection("a column appears twice in the table schema", at);
  const unknown = indexes.flatMap((index) => index.columns).find((name) => !declared.has(name));
  if (unknown !== undefined) throw new Rejection(`an index of the column ${unknown.slice(0, 40)}, which does not exist`, at);
  return { schema, table, version, columns: declared, key: keyOf(indexes) };
}

function newType({ mysqlType, length, decimal, unsigned, elements }, at) {
  const type = parseDeclared(mysqlType);
  if (type === null) throw new Rejection(`MySQL has no type ${mysqlType.slice(0, 40)}`, at);
  if (type.kind === "bit" && (length < 1n || length > 64n)) throw new Rejection(`a BIT of ${length} bits`, at);
  return { ...type, unsigned, elements, parameters: parametersOf(type.kind, Number(length), decimal) };
}

function parametersOf(kind, length, decimal) {
  if (kind === "decimal") return [length, Number(decimal ?? 0)];
  if (kind === "bit") return [length];
  if (Object.hasOwn(TIMES, kind)) return [Number(decimal ?? Math.max(0, length - TIMES[kind] - 1))];
  return [];
}

/** The columns of the primary key, else of the shortest unique index that is not nullable. */
function keyOf(indexes) {
  const unique = indexes.filter((index) => index.unique && !index.nullable);
  unique.sort((left, right) => left.columns.length - right.columns.length);
  return (indexes.find(({ primary }) => primary) ?? unique[0])?.columns ?? [];
}

/** The schema of a row that has the columns `names`: of those of the feed, else by a definition of the request. */
export function findSchema({ database, table, schemaVersion }, names, schemas, definitions) {
  const isTable = (each) => each.schema === database && each.table === table;
  const feed = schemas.filter((each) => isTable(each) && each.version === schemaVersion);
  const found = feed.length > 0 ? feed : fromDefinitions(definitions.filter(isTable), schemaVersion);
  if (found.length === 0) throw new Rejection(`no table schema of ${database}.${table} has version ${schemaVersion}`);
  const fitting = found.filter(({ columns }) => [...names].every((name) => columns.has(name)));
  if (fitting.length === 0) throw new Rejection(`no table schema of ${database}.${table} has the columns of the row`);
  if (fitting.some((each) => layoutOf(each) !== layoutOf(fitting[0])))
    throw new Rejection(`the table schemas of ${database}.${table} with version ${schemaVersion} differ`);
  return fitting.at(-1);
}

const layoutOf = ({ columns }) => JSON.stringify([...columns]);

function fromDefinitions(definitions, version) {
  const known = definitions.find((each) => String(each.version) === String(version)) ?? definitions.at(-1);
  if (known === undefined) return [];
  return [{ key: known.key ?? [], columns: new Map(known.columns.map((column) => [column.name, declaredWithElements(column)])) }];
}

/** As `declaredOf`. The elements may be in the `type` only. */
function declaredWithElements(column) {
  const declared = declaredOf(column);
  return { ...declared, elements: declared.elements ?? declaredOf({ type: column.type }).elements };
}
