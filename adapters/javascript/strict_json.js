// A JSON reader that keeps what JSON.parse loses: the text of numbers, duplicate members, and where each value stands.
//
// A value is {type, at, end, …}: `at` and `end` are its place in the text. Strings and numbers have `text`, objects have
// `members` (a Map), arrays have `items`.

import { Rejection } from "./rejection.js";
import { decodeUtf8, firstIllFormed } from "./utf8.js";

const DEPTH_LIMIT = 8;
const SPACE = " \t\n\r";
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERALS = /true|false|null/y;
const HEX = /[0-9a-fA-F]{4}/y;

/**
 * Parse `bytes`, pass the value and the text to `read`, and turn places in the text into byte offsets.
 *
 * `start`: the offset of the first byte. `depth`: how many arrays and objects may be in each other. `repeatable`: the
 * member of the outermost object that may be there more than once; the last one counts.
 */
export function readJson(bytes, read, { start = 0, depth = DEPTH_LIMIT, repeatable } = {}) {
  return readText(bytes, start, (text) => read(new Parser(text, depth, repeatable).document(), text));
}

/** As `readJson`, for values that follow one another with `terminator` after each. */
export function readJsonSequence(bytes, terminator, read, { depth = DEPTH_LIMIT } = {}) {
  return readText(bytes, 0, (text) => {
    const parser = new Parser(text, depth);
    const results = [];
    while (parser.at < text.length) {
      results.push(read(parser.value(0), results.length));
      if (!text.startsWith(terminator, parser.at)) parser.fail("the terminator is missing");
      parser.at += terminator.length;
    }
    return results;
  });
}

function readText(bytes, start, read) {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Rejection("not UTF-8", start + firstIllFormed(bytes));
  try {
    return read(text);
  } catch (error) {
    if (error instanceof Rejection && error.offset !== undefined)
      error.offset = start + Buffer.byteLength(text.slice(0, error.offset));
    throw error;
  }
}

class Parser {
  constructor(text, depthLimit, repeatable) {
    this.text = text;
    this.depthLimit = depthLimit;
    this.repeatable = repeatable;
    this.at = 0;
  }

  document() {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail("data after the JSON value");
    return value;
  }

  fail(problem) {
    throw new Rejection(problem, this.at);
  }

  space() {
    while (SPACE.includes(this.text[this.at] ?? "x")) this.at++;
  }

  /** Move past `token` if it comes next. */
  skip(token) {
    this.space();
    if (this.text[this.at] !== token) return false;
    this.at++;
    return true;
  }

  expect(token) {
    if (!this.skip(token)) this.fail(`${token} expected`);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [null];
    if (found !== null) this.at += found.length;
    return found;
  }

  value(depth) {
    this.space();
    const value = { at: this.at, ...this.bareValue(depth) };
    value.end = this.at;
    return value;
  }

  bareValue(depth) {
    const first = this.text[this.at];
    if (first === '"') return { type: "string", text: this.string() };
    if (first === "{" || first === "[") {
      if (depth === this.depthLimit) this.fail(`nested deeper than ${this.depthLimit}`);
      return first === "{"
        ? { type: "object", members: this.object(depth + 1) }
        : { type: "array", items: this.array(depth + 1) };
    }
    const number = this.match(NUMBER);
    if (number !== null) return { type: "number", text: number };
    const literal = this.match(LITERALS);
    if (literal === null) this.fail("a JSON value expected");
    return { type: literal };
  }

  object(depth) {
    const members = new Map();
    this.expect("{");
    if (this.skip("}")) return members;
    do {
      this.space();
      const { at } = this;
      if (this.text[at] !== '"') this.fail("a member name expected");
      const name = this.string();
      const mayRepeat = depth === 1 && name === this.repeatable;
      if (members.has(name) && !mayRepeat) throw new Rejection(`member ${name.slice(0, 40)} appears twice`, at);
      this.expect(":");
      members.set(name, this.value(depth));
    } while (this.skip(","));
    this.expect("}");
    return members;
  }

  array(depth) {
    const items = [];
    this.expect("[");
    if (this.skip("]")) return items;
    do items.push(this.value(depth));
    while (this.skip(","));
    this.expect("]");
    return items;
  }

  string() {
    const { text } = this;
    const pieces = [];
    this.at++;
    for (let begin = this.at; ;) {
      const code = text.charCodeAt(this.at); // NaN behind the end
      if (code === 0x22 || code === 0x5c) {
        pieces.push(text.slice(begin, this.at));
        if (code === 0x22) break;
        pieces.push(this.escape());
        begin = this.at;
      } else if (code >= 0x20) this.at++;
      else this.fail("the string is cut off or holds a control character");
    }
    this.at++;
    return pieces.length === 1 ? pieces[0] : pieces.join("");
  }

  escape() {
    const { at } = this;
    const letter = this.text[at + 1];
    this.at += 2;
    if (letter === "u") return this.unicodeEscape(at);
    if (!Object.hasOwn(ESCAPES, letter ?? "")) throw new Rejection("no escape of JSON", at);
    return ESCAPES[letter];
  }

  unicodeEscape(at) {
    const unit = this.hex(at);
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    const paired = unit < 0xdc00 && this.text.startsWith("\\u", this.at);
    if (paired) this.at += 2;
    const second = paired ? this.hex(at) : 0;
    if (second < 0xdc00 || second > 0xdfff) throw new Rejection("half of a surrogate pair", at);
    return String.fromCharCode(unit, second);
  }

  hex(at) {
    const digits = this.match(HEX);
    if (digits === null) throw new Rejection("four hexadecimal digits expected", at);
    return parseInt(digits, 16);
  }
}
