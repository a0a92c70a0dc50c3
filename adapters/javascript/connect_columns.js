// Columns of Kafka Connect as the testee protocol has them: what the logical names of Connect, Debezium and CDL mean.

import { createHash } from "node:crypto";

import { CONNECT, SCALE_LIMIT, bigInteger } from "./connect.js";
import { doubleText, floatText } from "./numbers.js";
import { Rejection, inside } from "./rejection.js";

const counted = (type, unit) => (value) => ({ type, value: String(value), unit });
const texted = (type) => (value) => ({ type, value });
const TIME = "io.debezium.time.";
const DATA = "io.debezium.data.";
export const PLACEHOLDER = "__debezium_unavailable_value";

const LOGICAL = {
  [`${CONNECT}Date`]: counted("date", "d"),
  [`${CONNECT}Time`]: counted("time", "ms"),
  [`${CONNECT}Timestamp`]: counted("datetime", "ms"),
  [`${CONNECT}Decimal`]: ({ unscaled, scale }) => ({ type: "decimal", value: plainDecimal(unscaled, scale) }),
  [`${TIME}Date`]: counted("date", "d"),
  [`${TIME}Time`]: counted("time", "ms"),
  [`${TIME}MicroTime`]: counted("time", "us"),
  [`${TIME}NanoTime`]: counted("time", "ns"),
  [`${TIME}Timestamp`]: counted("datetime", "ms"),
  [`${TIME}MicroTimestamp`]: counted("datetime", "us"),
  [`${TIME}NanoTimestamp`]: counted("datetime", "ns"),
  [`${TIME}IsoDate`]: texted("date"),
  [`${TIME}IsoTime`]: texted("time"),
  [`${TIME}IsoTimestamp`]: texted("datetime"),
  [`${TIME}ZonedTimestamp`]: (value) => ({ type: "timestamp", value: zonedText(value), zone: "+00:00" }),
  [`${TIME}ZonedTime`]: (value) => ({ type: "time", value: zonedTime(value), zone: "+00:00" }),
  [`${TIME}MicroDuration`]: counted("interval", "us"),
  [`${TIME}Interval`]: texted("interval"),
  [`${TIME}Year`]: (value) => ({ type: "year", value: String(value) }),
  [`${DATA}Enum`]: (label) => ({ type: "enum", label }),
  [`${DATA}EnumSet`]: (label) => ({ type: "set", label }),
  [`${DATA}Json`]: texted("json"),
  [`${DATA}Bits`]: (value) => ({ type: "bit", value: String(littleEndian(value)) }),
  [`${DATA}VariableScaleDecimal`]: variableDecimal,
};
const BASE = {
  int8: "int8", int16: "int16", int32: "int32", int64: "int64", boolean: "bool", string: "text",
}; // prettier-ignore

/** The logical meaning of a schema, or undefined. */
function meaningOf({ type, name }) {
  if (name === null) return undefined;
  if (name.endsWith(".cdc.data.Decimal") && type === "string") return texted("decimal");
  if (name.endsWith(".cdc.data.timestamp") && type === "string") return (value) => ({ type: "datetime", value: instantText(value) });
  return Object.hasOwn(LOGICAL, name) ? LOGICAL[name] : undefined;
}

/** The column object of a value of `schema`. `placeholder` is what the producer writes for a value that it does not have. */
export function toColumn(value, schema, placeholder = PLACEHOLDER) {
  if (value === null) return null;
  if (isUnavailable(value, schema, placeholder)) return { unavailable: true };
  const meaning = meaningOf(schema);
  if (meaning) return meaning(value);
  switch (schema.type) {
    case "float":
      return { type: "float32", value: floatText(value) };
    case "double":
      return { type: "float64", value: doubleText(value) };
    case "bytes":
      return { type: "bytes", bytes: value.toString("base64") };
    case "array":
      return { items: value.map((item) => toColumn(item, schema.items, placeholder)) };
    case "map":
      return { entries: value.map(([key, each]) => [toColumn(key, schema.keys, ""), toColumn(each, schema.values, "")]) };
    case "struct":
      return { fields: toImage(value, schema, placeholder) };
    default:
      return { type: BASE[schema.type], value: String(value) };
  }
}

/** The columns of a struct. */
export function toImage(struct, schema, placeholder) {
  const image = Object.create(null); // a column may be named __proto__
  for (const [name, value] of struct)
    image[name] = inside([name], () => toColumn(value, schema.fields.get(name), placeholder));
  return image;
}

function isUnavailable(value, schema, placeholder) {
  if (placeholder === "") return false;
  switch (schema.type) {
    case "string":
      if (!schema.name && textsOfBytes(placeholder).includes(value)) return true;
      return value === placeholder || (schema.name === `${DATA}Json` && value === JSON.stringify({ [placeholder]: placeholder }));
    case "bytes":
      return Buffer.isBuffer(value) && value.equals(Buffer.from(placeholder));
    case "map":
      return value.length === 1 && value[0][0] === placeholder && value[0][1] === placeholder;
    case "array":
      return isUnavailableArray(value, schema.items, placeholder);
    default:
      return false;
  }
}

