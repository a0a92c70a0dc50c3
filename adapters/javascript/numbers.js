// Floating-point text: exact reading, and the shortest digits as Go writes them.

import { Rejection } from "./rejection.js";

const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

// Half way between the largest finite float32 and the step that would follow it.
const FLOAT32_OVERFLOW = 2 ** 128 - 2 ** 103;

export function parseDouble(text, offset) {
  const value = NUMBER.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value)) throw new Rejection(`${text.slice(0, 40)} is not a float64`, offset);
  return value;
}

/**
 * The float32 nearest to the text, rounded once.
 *
 * Number() rounds to 53 bits and fround() to 24. The second rounding can only go wrong if the first one landed
 * exactly half way between two float32; then the text itself has to say on which side it is.
 */
export function parseFloat32(text, offset) {
  const double = parseDouble(text, offset);
  const near = Math.fround(double);
  const result = near === double ? near : settleTie(text, double, near);
  if (!Number.isFinite(result)) throw new Rejection(`${text.slice(0, 40)} is not a float32`, offset);
  return result;
}

function settleTie(text, double, near) {
  const magnitude = Math.abs(double);
  const [below, above] = neighbours(magnitude, Math.abs(near));
  const middle = above === Infinity ? FLOAT32_OVERFLOW : (below + above) / 2;
  if (magnitude !== middle) return near;
  const side = compareMagnitude(text, middle);
  if (side === 0) return near;
  return Math.sign(double) * (side < 0 ? below : above);
}

/** The float32 values on both sides of a positive number that is not a float32 itself; `near` is one of them. */
function neighbours(magnitude, near) {
  const bits = new Int32Array(1);
  const floats = new Float32Array(bits.buffer);
  floats[0] = near;
  const step = (by) => {
    bits[0] += by;
    return floats[0];
  };
  return near < magnitude ? [near, step(1)] : [step(-1), near];
}

/** Compare the magnitude of a decimal text with a number: -1, 0 or 1. */
function compareMagnitude(text, number) {
  const [leftDigits, leftExponent] = significant(text);
  const [rightDigits, rightExponent] = significant(exactDecimal(number));
  if (leftExponent !== rightExponent) return Math.sign(leftExponent - rightExponent);
  return leftDigits < rightDigits ? -1 : Number(leftDigits > rightDigits);
}

/** [digits without zeros at both ends, exponent of 0.DIGITS] */
function significant(text) {
  const [mantissa, exponent = "0"] = text.replace(/^-/, "").toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first++;
  let end = digits.length;
  while (end > first && digits[end - 1] === "0") end--;
  return [digits.slice(first, end), Number(exponent) + whole.length - first];
}

/** All digits of a positive number below 2^129 that is a multiple of 2^-150. */
function exactDecimal(number) {
  return `${(BigInt(number * 2 ** 150) * 10n ** 150n) >> 150n}e-150`;
}

const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:e([+-]?[0-9]+))?$/i;

/** A decimal number without its exponent, all digits kept; null if it is not one, or its exponent is too large. */
export function plainDecimal(text, exponentLimit) {
  const [all, sign, whole, fraction = "", exponentText = "0"] = DECIMAL.exec(text) ?? [];
  const exponent = Number(exponentText);
  if (all === undefined || whole + fraction === "" || Math.abs(exponent) > exponentLimit) return null;
  const scale = Math.max(0, fraction.length - exponent);
  const zeros = "0".repeat(Math.max(0, exponent - fraction.length));
  const digits = `${whole}${fraction}${zeros}`.padStart(scale + 1, "0");
  const number = digits.slice(0, digits.length - scale).replace(/^0+(?=[0-9])/, "");
  return `${sign === "-" ? "-" : ""}${number}${scale > 0 ? `.${digits.slice(-scale)}` : ""}`;
}

// ---- writing ---------------------------------------------------------------------------------------------------

/** Shortest digits that read back to the same value, as D.DDDe±X. Of equally short ones, the nearest. */
function shortest(value, single) {
  if (!single) return value.toExponential();
  for (let places = 0; places < 9; places++) {
    const text = nearest(value, places);
    // Above a power of two the float32 are spaced twice as wide as below it, so that the next text up may read back
    // where the nearest one doesn't.
    const found = [text, shift(text, 1n)].find((candidate) => parseFloat32OrInfinity(candidate) === value);
    if (found) return found;
  }
  throw new Error(`${value} is not a float32`);
}

/** As toExponential, which rounds ties up; Go takes the even digit, except at a power of two. */
function nearest(value, places) {
  const text = value.toExponential(places);
  const isOdd = "13579".includes(text.split("e")[0].at(-1));
  if (!isOdd || isPowerOfTwo(value)) return text;
  const [exact] = significant(exactDecimal(Math.abs(value)));
  const isTie = exact.length === places + 2 && exact.endsWith("5");
  return isTie ? shift(text, -1n) : text;
}

const isPowerOfTwo = (float32) => (new Uint32Array(Float32Array.of(float32).buffer)[0] & 0x7fffff) === 0;

function parseFloat32OrInfinity(text) {
  return Math.abs(Number(text)) >= FLOAT32_OVERFLOW ? Infinity : parseFloat32(text);
}

/** Move the magnitude by `steps` of its last digit. */
function shift(text, steps) {
  const [mantissa, exponent] = text.split("e");
  const places = mantissa.split(".")[1]?.length ?? 0;
  const digits = BigInt(mantissa.replace(/[-.]/g, "")) + steps;
  return `${text.startsWith("-") ? "-" : ""}${digits}e${Number(exponent) - places}`;
}

/** [sign, digits, exponent of D.DDD] */
function parts(value, single) {
  const [digits, exponent] = significant(shortest(value, single));
  return [value < 0 ? "-" : "", digits, exponent - 1];
}

function plain(sign, digits, exponent) {
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return sign + whole + (fraction && `.${fraction}`);
}

const zero = (value) => (Object.is(value, -0) ? "-0" : "0");

/** As Go's encoding/json writes a float32 (`single`) or float64. */
export function goNumber(value, single) {
  if (!Number.isFinite(value)) throw new Rejection(`${value} has no form in JSON`);
  if (value === 0) return zero(value);
  const [sign, digits, exponent] = parts(value, single);
  const round = single ? Math.fround : Number;
  if (Math.abs(value) >= round(1e-6) && Math.abs(value) < round(1e21)) return plain(sign, digits, exponent);
  const fraction = digits.slice(1);
  return `${sign}${digits[0]}${fraction && `.${fraction}`}e${exponent < 0 ? "" : "+"}${exponent}`;
}

/** A float32 without an exponent, as vectors hold it. */
export function shortestPlain32(value) {
  return value === 0 ? zero(value) : plain(...parts(value, true));
}

/** The text of a float64 in an event. */
export function doubleText(value) {
  if (Object.is(value, -0)) return "-0.0";
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/** The text of a float32 in an event. */
export const floatText = (value) => (Number.isFinite(value) && value !== 0 ? goNumber(value, true) : doubleText(value));
