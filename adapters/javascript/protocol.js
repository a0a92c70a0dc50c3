// The testee protocol, both modes. This file and rejection.js are all that the contract asks for.
//
//   node PROGRAM                           kept alive: a JSON request a line in, a JSON answer a line out
//   node PROGRAM (decode | encode) FORMAT  one-shot: request on standard input; exit 0 accepted, 1 rejected

import { readFileSync } from "node:fs";

import { Rejection } from "./rejection.js";

/**
 * Answer requests until the end.
 *
 * `formats` has an object for each format:
 *   decodeMessage({key, value, path, headers}, request)  gives the events of one message; key and value are a Buffer or null
 *   encodeMessages(request)                     gives [{key, value}, …]; leave it out if you only decode
 *   without                                     the features that it does not have
 * Both functions throw a Rejection for input that breaks the format. Any other error ends the program, as a crash must
 * be seen.
 */
export function serve(name, version, formats) {
  // A crash must not exit with 1, as Node would: that means "rejected" in one-shot mode.
  main(commandsOf(name, version, formats), ...process.argv.slice(2)).then(
    (status) => (process.exitCode = status),
    (error) => {
      console.error(error);
      process.exitCode = 70;
    },
  );
}

function commandsOf(name, version, formats) {
  const claims = Object.entries(formats).map(([format, { encodeMessages, without }]) => [
    format,
    { encode: encodeMessages !== undefined, without },
  ]);
  const description = { protocol: 1, name, version, language: "JavaScript", formats: Object.fromEntries(claims) };
  return {
    start: () => description,
    decode: (request) => decode(formats[request.format], request),
    encode: (request) => encode(formats[request.format], request),
  };
}

const fromBase64 = (text) => (typeof text === "string" ? Buffer.from(text, "base64") : null);
const toBase64 = (bytes) => (bytes === null ? null : bytes.toString("base64"));

function decode({ decodeMessage }, request) {
  const events = request.messages.flatMap(({ key, value, path, headers }, index) => {
    try {
      return decodeMessage({ key: fromBase64(key), value: fromBase64(value), path, headers }, request);
    } catch (error) {
      if (error instanceof Rejection) error.messageIndex = index;
      throw error;
    }
  });
  return { events };
}

function encode({ encodeMessages }, request) {
  const messages = encodeMessages(request);
  return { messages: messages.map(({ key, value }) => ({ key: toBase64(key), value: toBase64(value) })) };
}

function answer(commands, request) {
  try {
    return { seq: request.seq, ...commands[request.cmd](request) };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { seq: request.seq, rejected: error };
  }
}

const say = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);

// Not node:readline, which also breaks lines at U+2028, and that may stand inside a JSON string.
async function* linesOf(stream) {
  let pieces = [];
  for await (const chunk of stream) {
    let begin = 0;
    for (let end; (end = chunk.indexOf("\n", begin)) >= 0; begin = end + 1) {
      yield Buffer.concat([...pieces, chunk.subarray(begin, end)]).toString();
      pieces = [];
    }
    pieces.push(chunk.subarray(begin));
  }
}

async function main(commands, cmd, format) {
  if (cmd !== undefined) {
    const result = answer(commands, { ...JSON.parse(readFileSync(0, "utf8")), cmd, format });
    say(result);
    return result.rejected ? 1 : 0;
  }
  for await (const line of linesOf(process.stdin)) {
    const request = JSON.parse(line);
    if (request.cmd === "stop") break;
    say(answer(commands, request));
  }
  return 0;
}