/** The texts of bytes by the modes of binary columns: hexadecimal, base64, and base64 for URLs. */
function textsOfBytes(text) {
  const bytes = Buffer.from(text);
  const base64 = bytes.toString("base64");
  return [bytes.toString("hex"), base64, base64.replaceAll("+", "-").replaceAll("/", "_")];
}

function isUnavailableArray(items, { type, name }, placeholder) {
  if (type === "string") {
    const marker = name === `${DATA}Uuid` ? uuidOf(placeholder) : placeholder;
    return items.length === 1 && items[0] === marker;
  }
  const bytes = Buffer.from(placeholder);
  if (!/^int/.test(type) || items.length !== bytes.length) return false;
  return items.every((item, index) => item === BigInt(bytes[index]) || item === BigInt(bytes.readInt8(index)));
}

/** A UUID of version 3 of the MD5, as java.util.UUID.nameUUIDFromBytes gives it. */
function uuidOf(text) {
  const bytes = createHash("md5").update(text).digest();
  bytes[6] = (bytes[6] & 0x0f) | 0x30;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// ---- texts -----------------------------------------------------------------------------------------------------

export function plainDecimal(unscaled, scale) {
  const sign = unscaled < 0n ? "-" : "";
  const digits = String(unscaled < 0n ? -unscaled : unscaled);
  if (scale <= 0) return unscaled === 0n ? "0" : `${sign}${digits}${"0".repeat(-scale)}`;
  const padded = digits.padStart(scale + 1, "0");
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

function variableDecimal(struct) {
  const [scale, value] = [struct.get("scale"), struct.get("value")];
  if (typeof scale !== "bigint" || !Buffer.isBuffer(value)) throw new Rejection("a VariableScaleDecimal has scale and value");
  if (scale > SCALE_LIMIT || scale < -SCALE_LIMIT) throw new Rejection(`a scale of ${scale}`);
  return { type: "decimal", value: plainDecimal(bigInteger(value), Number(scale)) };
}

const littleEndian = (bytes) => (bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`));

/** A time of day in UTC, with Z. It stays within its day; a text that is not a time of a day stays too. */
function zonedTime(text) {
  const found = /^([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(\.[0-9]{1,9})?(?:Z|([+-])([0-9]{2}):([0-5][0-9]))?$/.exec(text);
  if (found === null) return text;
  const [, hours, minutes, seconds, fraction = "", sign = "+", offsetHours = "0", offsetMinutes = "0"] = found;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "+" ? 1 : -1);
  const minute = (((Number(hours) * 60 + Number(minutes) - offset) % 1440) + 1440) % 1440;
  const two = (number) => String(number).padStart(2, "0");
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}:${seconds}${fraction}Z`;
}

const TEXT =
  /^([+-]?[0-9]{4,9})-([0-9]{2})-([0-9]{2})[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(Z|[+-][0-9]{2}:?[0-9]{2}(?::[0-9]{2})?)?$/;

/** A ZonedTimestamp in UTC. It has an offset, unless it is infinite. */
function zonedText(text) {
  if (text === "infinity" || text === "-infinity") return text;
  if (!/(Z|[0-9]{2}:[0-9]{2}.*[+-][0-9:]+)$/.test(text)) throw new Rejection(`${text.slice(0, 40)} has no offset`);
  return shiftedText(text);
}

/** A timestamp of CDL in any of its forms, in UTC; a fraction of zeros is left out. */
function instantText(text) {
  if (!/^-?[0-9]{1,16}$/.test(text)) return shiftedText(text).replace(/\.0+$/, "");
  const rest = ((BigInt(text) % 1000n) + 1000n) % 1000n;
  return utcText(Number(text), rest === 0n ? "" : String(rest).padStart(3, "0"));
}

/** A date and time in ISO 8601, moved to UTC, with the digits of a second that it has. */
function shiftedText(text) {
  const [all, year, month, day, hour, minute, second = "00", fraction = "", zone = "Z"] = TEXT.exec(text) ?? [];
  const date = new Date(0);
  const cycles = Math.trunc(Number(year) / 400) * 400; // the calendar repeats, and a Date ends before PostgreSQL's last year
  date.setUTCFullYear(Number(year) - cycles, Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && date.getUTCHours() === Number(hour);
  if (all === undefined || !isDate || minute > "59" || second > "59") throw new Rejection(`${text.slice(0, 40)} is not a date and time`);
  const [, sign, ...parts] = /^([+-])([0-9]{2}):?([0-9]{2})(?::([0-9]{2}))?$/.exec(zone) ?? [null, "+", "0"];
  const [hours, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  const offset = (hours * 3600 + minutes * 60 + seconds) * 1000;
  return utcText(date.valueOf() + (sign === "-" ? offset : -offset), fraction, cycles);
}

/** `cycles`: years to add, a multiple of 400. */
function utcText(ms, fraction, cycles = 0) {
  const date = new Date(ms);
  if (Number.isNaN(date.valueOf())) throw new Rejection(`${ms} milliseconds are not a date and time`);
  const year = date.getUTCFullYear() + cycles;
  const [rest] = /-.{14}(?=\.)/.exec(date.toISOString());
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  return `${sign}${String(Math.abs(year)).padStart(4, "0")}${rest.replace("T", " ")}${fraction && `.${fraction}`}`;
}
