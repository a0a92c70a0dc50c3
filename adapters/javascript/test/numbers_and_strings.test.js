import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { jsonString, plainJsonString, quote, unquote } from "../go_strings.js";
import { goNumber, parseFloat32 } from "../numbers.js";
import { isPrintable } from "../printable.js";

const float32 = (hex) => Buffer.from(hex, "hex").readFloatBE();

test("float64 as Go writes it", () => {
  const texts = ["0", "-0", "1", "100000000000000000000", "1e+21", "0.000001", "9.9e-7", "5e-324", "-2.5"];
  for (const text of texts) assert.equal(goNumber(Number(text), false), text);
});

test("float32 as Go writes it, and back", () => {
  const texts = {
    "3dcccccd": "0.1",
    "358637bd": "0.000001",
    "0f800000": "1.2621775e-29", // a power of two: not the nearest text of 8 digits
    "15ae43fd": "7.038531e-26", // half way between two float32 when read as a float64
    "15ae43fe": "7.0385313e-26",
    39800000: "0.00024414063",
    "6b000000": "1.5474251e+26",
    "6c800000": "1.2379401e+27",
    49800002: "1048576.2", // a tie: the even digit
    "00000001": "1e-45",
    "7f7fffff": "3.4028235e+38",
  };
  for (const [hex, text] of Object.entries(texts)) {
    assert.equal(goNumber(float32(hex), true), text);
    assert.equal(parseFloat32(text), float32(hex));
  }
});

test("the printable characters are those of Unicode 15.0", () => {
  const digits = Array.from({ length: 0x110000 }, (_, rune) => Number(isPrintable(rune))).join("");
  const hash = createHash("sha256").update(digits).digest("hex");
  assert.equal(hash, "0326b64c15e91a0583a1d9f8bc53f4bb534adc91a5ae096b55adaf19525ed98d");
});

test("quoting of Go", () => {
  const quoted = {
    8950: "\\x89P",
    "070a225c7f": '\\a\\n\\"\\\\\\x7f',
    c2a0c3a9e280a8f09f9880: "\\u00a0é\\u2028😀",
    eda080: "\\xed\\xa0\\x80",
    f48fbfbf: "\\U0010ffff",
    27: "'",
  };
  for (const [hex, text] of Object.entries(quoted)) {
    assert.equal(quote(Buffer.from(hex, "hex")), text);
    assert.equal(unquote(text).toString("hex"), hex);
  }
  assert.equal(unquote("\\377").toString("hex"), "ff");
  for (const text of ["\\'", '"', "\n", "\\400", "\\ud800", "\\U00110000", "\\x8", "\\"])
    assert.throws(() => unquote(text));
});

test("JSON strings of Go", () => {
  const text = (hex, escapesHtml) => jsonString(Buffer.from(hex, "hex"), escapesHtml);
  assert.equal(text("3c262f27e280a87f0001", true), '"\\u003c\\u0026/\'\\u2028\x7f\\u0000\\u0001"');
  assert.equal(text("3c", false), '"<"');
  assert.equal(plainJsonString(Buffer.from("083ce280a80c5c", "hex")), '"\\u0008<\u2028\\u000c\\\\"');
  assert.equal(text("61fffe62efbfbd", true), '"a\\ufffd\\ufffdb\ufffd"');
});
