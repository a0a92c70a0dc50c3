"""Explanations: spans without gaps, and the error with what was read before it."""

from __future__ import annotations

import zlib

import pytest

from cdcwire.core.context import Compression, Context
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.open_protocol import explain

ZLIB = {"lz4": Compression(zlib.compress, zlib.decompress)}


def message(key: str, value: str) -> KafkaMessage:
    framed = [len(item.encode()).to_bytes(8, "big") + item.encode() for item in (key, value)]
    return KafkaMessage((1).to_bytes(8, "big") + framed[0], framed[1])


ROW = message(
    '{"ts":7,"scm":"s","tbl":"t","t":1,"ohk":true,"ohk":false,"x":[1]}',
    ' {"u": {"a":{"t":4,"f":67,"v":0.1},"b":{"t":15,"f":64,"v":"é"},'
    '"c":{"t":15,"f":65,"v":"\\\\x89"},"e":{"t":6,"v":null}},"p":{},"y":{}} ',
)
RESOLVED = message('{"ts":7,"t":3}', "")
DDL = message('{"ts":7,"t":2}', '{"q":"DROP","t":4}')


def check(found: Explanation, given: KafkaMessage) -> None:
    """Assert that the spans of each side follow each other, up to its end or the error."""
    for part, data in (("key", given.key or b""), ("value", given.value or b"")):
        spans = [span for span in found.spans if span.part == part]
        offset = 0
        for span in spans:
            assert span.start == offset < span.end
            assert span.path[0] == part
            offset = span.end
        if found.error is None:
            assert offset == len(data)
        elif found.error.path[0] == part:
            assert offset == found.error.offset


@pytest.mark.parametrize("given", [ROW, RESOLVED, DDL], ids=["row", "resolved", "ddl"])
def test_spans_have_no_gaps(given: KafkaMessage) -> None:
    found = explain(given)
    assert found.error is None
    check(found, given)


@pytest.mark.parametrize("given", [ROW, DDL], ids=["row", "ddl"])
def test_spans_lead_up_to_the_end_of_every_truncation(given: KafkaMessage) -> None:
    assert given.key is not None
    assert given.value is not None
    cuts = [KafkaMessage(given.key[:cut], given.value) for cut in range(len(given.key))]
    cuts += [KafkaMessage(given.key, given.value[:cut]) for cut in range(len(given.value))]
    for cut in cuts:
        found = explain(cut)
        assert found.error is not None
        check(found, cut)


def test_spans_tell_field_value_and_clause() -> None:
    lines = {
        (span.part, ".".join(map(str, span.path[1:]))): (span.text, span.clause.split(": ")[1])
        for span in explain(ROW).spans
        if span.text != "end"
    }
    assert lines["key", "version"] == ("1", "batch version")
    assert lines["key", "0.length"] == ("65 bytes", "item lengths")
    assert lines["key", "0.ts"] == ("7", "key members")
    assert lines["key", "0.t"] == ("1 (row)", "event types")
    assert lines["key", "0.x"] == ("[1]", "unknown members")
    assert lines["value", "0.u"] == ("new columns", "row value")
    assert lines["value", "0.u.a"] == ("column 'a'", "column members")
    assert lines["value", "0.u.a.t"] == ("4 (float)", "column members")
    assert lines["value", "0.u.a.f"] == ("67 (binary, handle key, nullable)", "column members")
    assert lines["value", "0.u.a.v"] == ("0.1", "float values")
    assert lines["value", "0.u.b.v"] == ("'é'", "string values")
    assert lines["value", "0.u.c.v"] == ("89", "binary quoting")
    assert lines["value", "0.u.e.v"] == ("NULL", "null values")
    assert lines["value", "0.y"] == ("an object of 0", "unknown members")


def test_spans_note_what_is_odd() -> None:
    notes = {".".join(map(str, span.path)): span.note for span in explain(ROW).spans if span.note}
    assert notes["value.0.u.a.f"] == "h and the handle-key flag differ"
    assert notes["value.0.y"] == "unknown, ignored"
    repeated = [span for span in explain(ROW).spans if span.path == ("key", 0, "ohk")]
    assert [bool(span.note) for span in repeated] == [True, False]


@pytest.mark.parametrize(
    ("given", "offset", "parts"),
    [
        pytest.param(message('{"ts":7,"t":9}', ""), 28, {"key"}, id="key"),
        pytest.param(
            message('{"ts":7,"scm":"s","tbl":"t","t":1}', '{"u":{"a":{"t":3,"v":"x"}}}'),
            29,
            {"key", "value"},
            id="value",
        ),
        pytest.param(message('{"ts":7,"t":2}', "[1]"), 8, {"key", "value"}, id="no-object"),
        pytest.param(
            message('{"ts":7,"scm":"s","tbl":"t","t":1}', '{"u":{"a":5}}'),
            18,
            {"key", "value"},
            id="column-of-a-number",
        ),
        pytest.param(KafkaMessage(None, b""), 0, set(), id="no-key"),
        pytest.param(KafkaMessage(ROW.key, None), 0, {"key"}, id="no-value"),
    ],
)
def test_error_comes_with_the_spans_before_it(
    given: KafkaMessage, offset: int, parts: set[str]
) -> None:
    found = explain(given)
    assert found.error is not None
    assert found.error.offset == offset
    assert {span.part for span in found.spans} == parts
    check(found, given)


def test_compressed_item_is_one_span() -> None:
    options = {"large-message-handle-compression": "lz4"}
    packed = zlib.compress(b'{"q":"DROP","t":4}')
    given = KafkaMessage(DDL.key, len(packed).to_bytes(8, "big") + packed)
    found = explain(given, context=Context(options, compressions=ZLIB))
    check(found, given)
    assert found.spans[-1].clause == "open-protocol: compression"
    assert "DROP" in found.spans[-1].text
