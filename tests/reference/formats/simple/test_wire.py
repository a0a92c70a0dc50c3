"""Messages at the wire layer: bytes of the producers come back, in JSON and in Avro."""

from __future__ import annotations

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.simple import FORMAT, Cell, Dml, Watermark, decode, encode
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


def test_watermark_in_avro_is_read_and_written() -> None:
    message = Watermark(441349361156227083, 1795810246402)
    value = encode(message, context=AVRO)
    assert value.startswith(WATERMARK)
    assert decode(value, context=AVRO) == message


def test_timestamp_beyond_63_bits_wraps_in_avro() -> None:
    message = Watermark((1 << 64) - 1, 0)
    value = encode(message, context=AVRO)
    assert value == WATERMARK + b"\x01\x00"
    assert decode(value, context=AVRO) == message


@pytest.mark.parametrize("size", range(6))
def test_every_cut_of_a_datum_is_reported_at_its_end(size: int) -> None:
    value = encode(Watermark(1, 2), context=AVRO)
    with pytest.raises(TruncatedError) as caught:
        decode(value[:size], context=AVRO)
    assert (caught.value.offset, caught.value.clause) == (size, "simple: avro")


def test_row_without_columns_and_key_is_a_row() -> None:
    value = (
        b'{"version":1,"database":"d","table":"t","type":"INSERT","commitTs":4,"buildTs":5,'
        b'"handleKeyOnly":true}'
    )
    message = decode(value)
    assert isinstance(message, Dml)
    assert message.data is None
    assert encode(message) == value


def test_column_of_any_name_is_written() -> None:
    row = Dml("INSERT", 4, 5, "d", "t", data=(Cell('a"<', "1"),))
    value = encode(row)
    assert b'{"a\\"\\u003c":"1"}' in value
    assert decode(value) == row


def test_other_encoding_is_one_error() -> None:
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, b"{}"), context=AVRO))
    assert caught.value.clause == "simple: avro"
