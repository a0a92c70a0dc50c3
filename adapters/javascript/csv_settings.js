// The settings of CSV files. Those whose files can't be read back are refused before any file is looked at.

import { Rejection } from "./rejection.js";

const BARE = /^[-0-9+.eaflrstu]+$/; // what fields without quotes are made of: numbers, true, false
const ASCII = /^[\u0000-\u007f]*$/;
const NUMBER = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const LINE_END = /[\r\n]/;

/** The settings of a request, with TiCDC's defaults. A name may have its section in front. */
export function csvSettings(options) {
  const named = Object.fromEntries(Object.entries(options).map(([name, value]) => [name.split(".").at(-1), value]));
  const isOn = (name) => String(named[name] ?? false) === "true";
  const settings = {
    delimiter: named.delimiter ?? ",",
    quote: named.quote ?? '"',
    null: named.null ?? "\\N",
    terminator: named.terminator ?? "\r\n",
    hasCommitTs: isOn("include-commit-ts"),
    hasOldValue: isOn("output-old-value"),
    hasHandleKey: isOn("output-handle-key"),
    hasHeader: isOn("output-field-header"),
    binary: named["binary-encoding-method"] ?? "base64",
    zone: named["time-zone"],
  };
  const problem = problemOf(settings);
  if (problem) throw new Rejection(`refused setting: ${problem}`);
  const bytes = (text) => Buffer.from(text).toString("latin1");
  return {
    ...settings,
    delimiterBytes: bytes(settings.delimiter),
    terminatorBytes: bytes(settings.terminator),
    nullBytes: bytes(settings.null),
    // Without quotes a null without a backslash is what some text is written as.
    isAmbiguous: settings.quote === "" && !settings.null.includes("\\"),
  };
}

function problemOf({ delimiter, quote, null: nothing, terminator, binary }) {
  const isBare = quote === "";
  const size = (text) => Buffer.byteLength(text);
  const separators = [delimiter, terminator];
  const problems = [
    [delimiter === "" || size(delimiter) > 3 || !ASCII.test(delimiter), "delimiter: 1 to 3 ASCII characters"],
    [LINE_END.test(delimiter) || (!isBare && delimiter.includes(quote)), "delimiter: with a line end or the quote"],
    [BARE.test(delimiter), "delimiter: of characters of numbers"],
    [isBare && /[nr\\]/.test(delimiter), "delimiter: of characters of escapes"],
    [size(quote) > 1 || !ASCII.test(quote) || LINE_END.test(quote), "quote: one ASCII character"],
    [!isBare && BARE.test(quote), "quote: a character of numbers"],
    [terminator === "" || size(terminator) > 64, "terminator: 1 to 64 bytes"],
    [terminator.startsWith(delimiter) || (!isBare && terminator.includes(quote)), "terminator: delimiter or quote in it"],
    [BARE.test(terminator), "terminator: of characters of numbers"],
    [isBare && !/^[\r\n]*$/.test(terminator), "terminator: CR and LF only without a quote"],
    [followsNumber(terminator, delimiter) || followsNumber(delimiter, terminator), "terminator: the delimiter after a number"],
    [size(nothing) > 64 || LINE_END.test(nothing), "null: up to 64 bytes without line ends"],
    [NUMBER.test(nothing), "null: a number"],
    [!isBare && nothing.startsWith(quote), "null: begins with the quote"],
    [separators.some((each) => nothing.includes(each)), "null: delimiter or terminator in it"],
    [separators.some((each) => endsInside(nothing, each, separators)), "null: runs into what follows"],
    [isBare && isEscaped(nothing, delimiter), "null: what a text is written as"],
    [!["base64", "hex"].includes(binary), "binary-encoding-method: base64 or hex"],
  ];
  return problems.find(([isWrong]) => isWrong)?.[1];
}

/** Whether `one` is characters of numbers and then `other`. */
function followsNumber(one, other) {
  const rest = one.replace(/^[-0-9+.eaflrstu]+/, "");
  return rest !== one && rest !== "" && other !== "" && rest.startsWith(other);
}

/** Whether `text` and a separator behind it have `separator` begin within `text`. */
function endsInside(text, separator, separators) {
  return separators.some((next) => {
    const at = `${text}${next}`.indexOf(separator);
    return at >= 0 && at < text.length;
  });
}

/** Whether a null text has a backslash and is just what the writer makes of some text, or swallows the delimiter. */
function isEscaped(text, delimiter) {
  if (!text.includes("\\")) return false;
  const rest = text.replace(/\\([^])/g, (pair, char) => (`nr\\${delimiter}`.includes(char) ? "" : "?"));
  return !rest.includes("?") || /(^|[^\\])(\\\\)*\\$/.test(text);
}
