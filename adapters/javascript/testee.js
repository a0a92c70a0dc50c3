// The testee of this folder's own decoders and encoders. To test yours, keep protocol.js and rejection.js, and give
// `serve` your table of formats (decoders.js).

import { FORMATS } from "./decoders.js";
import { serve } from "./protocol.js";

serve("cdcwire-javascript", "0.2.0", FORMATS);
