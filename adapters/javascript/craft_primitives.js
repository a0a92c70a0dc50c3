// Numbers, strings and arrays of Craft (both profiles).
// A Reader walks a region of the message and can't leave it; every count is compared with the bytes left before
// anything is made of it, since an element takes at least one byte. 64-bit numbers are BigInt.

import { Rejection } from "./rejection.js";
import { decodeUtf8, firstIllFormed, NAME_LIMIT } from "./utf8.js";

const MASK_64 = (1n << 64n) - 1n;

export class Reader {
  constructor(bytes, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.offset = offset;
    this.end = end;
  }

  get left() {
    return this.end - this.offset;
  }

  /** A Reader of the next `size` bytes; this one goes on behind them. */
  region(size, what) {
    if (size > this.left) throw new Rejection(`${what}: ${size} bytes wanted, ${this.left} left`, this.offset);
    const region = new Reader(this.bytes, this.offset, this.offset + Number(size));
    this.offset = region.end;
    return region;
  }

  take(size, what) {
    const { offset, end } = this.region(size, what);
    return this.bytes.subarray(offset, end);
  }

  byte(what) {
    return this.take(1, what)[0];
  }

  finish(what) {
    if (this.left > 0) throw new Rejection(`${what}: ${this.left} bytes too many`, this.offset);
  }

  uvarint(what) {
    const start = this.offset;
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.offset === this.end) throw new Rejection(`${what}: the number is cut off`, this.offset);
      const byte = this.bytes[this.offset++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value > MASK_64) break;
        return value;
      }
    }
    throw new Rejection(`${what}: the number has more than 64 bits`, start);
  }

  varint(what) {
    const zigzag = this.uvarint(what);
    return (zigzag >> 1n) ^ -(zigzag & 1n);
  }

  /** A number of elements that follow in this region. */
  count(what) {
    const start = this.offset;
    return this.#fit(this.uvarint(what), start, what);
  }

  #fit(count, offset, what) {
    if (count > this.left) throw new Rejection(`${what}: ${count} wanted, ${this.left} bytes left`, offset);
    return Number(count);
  }

  #array(count, what, readElement) {
    this.#fit(count, this.offset, what);
    const elements = new Array(count);
    for (let i = 0; i < count; i++) elements[i] = readElement(i);
    return elements;
  }

  uvarints(count, what) {
    return this.#array(count, what, () => this.uvarint(what));
  }

  varints(count, what) {
    return this.#array(count, what, () => this.varint(what));
  }

  /** Numbers that must not exceed `limit`, as JavaScript numbers. */
  smallNumbers(count, limit, what) {
    return this.#array(count, what, () => {
      const start = this.offset;
      const value = this.uvarint(what);
      if (value > limit) throw new Rejection(`${what}: ${value} is above ${limit}`, start);
      return Number(value);
    });
  }

  // Each element is the difference to the one before, modulo 2^64.
  unsignedDeltas(count, what) {
    let value = 0n;
    return this.#array(count, what, () => (value = BigInt.asUintN(64, value + this.uvarint(what))));
  }

  signedDeltas(count, what) {
    let value = 0n;
    return this.#array(count, what, () => (value = BigInt.asIntN(64, value + this.varint(what))));
  }

  text(what) {
    const { left, offset } = this;
    const bytes = this.take(left, what);
    const text = decodeUtf8(bytes);
    if (text === null) throw new Rejection(`${what}: not UTF-8`, offset + firstIllFormed(bytes));
    return text;
  }

  string(what) {
    return this.region(this.uvarint(what), what).text(what);
  }

  /** All lengths, then all texts. */
  names(count, what) {
    const start = this.offset;
    return this.uvarints(count, what).map((length) => {
      if (length > NAME_LIMIT) throw new Rejection(`${what}: a name of ${length} bytes`, start);
      return this.region(length, what).text(what);
    });
  }

  /** All lengths, then all bytes: a Reader for each, null for length -1. */
  nullables(count, what) {
    const start = this.offset;
    return this.varints(count, what).map((length) => {
      if (length < -1n) throw new Rejection(`${what}: length ${length}`, start);
      return length === -1n ? null : this.region(length, what);
    });
  }
}

/** The region of the size tables: the number in the last bytes, to be read backwards, is its size. */
export function sizeTables(bytes, begin) {
  let start = bytes.length;
  let size = 0n;
  let more = true;
  for (let shift = 0n; more; shift += 7n) {
    if (start === begin || shift === 70n) throw new Rejection("tail: no number of 64 bits", start);
    start -= 1;
    size |= BigInt(bytes[start] & 0x7f) << shift;
    more = bytes[start] >= 0x80;
  }
  if (size > start - begin) throw new Rejection(`tail: size tables of ${size} bytes, ${start - begin} there`, start);
  return new Reader(bytes, start - Number(size), start);
}

// ---- writing: each function gives a Buffer --------------------------------------------------------------------

export const { concat } = Buffer;

export function uvarint(value) {
  const bytes = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

export function varint(value) {
  const wide = BigInt(value);
  return uvarint(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n)));
}

const differences = (values) => values.map((value, i) => BigInt(value) - BigInt(i === 0 ? 0 : values[i - 1]));

export const uvarints = (values) => concat(values.map(uvarint));
export const varints = (values) => concat(values.map(varint));
export const unsignedDeltas = (values) => uvarints(differences(values).map((value) => BigInt.asUintN(64, value)));
export const signedDeltas = (values) => varints(differences(values).map((value) => BigInt.asIntN(64, value)));

export function string(text) {
  const bytes = Buffer.from(text);
  return concat([uvarint(bytes.length), bytes]);
}

export function names(texts) {
  const all = texts.map((text) => Buffer.from(text));
  return concat([uvarints(all.map((bytes) => bytes.length)), ...all]);
}

export function nullables(values) {
  const lengths = varints(values.map((bytes) => (bytes === null ? -1 : bytes.length)));
  return concat([lengths, ...values.filter((bytes) => bytes !== null)]);
}

/** The size of the size tables, bytes in reverse order. */
export const tail = (size) => uvarint(size).reverse();
