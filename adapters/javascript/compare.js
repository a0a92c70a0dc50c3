// Compares events by the rules of an exported corpus (COMPARISON.md there).

import { isDeepStrictEqual } from "node:util";

import { isNull, same, sameRow } from "./compare_values.js";

const NAMES = ["database", "schema", "table"];
const POSITION = [
  ...["commit_ts", "sequence_id", "lsn", "tx_id", "tx_order", "partition", "commit_ms", "sent_ms"],
  ...["file", "pos", "row", "gtid", "server_id", "commit_lsn", "change_lsn", "event_serial_no"],
  ...["commit_scn", "scn", "rs_id", "ssn", "start_ts"],
];
const isTombstone = (event) => event.what === "tombstone";

/** Return whether the events of an answer are right. `rules`: those of the format in manifest.json. */
export function sameEvents(expected, given, rules) {
  const wanted = joined(given.some(isTombstone) ? expected : expected.filter((event) => !isTombstone(event)));
  const found = joined(given);
  return wanted.length === found.length && wanted.every((event, index) => sameEvent(event, found[index], rules));
}

function joined(events) {
  const all = [];
  for (const event of events) {
    const last = all.at(-1);
    const isSame = (name) => same(last[name], event[name]) && same(last.position?.[name], event.position?.[name]);
    if (last?.half === "before" && event.half === "after" && [...NAMES, ...POSITION.slice(0, 3)].every(isSame))
      all.push({ ...all.pop(), ...event, op: "update", before: last.before, half: null });
    else all.push(event);
  }
  return all;
}

/** Return a row without the columns that are NULL and not in another row. */
function withoutNulls(row, other) {
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => name in other || !isNull(value)));
}

function sameEvent(wanted, given, rules) {
  const { position = {}, extra = {}, sent, key } = wanted;
  const counts = (name) => !rules.not_compared.includes(name);
  const equal = (...names) => names.every((name) => same(wanted[name], given[name]));
  const isNamed = NAMES.every((name) => !counts(name) || equal(name) || (name !== "table" && !wanted[name] && !given[name]));
  const isPlaced = (name) =>
    same(position[name], given.position?.[name]) || !counts(name) || !(name in position || rules.not_made_up.includes(name));
  if (!equal("kind") || (counts("position") && !POSITION.every(isPlaced))) return false;
  if (Object.keys(extra).some((name) => name in (given.extra ?? {}) && !isDeepStrictEqual(extra[name], given.extra[name]))) return false;
  if (wanted.kind === "ddl") {
    const both = ["what", "code"].filter((name) => name in wanted && name in given);
    const columns = [wanted, given].map((event) => event.columns?.map((column) => column.name));
    if (columns[0] && columns[1] && !isDeepStrictEqual(...columns)) return false;
    return isNamed && equal("query") && (!counts("what") || equal(...(both.length ? both : ["what"])));
  }
  if (wanted.kind !== "row") return equal("what", "id");
  const isCut = sent === "key" && rules.key_rows_have_nulls;
  const ofKey = (row, key) => (isCut && row && key ? withoutNulls(row, key) : row);
  const filled = Object.entries(wanted.after ?? {}).filter(([name]) => sent === "changed" && name in (given.before ?? {}));
  return (
    (equal("op") || (!counts("op") && wanted.op !== "delete" && given.op !== "delete")) &&
    (!sent || !given.sent || sent === "changed" || sent === given.sent) &&
    (!key || !counts("key") || isDeepStrictEqual([...key].sort(), given.key && [...given.key].sort())) &&
    equal("half") &&
    isNamed &&
    sameRow(wanted.before && { ...Object.fromEntries(filled), ...wanted.before }, ofKey(given.before, wanted.before), rules) &&
    sameRow(wanted.after, ofKey(given.after, wanted.after), rules)
  );
}
