// Papa Parse as a testee: cdcwire verify csv -- node adapters/javascript/papaparse.js
//
// It does not tell a quoted field from a bare one. It takes strings: the bytes have to be UTF-8, and are refused where
// they are not rather than replaced. A terminator is CR, LF or both. It has no escape without quotes. Faults of the
// text come as a list beside the records and are errors here.

import { csvFormat } from "./ticdc_csv.js";
import { needs } from "./needs.js";
import { serve } from "./protocol.js";
import { Rejection } from "./rejection.js";

const [{ default: Papa }, version] = await needs("papaparse");
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function read(value, settings, fields) {
  const { data, errors } = Papa.parse(utf8.decode(value), {
    delimiter: settings.delimiter,
    newline: settings.terminator,
    quoteChar: settings.quote,
    escapeChar: settings.quote,
    header: false,
    skipFirstNLines: settings.hasHeader ? 1 : 0,
    dynamicTyping: false,
    skipEmptyLines: true, // it makes one of what follows the last terminator
  });
  if (errors.length > 0) throw new Rejection(errors[0].message);
  return data.map((record) =>
    record.map((cell, index) => (fields[index]?.nullable && cell === settings.null ? null : cell)),
  );
}

serve("Papa Parse", version, { csv: csvFormat(read, (error) => error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") });
