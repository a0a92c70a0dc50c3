// Members of JSON objects, read as what a format wants them to be. A value is one of strict_json.js, and undefined where
// the member is missing; what is not as it should be is rejected at its place.

import { Rejection } from "./rejection.js";
import { parseInteger } from "./mysql_values.js";
import { NAME_LIMIT } from "./utf8.js";

/** A function that gives the member of a name. */
export function membersOf(json) {
  expect(json, "object");
  return (name) => json.members.get(name);
}

/** As `membersOf`, for a format in which null is the same as a missing member. */
export function presentMembersOf(json) {
  const member = membersOf(json);
  return (name) => (member(name)?.type === "null" ? undefined : member(name));
}

export function required(json, name) {
  const value = membersOf(json)(name);
  if (value === undefined) throw new Rejection(`member ${name} is missing`, json.end - 1);
  return value;
}

export function expect(json, type) {
  if (json.type !== type) throw new Rejection(`a ${type} expected, not ${json.type}`, json.at);
  return json;
}

export const numberText = (json) => expect(json, "number").text;

export function itemsOf(json) {
  return expect(json, "array").items;
}

export function string(json) {
  return json === undefined ? null : expect(json, "string").text;
}

export function nameText(json) {
  const text = string(json);
  if (text !== null) checkName(text, json);
  return text;
}

export function checkName(name, { at }) {
  if (Buffer.byteLength(name) > NAME_LIMIT) throw new Rejection(`a name of more than ${NAME_LIMIT} bytes`, at);
}

/** A BigInt of 64 bits, or null. */
export function integer(json, unsigned = false) {
  if (json === undefined) return null;
  return parseInteger(numberText(json), unsigned, json.at);
}

export function boolean(json) {
  if (json === undefined || json.type === "false") return false;
  expect(json, "true");
  return true;
}

export function base64(json) {
  return strictBase64(string(json), json.at);
}

/** The bytes of standard base64 with padding, without anything else in it. */
export function strictBase64(text, offset) {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw new Rejection("not base64", offset);
  return bytes;
}
