// The testee of this folder's own decoders and encoders. To test yours, keep protocol.js and rejection.js, and give
// `serve` your table of formats.

import * as craft from "./craft.js";
import * as craftProposal from "./craft_proposal.js";
import * as openProtocol from "./open_protocol.js";
import { serve } from "./protocol.js";

serve("cdcwire-javascript", "0.1.0", { craft, "craft-proposal": craftProposal, "open-protocol": openProtocol });
