// The testee: answers cdcwire's requests with our decoders. This file is all that the contract asks for;
// to test your own decoder, keep it and replace the table `formats`.
//
//   node testee.js                           kept alive: a JSON request a line in, a JSON answer a line out
//   node testee.js (decode | encode) FORMAT  one-shot: request on standard input; exit 0 accepted, 1 rejected

import { readFileSync } from "node:fs";

import * as craft from "./craft.js";
import * as craftProposal from "./craft_proposal.js";
import * as openProtocol from "./open_protocol.js";
import { Rejection } from "./rejection.js";

// A format is an object of
//   decodeMessage({key, value}, request)  gives the events of one message; key and value are a Buffer or null
//   encodeMessages(request)               gives [{key, value}, …]; leave it out if you only decode
//   without                               the features that it does not have
// Both throw a Rejection for input that breaks the format. Any other error ends the program, as a crash must be seen.
const formats = { craft, "craft-proposal": craftProposal, "open-protocol": openProtocol };

function describe() {
  const claims = Object.entries(formats).map(([name, { encodeMessages, without }]) => [
    name,
    { encode: encodeMessages !== undefined, without },
  ]);
  return {
    protocol: 1,
    name: "cdcwire-javascript",
    version: "0.1.0",
    language: "JavaScript",
    formats: Object.fromEntries(claims),
  };
}

const fromBase64 = (text) => (typeof text === "string" ? Buffer.from(text, "base64") : null);
const toBase64 = (bytes) => (bytes === null ? null : bytes.toString("base64"));

function decode(request) {
  const { decodeMessage } = formats[request.format];
  const events = request.messages.flatMap((message, index) => {
    try {
      return decodeMessage({ key: fromBase64(message.key), value: fromBase64(message.value) }, request);
    } catch (error) {
      if (error instanceof Rejection) error.messageIndex = index;
      throw error;
    }
  });
  return { events };
}

function encode(request) {
  const messages = formats[request.format].encodeMessages(request);
  return { messages: messages.map(({ key, value }) => ({ key: toBase64(key), value: toBase64(value) })) };
}

const commands = { start: describe, decode, encode };

function answer(request) {
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

async function main(cmd, format) {
  if (cmd !== undefined) {
    const result = answer({ ...JSON.parse(readFileSync(0, "utf8")), cmd, format });
    say(result);
    return result.rejected ? 1 : 0;
  }
  for await (const line of linesOf(process.stdin)) {
    const request = JSON.parse(line);
    if (request.cmd === "stop") break;
    say(answer(request));
  }
  return 0;
}

// A crash must not exit with 1, as Node would: that means "rejected" in the one-shot door.
main(...process.argv.slice(2)).then(
  (status) => (process.exitCode = status),
  (error) => {
    console.error(error);
    process.exitCode = 70;
  },
);
