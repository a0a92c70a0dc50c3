// csv-parse as a testee: cdcwire verify csv -- node adapters/javascript/csv_parse.js
//
// `cast` is told whether a field was quoted, so that "\N" stays text; with `encoding: null` fields are Buffers, so that
// ill-formed UTF-8 comes through. Delimiters and terminators have any length. It has no escape without quotes. A
// header line is parsed before it is left out: names with quotes in them are refused.

import { csvFormat } from "./ticdc_csv.js";
import { needs } from "./needs.js";
import { serve } from "./protocol.js";

const [{ CsvError, parse }, version] = await needs("csv-parse", "csv-parse/sync");

function read(value, settings, fields) {
  const nullText = Buffer.from(settings.null);
  return parse(value, {
    delimiter: settings.delimiter,
    quote: settings.quote || null,
    escape: settings.quote || null,
    record_delimiter: settings.terminator,
    encoding: null,
    bom: false,
    from_line: settings.hasHeader ? 2 : 1,
    skip_empty_lines: false,
    relax_column_count: false,
    cast: (cell, { quoting, index }) =>
      !quoting && fields[index]?.nullable && nullText.equals(cell) ? null : cell,
  });
}

serve("csv-parse", version, { csv: csvFormat(read, (error) => error instanceof CsvError) });
