"""Messages at the wire layer: bytes of the producers come back, in JSON and in Avro."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.apache_avro.schema import Branch
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.simple import FORMAT, Cell, Dml, Watermark, decode, encode
from cdcwire.formats.simple.avro_wire import LONG
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, EnumType, IntType, SetType
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

CASES = [case for case in load_cases(("simple",)) if case.group == "producer"]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_messages_of_the_producers_are_written_again_as_they_were(case: Case) -> None:
    context = case.context()
    compression = context.compressions.get(
        str(case.options.get("large-message-handle-compression"))
    )
    assert case.messages
    for message in case.messages:
        value = message.value or b""
        written = encode(decode(value, context=context), context=context)
        if compression is not None:
            value, written = compression.open(value), compression.open(written)
        assert written == value


def test_escape_of_a_bad_byte_is_not_a_real_replacement_character() -> None:
    start = (
        b'{"version":1,"database":"d","table":"t","type":"INSERT","commitTs":4,"buildTs":5,"data":'
    )
    for data in (b'{"a":"x\\ufffd"}}', b'{"a":"x\xef\xbf\xbd"}}', b'{"a":"\\\\ufffd\\ufffd"}}'):
        assert encode(decode(start + data)) == start + data


WATERMARK = bytes.fromhex("16000002")
AVRO = Context({"encoding-format": "avro"})
ROW = Dml(type="INSERT", commit_ts=4, build_ts=5, database="d", table="t")


def test_watermark_in_avro_is_read_and_written() -> None:
    message = Watermark(commit_ts=441349361156227083, build_ts=1795810246402)
    value = encode(message, context=AVRO)
    assert value.startswith(WATERMARK)
    assert decode(value, context=AVRO) == message


def test_timestamp_beyond_63_bits_wraps_in_avro() -> None:
    message = Watermark(commit_ts=(1 << 64) - 1, build_ts=0)
    value = encode(message, context=AVRO)
    assert value == WATERMARK + b"\x01\x00"
    assert decode(value, context=AVRO) == message


@pytest.mark.parametrize("size", range(6))
def test_every_cut_of_a_datum_is_reported_at_its_end(size: int) -> None:
    value = encode(Watermark(commit_ts=1, build_ts=2), context=AVRO)
    with pytest.raises(TruncatedError) as caught:
        decode(value[:size], context=AVRO)
    assert (caught.value.offset, caught.value.clause) == (size, "simple: avro")


@pytest.mark.parametrize("kind", ["INSERT", "UPDATE", "DELETE"])
@pytest.mark.parametrize("cut", [b"", b',"handleKeyOnly":true'])
def test_row_without_columns_is_a_row(kind: str, cut: bytes) -> None:
    value = (
        b'{"version":1,"database":"d","table":"t","type":"%s","commitTs":4,"buildTs":5'
        % kind.encode()
    )
    value += cut + b"}"
    context = Context(tables=(Table("t", "d", columns=(Column("a", IntType(32)),), key=()),))
    assert encode(decode(value)) == value
    (event,) = FORMAT.to_events(KafkaMessage(None, value), context=context)
    assert isinstance(event, RowChange)
    images = [image for image in (event.before, event.after) if image is not None]
    assert (event.op, [image.names for image in images]) == (
        kind.lower(),
        [()] * (2 if kind == "UPDATE" else 1),
    )
    written = list(FORMAT.from_events([event], context=context))
    assert written[-1] == KafkaMessage(None, value)


def test_row_without_columns_has_empty_maps_in_avro() -> None:
    for data, old in ((None, None), ((), None)):
        row = replace(ROW, type="UPDATE", data=data, old=old)
        with pytest.raises(EncodeError) as caught:
            encode(row, context=AVRO)
        assert caught.value.clause == "simple: rows"


@pytest.mark.parametrize(("kind", "end"), [(EnumType(("a", "b")), 3), (SetType(("a", "b")), 4)])
@pytest.mark.parametrize("encoding", ["json", "avro"])
def test_element_beyond_the_labels_is_refused_both_ways(
    kind: EnumType | SetType, end: int, encoding: str
) -> None:
    column = Column("e", replace(kind, form="index"))
    open_column = Column("e", replace(kind, labels=None, form="index"))
    options = {"encoding-format": encoding}
    known, unknown = (
        Context(options=options, tables=(Table("t", "d", columns=(each,), key=()),))
        for each in (column, open_column)
    )
    for number, fits in ((end - 1, True), (end, False)):
        row = RowChange(
            Table("t", "d", key=()), "insert", None, Image((column,), (number,)), Position(4)
        )
        raw = replace(ROW, build_ts=0, data=(Cell("e", str(number)),))
        if encoding == "avro":
            raw = replace(raw, data=(Cell("e", Branch(LONG, number)),))
        message = KafkaMessage(None, encode(raw, context=known))
        (seen,) = FORMAT.to_events(message, context=unknown)
        assert isinstance(seen, RowChange)
        assert seen.after is not None
        assert seen.after.values == (number,)
        if fits:
            assert list(FORMAT.from_events([row], context=known))[-1] == message
            continue
        with pytest.raises(EncodeError):
            list(FORMAT.from_events([row], context=known))
        with pytest.raises(DecodeError) as caught:
            list(FORMAT.to_events(message, context=known))
        assert caught.value.path == ("data", "e")


def test_column_of_any_name_is_written() -> None:
    row = replace(ROW, data=(Cell('a"<', "1"),))
    value = encode(row)
    assert b'{"a\\"\\u003c":"1"}' in value
    assert decode(value) == row


def test_other_encoding_is_one_error() -> None:
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, b"{}"), context=AVRO))
    assert caught.value.clause == "simple: avro"
