"""Malformed messages: each error has its byte, path and clause, and comes in linear time."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats.canal_json import FORMAT, decode
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.fast import RowDecoder
from cdcwire_generators.strategies import damaged_bytes

GOOD = (
    '{"id":0,"database":"s","table":"t","pkNames":["a"],"isDdl":false,"type":"UPDATE","es":5,'
    '"ts":6,"sql":"","sqlType":{"a":4,"b":12,"c":2004},'
    '"mysqlType":{"a":"int","b":"varchar","c":"blob"},"old":[{"a":"1","b":null,"c":"ÿ"}],'
    '"data":[{"a":"2","b":"é\\u003c\\n","c":"\\u0000"}],"_tidb":{"commitTs":1310720}}'
).encode()

CHANGES = {
    "number where a text belongs": (
        b'"a":"2"',
        b'"a":2',
        b"2,",
        ("data", 0, "a"),
        "integer values",
    ),
    "true": (b'"a":"2"', b'"a":true', b"true", ("data", 0, "a"), "integer values"),
    "array": (b'"a":"2"', b'"a":["2"]', b'["2"]', ("data", 0, "a"), "integer values"),
    "number in old": (b'"a":"1"', b'"a":1', b"1,", ("old", 0, "a"), "integer values"),
    "empty": (b'"a":"2"', b'"a":""', b'"",', ("data", 0, "a"), "integer values"),
    "beyond the width": (
        b'"a":"2"',
        b'"a":"2147483648"',
        b'"2147483648"',
        ("data", 0, "a"),
        "integer values",
    ),
    "many digits": (
        b'"a":"2"',
        b'"a":"' + b"9" * 5000 + b'"',
        b'"999',
        ("data", 0, "a"),
        "integer values",
    ),
    "character above U+00FF": (
        b'"c":"\xc3\xbf"',
        '"c":"Ā"'.encode(),
        '"Ā"'.encode(),
        ("old", 0, "c"),
        "binary values",
    ),
    "escaped character above U+00FF": (
        b'"c":"\\u0000"',
        b'"c":"\\u0100"',
        b'"\\u0100"',
        ("data", 0, "c"),
        "binary values",
    ),
    "column twice": (b'"b":null', b'"a":null', b'"a":null', ("old", 0, "a"), "json text"),
    "column twice by an escape": (
        b'"b":null',
        b'"\\u0061":null',
        b'"\\u0061"',
        ("old", 0, "a"),
        "json text",
    ),
    "type twice": (
        b'"b":"varchar"',
        b'"a":"varchar"',
        b'"a":"varchar"',
        ("mysqlType", "a"),
        "json text",
    ),
    "member twice": (b'"ts":6', b'"es":6', b'"es":6', ("es",), "json text"),
    "extension twice": (
        b'{"commitTs":1310720}',
        b'{"commitTs":1,"commitTs":2}',
        b'"commitTs":2',
        ("_tidb", "commitTs"),
        "json text",
    ),
    "deep nesting": (
        b'"es":5',
        b'"x":' + b"[" * 9999 + b"]" * 9999 + b',"es":5',
        b"[" * 9992 + b"]",
        ("x", *[0] * 7),
        "limits",
    ),
    "deep nesting in a row": (
        b'"b":null',
        b'"b":' + b'{"x":' * 9999,
        b'{"x":' * 9994 + b',"c"',
        ("old", 0, "b", *["x"] * 5),
        "limits",
    ),
    "long name": (b'"b":null', b'"%s":null' % (b"b" * 1025), b'"bbb', ("old", 0), "limits"),
    "long table": (b'"t"', b'"%s"' % (b"t" * 1025), b'"ttt', ("table",), "limits"),
    "long integer": (b'"es":5', b'"es":' + b"5" * 5000, b"555", ("es",), "limits"),
    "not UTF-8": (b"\xc3\xa9", b"\xc3", b"\xc3\\", ("data", 0, "b"), "json strings"),
    "overlong UTF-8": (b"\xc3\xa9", b"\xc0\x80", b"\xc0", ("data", 0, "b"), "json strings"),
    "surrogate in UTF-8": (b"\xc3\xa9", b"\xed\xa0\x80", b"\xed", ("data", 0, "b"), "json strings"),
    "NUL in a text": (b"\xc3\xa9", b"\x00", b"\x00", ("data", 0, "b"), "json strings"),
    "NaN": (b'"es":5', b'"es":NaN', b"NaN", ("es",), "json text"),
}


@pytest.mark.parametrize(("old", "new", "place", "path", "clause"), CHANGES.values(), ids=CHANGES)
def test_one_fault_is_reported_with_its_byte_path_and_clause(
    old: bytes, new: bytes, place: bytes, path: tuple[object, ...], clause: str
) -> None:
    assert GOOD.count(old) == 1
    value = GOOD.replace(old, new)
    with pytest.raises(DecodeError) as caught:
        decode(value)
    assert caught.value.path == path
    assert caught.value.clause == f"canal-json: {clause}"
    assert value[caught.value.offset :].startswith(place)


def test_every_truncation_is_rejected_at_its_end() -> None:
    for cut in range(len(GOOD)):
        with pytest.raises(TruncatedError) as caught:
            decode(GOOD[:cut])
        assert caught.value.offset == cut


@pytest.mark.parametrize("tail", [b"\x00", b"x", b"{}", b",", b"\xef\xbb\xbf", b"\x0b"])
def test_bytes_after_the_object_are_rejected(tail: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(GOOD + tail)
    assert caught.value.offset == len(GOOD)


@given(st.data())
def test_damaged_bytes_give_events_or_a_decode_error(data: st.DataObject) -> None:
    """Whatever the bytes: never another exception; and the explanation has the same error."""
    value = data.draw(damaged_bytes(GOOD))
    for message in (KafkaMessage(None, value), StoredFile("a.json", value + b"\r\n")):
        explained = FORMAT.explain(message, context=Context()).error
        found = None
        try:
            assert len(list(FORMAT.to_events(message, context=Context()))) <= 1
        except DecodeError as error:
            found = (error.offset, error.path, error.clause)
        reported = explained and (explained.offset, explained.path, explained.clause)
        assert reported == found


@given(st.binary(max_size=60))
def test_any_bytes_give_events_or_a_decode_error(value: bytes) -> None:
    for path in ("a.json", "metadata", "s/t/5/meta/CDC.index", "s/meta/schema_5_0000000001.json"):
        file = StoredFile(path, value)
        explanation = FORMAT.explain(file, context=Context({"date-separator": "none"}))
        try:
            list(FORMAT.to_events(file, context=Context({"date-separator": "none"})))
        except DecodeError:
            assert explanation.error is not None
        else:
            assert explanation.error is None


def message(types: str, data: str, more: str = "") -> bytes:
    return (
        '{"database":"s","table":"t","isDdl":false,"type":"INSERT","es":1,"ts":1,'
        f'"mysqlType":{types},"data":{data}{more}}}'
    ).encode()


def _rows(size: int) -> bytes:
    return message('{"a":"int"}', "[" + ",".join(['{"a":"1"}'] * size) + "]")


def _columns(size: int) -> bytes:
    names = range(size)
    types = ",".join(f'"c{name}":"int"' for name in names)
    return message(f"{{{types}}}", "[{" + ",".join(f'"c{name}":"1"' for name in names) + "}]")


def _elements(size: int) -> bytes:
    elements = ",".join(f"'{index}'" for index in range(size))
    rows = ",".join(['{"a":"1"}'] * size)
    return message(f'{{"a":"enum({elements})"}}', f"[{rows}]")


def _layouts(size: int) -> bytes:
    types = ",".join(f'"c{name}":"int"' for name in range(64))
    rows = ",".join(
        "{" + ",".join(f'"c{name}":"1"' for name in range(12) if index >> name & 1) + "}"
        for index in range(size)
    )
    return message(f"{{{types}}}", f"[{rows}]")


def _nested(size: int) -> bytes:
    return message("{}", "[]", ',"x":[' + ",".join(["[[[[]]]]"] * size) + "]")


def _escapes(size: int) -> bytes:
    return message('{"a":"text"}', '[{"a":"' + "\\u003c" * size + '"}]')


def _unknown(size: int) -> bytes:
    return message("{}", "[]", "," + ",".join(f'"x{index}":{{}}' for index in range(size)))


def _words(size: int) -> bytes:
    return message('{"a":"int' + " unsigned" * size + '"}', "[]")


def _digits(size: int) -> bytes:
    return message('{"a":"decimal"}', '[{"a":"' + "1" * size + '"}]')


SHAPES: dict[str, tuple[Callable[[int], bytes], int]] = {
    "rows": (_rows, 4000),
    "columns": (_columns, 1500),
    "rows of a long ENUM": (_elements, 4000),
    "rows of many layouts": (_layouts, 1500),
    "nested arrays": (_nested, 8000),
    "escapes": (_escapes, 15000),
    "unknown members": (_unknown, 4000),
    "attributes of a type": (_words, 20000),
    "digits": (_digits, 100000),
}


def outcome(value: bytes) -> None:
    try:
        found = decode(value)
    except DecodeError:
        return
    assert found is not None
    events_of(found)


def fast_outcome(value: bytes) -> None:
    try:
        RowDecoder().decode(KafkaMessage(None, value))
    except DecodeError:
        return


@pytest.mark.parametrize(("make", "size"), SHAPES.values(), ids=SHAPES)
def test_time_grows_with_the_bytes(make: Callable[[int], bytes], size: int) -> None:
    """Eight times the bytes take far less than 64 times the time.

    The collector of garbage is left out: what it costs grows with all that other tests keep.
    """
    gc.disable()
    try:
        short, long = (_time_of(make(size // 4 * factor)) for factor in (1, 8))
    finally:
        gc.enable()
    assert long < 24 * max(short, 0.002)


def _time_of(value: bytes) -> float:
    """Return the CPU seconds of the best of three tries."""
    times = []
    for _ in range(3):
        start = process_time()
        outcome(value)
        fast_outcome(value)
        times.append(process_time() - start)
    return min(times)


@pytest.mark.long
@pytest.mark.parametrize(("make", "size"), SHAPES.values(), ids=SHAPES)
def test_memory_grows_with_the_bytes(make: Callable[[int], bytes], size: int) -> None:
    value = make(size)
    outcome(value)  # caches are filled before
    tracemalloc.start()
    outcome(value)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128 * len(value)


def test_cache_of_long_types_is_bounded() -> None:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for index in range(40):
        elements = f"'{index}'," + ",".join(["'" + "x" * 100 + "'"] * 500)
        outcome(message(json.dumps({"a": f"enum({elements})"}), '[{"a":"1"}]'))
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 200_000
