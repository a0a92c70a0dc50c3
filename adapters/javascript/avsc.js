// avsc as a testee: cdcwire verify avro -- node adapters/javascript/avsc.js [--bigint]
//
// As it comes, avsc gives a long as a number and refuses those beyond 2^53, all commit timestamps among them.
// `--bigint` gives it a long type made of BigInt, by a hook: `registry: {long}` is not asked for a long that has
// attributes, as all columns have. Each schema is parsed on its own: key and value have the same full name. Decimals
// come as Buffers; text is a string, in which bytes that are not UTF-8 are replaced.

import { avroFormat } from "./ticdc_avro.js";
import { needs } from "./needs.js";
import { serve } from "./protocol.js";

const [{ default: avro }, version] = await needs("avsc");

const BIGINT_LONG = {
  fromBuffer: (buffer) => buffer.readBigInt64LE(),
  toBuffer(number) {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(number);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (number) => typeof number === "bigint",
  compare: (one, other) => (one === other ? 0 : one < other ? -1 : 1),
};

const isBigInt = process.argv[2] === "--bigint";
if (isBigInt) process.argv.splice(2, 1); // the rest of the line is for one-shot mode
const long = avro.types.LongType.__with(BIGINT_LONG);
const typeHook = isBigInt ? (schema) => ((schema.type ?? schema) === "long" ? long : undefined) : undefined;
const types = new Map();

function typeOf(text) {
  if (!types.has(text)) types.set(text, avro.Type.forSchema(JSON.parse(text), { typeHook }));
  return types.get(text);
}

serve(isBigInt ? "avsc with BigInt" : "avsc", version, {
  avro: avroFormat((text, bytes) => typeOf(text).fromBuffer(bytes)),
});
