// A consumer of Kafka around this folder's decoders. See HELP below, and `node --test`.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { parseArgs } from "node:util";

import * as craft from "./craft.js";
import * as craftProposal from "./craft_proposal.js";
import { needs } from "./needs.js";
import * as openProtocol from "./open_protocol.js";
import { Rejection } from "./rejection.js";

const FORMATS = { craft, "craft-proposal": craftProposal, "open-protocol": openProtocol };
const SECONDS = 30;
const HELP = `Usage: node consume.js [--seconds N] HOST:PORT TOPIC FORMAT

Reads a topic of Kafka with kafkajs, all partitions from their beginning to the ends that they have when the program
starts, and writes a line of JSON for each message: partition, offset, and the events that the testee would answer.

  HOST:PORT      a broker; several with commas
  FORMAT         ${Object.keys(FORMATS).join(", ")}
  --seconds N    give up when no message comes for so long (${SECONDS})
  --help         this text

Messages may be compressed with gzip, or not at all: kafkajs has no other codec of its own. Nothing is committed.
Exit code 0: all was read; 2: it was not, and a line on standard error says why; 69: kafkajs is missing.
`;

/** What the user is told in one line. */
class Failure extends Error {}

function readArguments() {
  const options = { seconds: { type: "string", default: String(SECONDS) }, help: { type: "boolean" } };
  let given;
  try {
    given = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new Failure(error.message);
  }
  if (given.values.help) return null;
  const [bootstrap, topic, format] = given.positionals;
  if (given.positionals.length !== 3) throw new Failure("HOST:PORT, TOPIC and FORMAT are needed; see --help");
  const brokers = bootstrap.split(",");
  const wrong = brokers.find((broker) => !/^[^\s:]+:[0-9]{1,5}$/.test(broker) || broker.split(":")[1] > 65535);
  if (wrong !== undefined) throw new Failure(`a broker is HOST:PORT, not ${JSON.stringify(wrong)}`);
  if (!Object.hasOwn(FORMATS, format))
    throw new Failure(`no format ${JSON.stringify(format)}: ${Object.keys(FORMATS).join(", ")}`);
  const seconds = Number(given.values.seconds);
  if (!(seconds >= 1 && seconds <= 86_400)) throw new Failure(`--seconds takes 1 to 86400, not ${given.values.seconds}`);
  return { brokers, topic, decodeMessage: FORMATS[format].decodeMessage, seconds };
}

/** The partitions that have messages: the offset to be read next, and the one where reading ends. */
async function partitionsOf(kafka, topic) {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const found = await admin.fetchTopicOffsets(topic);
    const places = found.map(({ partition, low, high }) => [partition, { next: BigInt(low), end: BigInt(high) }]);
    return new Map(places.filter(([, { next, end }]) => next < end));
  } catch (error) {
    const isUnknown = [error.type, error.cause?.type].includes("UNKNOWN_TOPIC_OR_PARTITION");
    throw new Failure(isUnknown ? `no topic ${topic}` : error.message);
  } finally {
    await admin.disconnect();
  }
}

async function tell({ partition, offset, key, value }, decodeMessage) {
  let events;
  try {
    events = decodeMessage({ key, value }, { options: {} });
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const at = error.offset === undefined ? "" : `byte ${error.offset}: `;
    throw new Failure(`partition ${partition}, offset ${offset}: ${at}${error.message}`);
  }
  const line = JSON.stringify({ partition, offset: Number(offset), events });
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

async function consume({ topic, decodeMessage, seconds }, kafka) {
  const places = await partitionsOf(kafka, topic);
  if (places.size === 0) return;
  // kafkajs reads in a group only: one of our own, so that it has all partitions and no offsets.
  const consumer = kafka.consumer({ groupId: `cdcwire-${randomUUID()}`, allowAutoTopicCreation: false });
  let isOver = false;
  let patience;
  try {
    await new Promise((resolve, reject) => {
      const stop = (settle) => (result) => {
        isOver = true;
        settle(result);
      };
      const fail = stop(reject);
      const failBy = ({ message }) => fail(new Failure(message)); // not all of kafkajs's errors are of its own class
      const giveUp = () => {
        const waiting = [...places].map(([partition, { next }]) => `partition ${partition} at offset ${next}`);
        fail(new Failure(`nothing came for ${seconds} s: ${waiting.join(", ")}`));
      };
      patience = setTimeout(giveUp, seconds * 1000);

      // A batch comes again when the group has to be joined again; what was told is left out by `next`.
      const eachBatch = async ({ batch: { partition, messages } }) => {
        try {
          for (const { offset, key, value } of messages) {
            const place = places.get(partition);
            if (isOver || place === undefined) return;
            if (BigInt(offset) < place.next || BigInt(offset) >= place.end) continue;
            await tell({ partition, offset, key, value }, decodeMessage);
            place.next = BigInt(offset) + 1n;
            patience.refresh();
          }
        } catch (error) {
          fail(error);
        }
      };
      // eachBatch gets no batch that has only a transaction's markers, and such a batch may be the last.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
        if (!isOver && BigInt(lastOffset) + 1n >= places.get(partition)?.end) places.delete(partition);
        if (places.size === 0) stop(resolve)();
      });
      consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => restart || failBy(error));
      consumer
        .connect()
        .then(() => consumer.subscribe({ topics: [topic], fromBeginning: true }))
        .then(() => consumer.run({ autoCommit: false, eachBatch }))
        .catch(failBy);
    });
  } finally {
    clearTimeout(patience);
  }
  await consumer.disconnect();
}

/** End at once: kafkajs may still be trying to reach a broker, and would not let the program end. */
function end(status, text) {
  console.error(text);
  process.exit(status);
}

const complain = (text) => end(2, `consume.js: ${text.replaceAll(/\s*\n\s*/g, " ")}`);

async function main() {
  const wanted = readArguments();
  if (wanted === null) {
    process.stdout.write(HELP);
    return;
  }
  const [{ default: kafkajs }] = await needs("kafkajs");
  const settings = { clientId: "cdcwire", brokers: wanted.brokers, logLevel: kafkajs.logLevel.NOTHING };
  await consume(wanted, new kafkajs.Kafka({ ...settings, retry: { retries: 3, initialRetryTime: 200 } }));
}

process.stdout.on("error", (error) => complain(`standard output: ${error.message}`));
main().catch((error) => {
  if (!(error instanceof Failure)) end(70, error); // a fault of the program itself
  process.stdout.write("", () => complain(error.message)); // behind the last line
});
