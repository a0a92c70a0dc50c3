// Values of Simple that both encodings have as text: by the column of the table schema, the column object of the
// testee protocol.

import { CHECKS, checkRange, parseFloating, typeOf } from "./mysql_text.js";
import { doubleText, floatText } from "./numbers.js";

/** The column object of a text that is not NULL, nor of a TIMESTAMP or of bytes. */
export function textColumn(text, column, at) {
  const { kind, elements } = column;
  const type = typeOf(column);
  CHECKS[kind]?.(text, column, at);
  switch (kind) {
    case "float32":
      return { type, value: floatText(parseFloating(text, kind, at)) };
    case "float64":
      return { type, value: doubleText(parseFloating(text, kind, at)) };
    case "enum":
      checkRange(text, 0n, elements ? BigInt(elements.length) : 65535n, at);
      return { type, index: text };
    case "set":
      checkRange(text, 0n, 2n ** BigInt(elements?.length ?? 64) - 1n, at);
      return { type, index: text };
    default:
      return { type, value: text };
  }
}

export function timestampColumn(value, location, column, at) {
  CHECKS.timestamp(value, column, at);
  return location === "" ? { type: "timestamp", value } : { type: "timestamp", value, zone: location };
}
