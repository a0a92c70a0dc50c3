// Compares rows and values by the rules of an exported corpus (COMPARISON.md there).

import { isDeepStrictEqual } from "node:util";

export const same = (one, other) => (one ?? null) === (other ?? null);

/** Return whether a row image is right: the same columns with equal values. */
export function sameRow(wanted, given, rules) {
  if (same(wanted, null) || same(given, null)) return same(wanted, given);
  const names = Object.keys(wanted);
  const isComplete = names.length === Object.keys(given).length && names.every((name) => Object.hasOwn(given, name));
  return isComplete && names.every((name) => sameValue(wanted[name], given[name], rules));
}

function sameValue(wanted, given, rules) {
  if (isNull(wanted) || isNull(given)) return isNull(wanted) && isNull(given);
  const found = typeof given === "string" ? { value: given } : given;
  if (wanted.unavailable || found.unavailable) return wanted.unavailable === found.unavailable;
  const kind = kindOf(wanted.type ?? "text");
  if (found.type !== undefined && !sameType(wanted.type ?? "text", found.type)) return false;
  return [wanted, ...(wanted.same ?? [])].some((form) => sameForm(kind, form, found, rules));
}

const isInteger = (text) => /^-?[0-9]+$/.test(text);
export const isNull = (value) => value === null || value.value === null;
const kindOf = (type) => type.replace(/[(<].*[)>]/s, "");
const parametersOf = (type) => /^[^(<]*\(([0-9]+(?:,[0-9]+)*)\)/.exec(type)?.[1].split(",") ?? []; // of decimal(10,4)

/** Return whether two types are the same, as far as both have parameters. */
function sameType(wanted, given) {
  const [ours, theirs] = [parametersOf(wanted), parametersOf(given)];
  return kindOf(wanted) === kindOf(given) && ours.every((each, index) => each === (theirs[index] ?? each));
}
const TOKEN = /"(?:[^"\\]|\\.)*"|[-+.\w]+|[[\]{}]/gs; // of JSON, without commas and colons
const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const FLOAT = /^-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$/;
const floatOf = (text) => ({ nan: NaN, inf: Infinity, "-inf": -Infinity })[text] ?? (FLOAT.test(text) ? Number(text) : null);
const sameFloat = (one, other, round) => floatOf(other) !== null && Object.is(round(floatOf(one)), round(floatOf(other)));
const numbersOf = (vector) => /^\[(.*)\]$/s.exec(vector)?.[1].split(",").map((item) => item.trim());
const decimalOf = (text, { not_compared: names }) =>
  (names.includes("scale") ? text.replace(/(?<=\..*)0+$|\.0*$/, "") : text).replace(/^(-?)0+(?=[0-9])|^-(?=[0.]*$)/, "$1");

function sameForm(kind, wanted, given, rules) {
  if (kind === "enum" || kind === "set") return sameLabel(kind, wanted, given);
  if (kind === "array") return sameItems(wanted.items, given.items, (...pair) => sameValue(...pair, rules));
  if (kind === "struct") return sameRow(wanted.fields, given.fields ?? null, rules);
  if (kind === "map") return sameMap(wanted.entries, [...(given.entries ?? [])], rules);
  if ("bytes" in wanted || "bytes" in given) return wanted.bytes === given.bytes;
  const [one, other] = [wanted.value, given.value];
  if (typeof one !== "string" || typeof other !== "string") return false;
  if (/^(int[0-9]|year|bit)/.test(kind)) return isInteger(other) && BigInt(one) === BigInt(other);
  if (kind.startsWith("float")) return sameFloat(one, other, kind === "float32" ? Math.fround : Number);
  if (kind.startsWith("decimal"))
    return one === other || (/^-?[0-9]+(\.[0-9]+)?$/.test(other) && decimalOf(one, rules) === decimalOf(other, rules));
  if (kind === "json") return one === other || isDeepStrictEqual(jsonOf(one), jsonOf(other));
  if (kind === "vector" && one !== other)
    return sameItems(numbersOf(one), numbersOf(other), (...pair) => sameFloat(...pair, Math.fround));
  if (!same(wanted.unit, given.unit) || one !== other) return false;
  if (!/^(date|time)/.test(kind) || given.unit || same(wanted.zone, given.zone)) return true;
  return given.zone === undefined && (!rules.zone_needed || /^-?infinity$/.test(one));
}

function sameLabel(kind, wanted, given) {
  if (typeof given.value === "string") return given.value === wanted.index || given.value === wanted.label;
  const form = (text) => (kind === "set" ? String(text).split(",").sort().join() : text);
  const both = ["index", "label"].filter((each) => each in wanted && each in given);
  return both.length > 0 && both.every((each) => form(wanted[each]) === form(given[each]));
}

const sameItems = (wanted, given, isSame) =>
  wanted?.length === given?.length && wanted?.every((item, index) => isSame(item, given[index]));
function sameMap(wanted, given, rules) {
  const isThere = ([key, value]) => {
    const index = given.findIndex((pair) => sameValue(key, pair[0], rules));
    return index >= 0 && sameValue(value, given.splice(index, 1)[0][1], rules);
  };
  return wanted.length === given.length && wanted.every(isThere);
}

/** Return the digits of a JSON number without zeros at the ends, and the exponent. */
function exact(number) {
  const [, sign, whole, fraction = "", exponent = "0"] = NUMBER.exec(number);
  const digits = (whole + fraction).replace(/0+$/, "");
  const short = digits.replace(/^0+/, "");
  return short ? `${sign}${short}e${BigInt(exponent) + BigInt(whole.length - digits.length)}` : "0";
}

/** Return a JSON text as a value: numbers exact, members sorted by name, repeated ones in their order. */
function jsonOf(text) {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  const list = (end, item) => {
    const found = [];
    while (tokens[at] !== end) found.push(item());
    at += 1;
    return found;
  };
  const member = () => [JSON.parse(tokens[at++]), value()];
  const value = () => {
    const token = tokens[at++];
    if (token === "[") return list("]", value);
    if (token === "{") return { members: list("}", member).sort(([one], [other]) => (one < other ? -1 : Number(one > other))) };
    return NUMBER.test(token) ? { number: exact(token) } : JSON.parse(token);
  };
  try {
    JSON.parse(text);
    return value();
  } catch {
    return { text };
  }
}
