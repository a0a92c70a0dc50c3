"""Explanations: spans without gaps, and the error with what was read before it."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from cdcwire.core.context import Compression, Context
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats.canal_json import explain
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType

ROW = (
    ' {"id":0,"database":"s", "table":"t","pkNames":["a"],"isDdl":false,"type":"UPDATE",'
    '"es":1683614201188,"ts":6,"sql":"","sqlType":{"a":4},'
    '"mysqlType":{"a":"int","b":"varchar","c":"blob","d":"float","e":"enum"},'
    '"old":[{"a":"1","b":null}],"data":[{"a":"2","b":"é\\u003c","c":"\\u0000ÿ","d":"0.5","e":"1"}],'
    '"_tidb":{"commitTs":441349361156227075,"onlyHandleKey":false,"x":[1, 2]},"new":{"y":1},'
    '"gtid":"g"} \r\n'
).encode()
DDL = (
    b'{"id":0,"database":"s","table":"","pkNames":null,"isDdl":true,"type":"QUERY","es":5,"ts":6,'
    b'"sql":"CREATE","sqlType":null,"mysqlType":null,"data":null,"old":null}'
)
WATERMARK = (
    b'{"database":"","table":"","isDdl":false,"type":"TIDB_WATERMARK","es":5,"ts":6,'
    b'"_tidb":{"watermarkTs":441349361156227074}}'
)
FILES = Context({"date-separator": "none"})
FILE = b"\r\n".join([ROW.strip(), ROW.strip(), b""])
VALUES = {"row": ROW, "ddl": DDL, "watermark": WATERMARK}
each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)


def check(found: Explanation, data: bytes) -> None:
    """Assert that the spans follow each other, up to the end or the error."""
    offset = 0
    for span in found.spans:
        assert span.start == offset < span.end
        assert span.part == "value"
        offset = span.end
    assert offset == (len(data) if found.error is None else found.error.offset)


@each_value
def test_spans_have_no_gaps(value: bytes) -> None:
    found = explain(KafkaMessage(None, value))
    assert found.error is None
    check(found, value)


@each_value
def test_spans_lead_up_to_the_end_of_every_truncation(value: bytes) -> None:
    for cut in range(1, len(value.rstrip())):
        found = explain(KafkaMessage(None, value[:cut]))
        assert found.error is not None
        check(found, value[:cut])


def test_spans_of_a_file_lead_up_to_the_end_of_every_truncation() -> None:
    for cut in range(len(FILE) + 1):
        found = explain(StoredFile("a.json", FILE[:cut]))
        assert (found.error is None) == (cut in (0, len(FILE) // 2, len(FILE)))
        check(found, FILE[:cut])


def test_spans_tell_field_value_and_clause() -> None:
    lines = {
        ".".join(map(str, span.path)): (span.text, span.clause.split(": ")[1])
        for span in explain(KafkaMessage(None, ROW)).spans
        if span.text != "end"
    }
    assert lines["database"] == ("'s'", "members")
    assert lines["es"] == ("1683614201188 (2023-05-09 06:36:41.188+00:00)", "members")
    assert lines["pkNames"] == ("['a']", "primary key names")
    assert lines["type"] == ("'UPDATE'", "event types")
    assert lines["sqlType.a"] == ("4", "sqlType")
    assert lines["mysqlType.b"] == ("'varchar'", "mysqlType")
    assert lines["old"] == ("1 rows", "old")
    assert lines["old.0.b"] == ("NULL", "null values")
    assert lines["data.0.a"] == ("2", "integer values")
    assert lines["data.0.b"] == ("'é<'", "text values")
    assert lines["data.0.c"] == ("00 ff", "binary values")
    assert lines["data.0.d"] == ("0.5", "float values")
    assert lines["data.0.e"] == ("1", "enum and set values")
    assert lines["_tidb.commitTs"] == (
        "441349361156227075 (2023-05-09 06:36:41.188+00:00)",
        "tidb extension",
    )
    assert lines["_tidb.onlyHandleKey"] == ("false", "handle key only")
    assert lines["new"] == ("an object of 1", "unknown members")
    assert lines["gtid"] == ("'g'", "official canal")


def test_spans_note_what_is_ignored() -> None:
    notes = {".".join(map(str, s.path)) for s in explain(KafkaMessage(None, ROW)).spans if s.note}
    assert notes == {"_tidb.x", "new"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"a":"2"', b'"a":"x"'),
        (b'"a":"2"', b'"a":2'),
        (b'"a":"int"', b'"a":"integral"'),
        (b'[{"a":"1","b":null}]', b"[1]"),
        (b'[{"a":"1","b":null}]', b"7"),
        (b'"UPDATE"', b'"UPSERT"'),
        (b'"es":1683614201188', b'"es":-99999999999999999999'),
        (b'"es":1683614201188', b'"es":9999999999999999999'),
        (b'"commitTs":441349361156227075', b'"commitTs":1.5'),
        (b'"b":"varchar",', b""),
        (b'{"a":4}', b"[]"),
    ],
)
def test_error_comes_with_the_spans_before_it(old: bytes, new: bytes) -> None:
    value = ROW.replace(old, new)
    assert value != ROW
    found = explain(KafkaMessage(None, value))
    assert found.error is not None
    check(found, value)
    in_file = explain(StoredFile("a.json", value.strip() + b"\r\n"))
    assert in_file.error is not None
    assert in_file.error.path == ("rows", 0, *found.error.path)
    assert in_file.error.offset == found.error.offset - 1  # the space in front


@pytest.mark.parametrize(
    "value", [b"[1,[2,{}]]", b'"x"', b"null", b"\xef\xbb\xbf{}", b"{", b"\x00"]
)
def test_invalid_bytes_are_explained(value: bytes) -> None:
    found = explain(KafkaMessage(None, value))
    assert found.error is not None
    check(found, value)


@pytest.mark.parametrize("value", [None, b""])
def test_empty_message_has_no_spans(value: bytes | None) -> None:
    assert explain(KafkaMessage(None, value)) == Explanation(())


def _unzip(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error


PACKED = Context(
    {"large-message-handle-compression": "lz4"},
    compressions={"lz4": Compression(zlib.compress, _unzip)},
)


def test_compressed_message_is_one_span() -> None:
    value = zlib.compress(DDL)
    found = explain(KafkaMessage(None, value), context=PACKED)
    assert found.error is None
    (span,) = found.spans
    assert (span.start, span.end, span.clause) == (0, len(value), "canal-json: compression")
    assert explain(KafkaMessage(None, b"x"), context=PACKED).error is not None
    broken = explain(KafkaMessage(None, zlib.compress(DDL[:-1])), context=PACKED)
    assert broken.error is not None
    assert broken.error.offset == 0


def test_definition_of_the_version_tells_the_type() -> None:
    value = ROW.strip().replace(b'"a":"int",', b"") + b"\r\n"
    tables = tuple(
        Table("t", "s", columns=(Column("a", kind),), version=version)
        for version, kind in ((5, IntType(32)), (6, IntType(64)))
    )
    found = explain(
        StoredFile("s/t/5/CDC000001.json", value), context=replace(FILES, tables=tables)
    )
    assert found.error is None
    texts = {span.path: (span.text, span.clause) for span in found.spans}
    assert texts["rows", 0, "data", 0, "a"] == ("2", "canal-json: integer values")
    message = KafkaMessage(None, zlib.compress(value))
    assert explain(message, context=replace(PACKED, tables=tables[:1])).error is None


@pytest.mark.parametrize(
    ("path", "value", "clause"),
    [
        ("metadata", b'{"checkpoint-ts":7}', "metadata"),
        ("s/t/5/meta/CDC.index", b"CDC000001.json\n", "index files"),
    ],
)
def test_small_file_is_one_span(path: str, value: bytes, clause: str) -> None:
    found = explain(StoredFile(path, value), context=FILES)
    assert found.error is None
    check(found, value)
    assert [span.clause for span in found.spans] == [f"storage: {clause}"]
    broken = explain(StoredFile(path, b"x"), context=FILES)
    assert broken.error is not None
    check(broken, b"x")


@pytest.mark.parametrize("path", ["s/t/5/x.json", "s/t/meta/schema_5_0000000001.json"])
def test_file_that_can_not_be_read_has_its_error(path: str) -> None:
    found = explain(StoredFile(path, b"x"), context=FILES)
    assert found.error is not None
    assert found.error.offset == 0


@pytest.mark.parametrize("has_origin", [True, False])
def test_checksum_is_that_of_a_row_with_an_origin(has_origin: bool) -> None:
    origin = b'"originTs":5,' if has_origin else b""
    value = ROW.strip().replace(b'"x":[1, 2]', origin + b'"checksum":"AP8="')
    spans = explain(KafkaMessage(None, value)).spans
    (span,) = (each for each in spans if each.path[-1:] == ("checksum",))
    note, clause = ("", "tidb extension") if has_origin else ("unknown, ignored", "unknown members")
    assert (span.text, span.note, span.clause) == ("'AP8='", note, f"canal-json: {clause}")
    assert (span.subject is not None) == has_origin
