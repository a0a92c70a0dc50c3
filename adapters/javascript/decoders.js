// The decoders and encoders of this folder, by format.

import * as avro from "./avro.js";
import * as canalJson from "./canal_json.js";
import * as cdlJson from "./cdl_json.js";
import * as craft from "./craft.js";
import * as craftProposal from "./craft_proposal.js";
import * as maxwellJson from "./maxwell_json.js";
import * as openProtocol from "./open_protocol.js";
import * as csv from "./csv.js";
import * as datahubBlob from "./datahub_blob.js";
import * as datahubTuple from "./datahub_tuple.js";
import * as debeziumJson from "./debezium_json.js";
import * as simple from "./simple.js";

export const FORMATS = {
  craft,
  "craft-proposal": craftProposal,
  "open-protocol": openProtocol,
  csv,
  "canal-json": canalJson,
  avro,
  simple,
  "datahub-tuple": datahubTuple,
  "datahub-blob": datahubBlob,
  "cdl-json": cdlJson,
  "debezium-json": debeziumJson,
  "maxwell-json": maxwellJson,
};
