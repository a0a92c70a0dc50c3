// LZ4 (frame and block) and Snappy (block), for reading. What is wrong in them is rejected at byte 0.

import { Rejection } from "./rejection.js";

const LIMIT = 64 * 1024 * 1024;

const fail = (problem) => {
  throw new Rejection(problem, 0);
};

/** Bytes that grow, with the one operation that both formats have: copying from what is there already. */
class Output {
  constructor(limit) {
    this.limit = limit;
    this.bytes = Buffer.alloc(Math.min(limit, 4096));
    this.length = 0;
  }

  grow(count) {
    const needed = this.length + count;
    if (needed > this.limit) fail(`more than ${this.limit} bytes come out`);
    if (needed <= this.bytes.length) return;
    const larger = Buffer.alloc(Math.max(needed, Math.min(this.limit, this.bytes.length * 2)));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  append(piece) {
    this.grow(piece.length);
    piece.copy(this.bytes, this.length);
    this.length += piece.length;
  }

  repeat(distance, count) {
    if (distance === 0 || distance > this.length) fail("a copy from before the beginning");
    this.grow(count);
    for (let i = 0; i < count; i++, this.length++) this.bytes[this.length] = this.bytes[this.length - distance];
  }

  whole() {
    return this.bytes.subarray(0, this.length);
  }
}

class Input {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  take(count) {
    if (count > this.bytes.length - this.at) fail("the compressed data are cut short");
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  number(size) {
    return size === 0 ? 0 : this.take(size).readUIntLE(0, size);
  }

  get isAtEnd() {
    return this.at === this.bytes.length;
  }
}

// ---- LZ4 -------------------------------------------------------------------------------------------------------

const LZ4_MAGIC = 0x184d2204;

export function openLz4Block(bytes, limit = LIMIT) {
  const output = new Output(limit);
  addLz4Block(bytes, output);
  return output.whole();
}

function addLz4Block(bytes, output) {
  const input = new Input(bytes);
  const length = (nibble) => {
    let total = nibble;
    if (nibble === 15) for (let more = 255; more === 255; total += more) more = input.number(1);
    return total;
  };
  for (;;) {
    const token = input.number(1);
    output.append(input.take(length(token >> 4)));
    if (input.isAtEnd) {
      if (token & 15) fail("a block ends within a copy");
      return;
    }
    const distance = input.number(2);
    output.repeat(distance, length(token & 15) + 4);
  }
}

export function openLz4Frame(bytes) {
  const input = new Input(bytes);
  const output = new Output(LIMIT);
  if (input.number(4) !== LZ4_MAGIC) fail("this is not an LZ4 frame");
  const flags = input.number(1);
  const [version, hasBlockSum, hasSize, hasSum, hasDictionary] = [flags >> 6, flags & 16, flags & 8, flags & 4, flags & 1];
  if (version !== 1 || flags & 2 || hasDictionary) fail("an LZ4 frame of another kind");
  input.take(1); // the largest block
  const size = hasSize ? input.take(8).readBigUInt64LE() : null;
  input.take(1); // checksum of the header
  for (let header; (header = input.number(4)) !== 0; ) {
    const block = input.take(header & 0x7fffffff);
    if (header > 0x7fffffff) output.append(block);
    else addLz4Block(block, output);
    if (hasBlockSum) input.take(4);
  }
  if (hasSum) input.take(4);
  if (!input.isAtEnd) fail("data after the LZ4 frame");
  if (size !== null && size !== BigInt(output.length)) fail("an LZ4 frame of another size than it says");
  return output.whole();
}

// ---- Snappy ----------------------------------------------------------------------------------------------------

export function openSnappyBlock(bytes) {
  const input = new Input(bytes);
  let size = 0;
  for (let shift = 0, byte = 128; byte & 128; shift += 7) {
    if (shift > 28) fail("a size of more than 32 bits");
    byte = input.number(1);
    size += (byte & 127) * 2 ** shift;
  }
  if (size > LIMIT) fail(`more than ${LIMIT} bytes come out`);
  const output = new Output(size);
  while (!input.isAtEnd) {
    const tag = input.number(1);
    const high = tag >> 2;
    if ((tag & 3) === 0) output.append(input.take((high < 60 ? high : input.number(high - 59)) + 1));
    else if ((tag & 3) === 1) output.repeat(((tag >> 5) << 8) | input.number(1), (high & 7) + 4);
    else output.repeat(input.number((tag & 3) === 2 ? 2 : 4), high + 1);
  }
  if (output.length !== size) fail("Snappy data of another size than they say");
  return output.whole();
}

/** Undo `large-message-handle-compression`. */
export function openMessage(bytes, compression = "none") {
  if (compression === "none" || bytes === null) return bytes;
  if (compression === "lz4") return openLz4Frame(bytes);
  if (compression === "snappy") return openSnappyBlock(bytes);
  throw new Error(`large-message-handle-compression ${compression} does not exist`);
}
