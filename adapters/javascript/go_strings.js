// Strings as Go's strconv.Quote and encoding/json write them.

import { Rejection } from "./rejection.js";
import { isPrintable } from "./printable.js";
import { decodeUtf8, runeAt } from "./utf8.js";

const hex = (value, width) => value.toString(16).padStart(width, "0");

// ---- strconv.Quote, without its outer quotation marks: bytes in, printable text out -----------------------------

const QUOTE_LETTERS = { 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\" };
const UNQUOTE_LETTERS = new Map(Object.entries(QUOTE_LETTERS).map(([byte, letter]) => [letter, Number(byte)]));

export function quote(bytes) {
  const pieces = [];
  for (let i = 0; i < bytes.length;) {
    const [rune, size] = runeAt(bytes, i);
    if (rune < 0) pieces.push(`\\x${hex(bytes[i], 2)}`);
    else if (QUOTE_LETTERS[rune]) pieces.push(`\\${QUOTE_LETTERS[rune]}`);
    else if (isPrintable(rune)) pieces.push(String.fromCodePoint(rune));
    else if (rune < 0x80) pieces.push(`\\x${hex(rune, 2)}`);
    else pieces.push(rune > 0xffff ? `\\U${hex(rune, 8)}` : `\\u${hex(rune, 4)}`);
    i += size;
  }
  return pieces.join("");
}

const STOP = /[\\"\n]/g;
const ESCAPE = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([abfnrtv\\"])/y;

export function unquote(text, offset) {
  const pieces = [];
  for (let at = 0; at < text.length;) {
    STOP.lastIndex = at;
    const stop = STOP.exec(text)?.index ?? text.length;
    pieces.push(Buffer.from(text.slice(at, stop)));
    if (stop === text.length) break;
    ESCAPE.lastIndex = stop + 1;
    const escape = text[stop] === "\\" ? ESCAPE.exec(text) : null;
    if (escape === null) throw new Rejection("no quoting of Go", offset);
    pieces.push(escapedBytes(escape, offset));
    at = ESCAPE.lastIndex;
  }
  return Buffer.concat(pieces);
}

function escapedBytes([, byte, short, long, octal, letter], offset) {
  if (letter) return Buffer.of(UNQUOTE_LETTERS.get(letter));
  if (byte) return Buffer.of(parseInt(byte, 16));
  if (octal) {
    const value = parseInt(octal, 8);
    if (value > 0xff) throw new Rejection(`\\${octal} is not a byte`, offset);
    return Buffer.of(value);
  }
  const rune = parseInt(short ?? long, 16);
  if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) throw new Rejection("an escape of no character", offset);
  return Buffer.from(String.fromCodePoint(rune));
}

// ---- encoding/json ---------------------------------------------------------------------------------------------

const SHORT_ESCAPES = { '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const ALWAYS = /["\\\u0000-\u001f\u2028\u2029]/g;
const PLAIN = /["\\\u0000-\u001f]/g;
const PLAIN_ESCAPES = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const WITH_HTML = /["\\\u0000-\u001f\u2028\u2029<>&]/g;

/** A JSON string of bytes, with its quotation marks. Each byte that is not UTF-8 becomes the escape \ufffd. */
export function jsonString(bytes, escapesHtml) {
  return stringOf(bytes, escapesHtml ? WITH_HTML : ALWAYS, SHORT_ESCAPES);
}

/** The same as the library jsoniter writes it, without escapes for HTML. */
export function plainJsonString(bytes) {
  return stringOf(bytes, PLAIN, PLAIN_ESCAPES);
}

function stringOf(bytes, special, escapes) {
  const escape = (text) =>
    text.replace(special, (char) => escapes[char] ?? `\\u${hex(char.charCodeAt(0), 4)}`);
  const whole = decodeUtf8(bytes);
  if (whole !== null) return `"${escape(whole)}"`;

  const pieces = [];
  let begin = 0;
  for (let i = 0; i < bytes.length;) {
    const [rune, size] = runeAt(bytes, i);
    i += size;
    if (rune >= 0) continue;
    pieces.push(escape(decodeUtf8(bytes.subarray(begin, i - 1))), "\\ufffd");
    begin = i;
  }
  pieces.push(escape(decodeUtf8(bytes.subarray(begin))));
  return `"${pieces.join("")}"`;
}
