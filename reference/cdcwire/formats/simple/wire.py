"""Kafka values to the wire's values, and back: compression, then JSON or Avro.

A claim-check file has the whole message of one row, compressed as messages are, without a Kafka key
(``cdcwire.core.claim_check``). With ``claim-check-raw-value`` it is that message and nothing else.
"""

from __future__ import annotations

from contextlib import nullcontext

from cdcwire.core.claim_check import read_claim_check
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.limits import SizeLimitError
from cdcwire.core.reader import Reader
from cdcwire.formats.simple import avro_wire, json_wire
from cdcwire.formats.simple.message import (
    CLAIM_CHECK,
    COMPRESSION,
    RECORDS,
    RULES,
    Dml,
    Message,
    Row,
)
from cdcwire.formats.simple.settings import Settings, read_settings
from cdcwire.model.events import Path


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return the message in a Kafka value. ``key`` is ignored: the producer sends none.

    Raises: TruncatedError, also for an empty value; DecodeError, OptionError.
    """
    return read_message(value, read_settings(context))


def encode(message: Message, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the Kafka value of a message. Raises: EncodeError, OptionError."""
    return write_message(message, read_settings(context))


def read_message(value: bytes | None, settings: Settings) -> Message:
    """Return the message in a Kafka value. Raises: DecodeError.

    Where the message is compressed, the offset is 0.
    """
    data = value or b""
    if settings.compression is None:
        return _read(data, settings)
    text = decompressed(data, settings)
    try:
        return _read(text, settings)
    except DecodeError as error:
        raise error.outside(0, "decompressed message") from error


def _read(data: bytes, settings: Settings) -> Message:
    if settings.encoding_format == "avro":
        return avro_wire.read_message(Reader(data))
    return json_wire.read_message(data)


def decompressed(value: bytes, settings: Settings) -> bytes:
    """Return a message without the compression of the settings. Raises: DecodeError."""
    compression = settings.compression
    if compression is None:
        return value
    try:
        return compression.open(value)
    except SizeLimitError as error:
        raise DecodeError(str(error), 0, RULES.limits_clause) from error
    except ValueError as error:
        problem = f"the message can't be decompressed: {error}"
        raise DecodeError(problem, 0, COMPRESSION) from error


def write_message(message: Message, settings: Settings) -> bytes:
    """Return the Kafka value of a message. Raises: EncodeError."""
    write = avro_wire if settings.encoding_format == "avro" else json_wire
    data = write.write_message(message)
    return data if settings.compression is None else settings.compression.compress(data)


_SAME = ("database", "table", "table_id", "type", "commit_ts", "schema_version")
_MEMBERS = {each.field: name for name, each in RECORDS[Dml].by_name.items()}


def read_stored(data: bytes, sent: Dml, settings: Settings) -> Dml:
    """Return the row of a claim-check file, which is the whole of the row ``sent``.

    Offsets of errors count in the file; under the path ``value`` in the decoded bytes of it.
    Raises: DecodeError, also for a file of another row.
    """
    is_raw = settings.claim_check_raw_value
    value = data if is_raw else _stored_value(data)
    with nullcontext() if is_raw else step("value"):
        message = read_message(value, settings)
        if not isinstance(message, Dml):
            raise DecodeError("the stored message is not a row", 0, CLAIM_CHECK)
        if message.claim_check_location:
            raise DecodeError("the stored message itself has a claim check", 0, CLAIM_CHECK)
        for name in _SAME:
            if getattr(message, name) != getattr(sent, name):
                raise _is_another(_MEMBERS[name], (_MEMBERS[name],))
        for side, cut, whole in (("data", sent.data, message.data), ("old", sent.old, message.old)):
            _check_side(side, cut or (), whole or ())
    return message


def _check_side(side: str, cut: Row, whole: Row) -> None:
    known = {cell.name: cell.value for cell in whole}
    for cell in cut:
        if cell.name not in known or known[cell.name] != cell.value:
            raise _is_another(f"{side}.{cell.name}", (side, cell.name))


def _is_another(name: str, path: Path) -> DecodeError:
    problem = f"the stored row is another one: its {name} differs from the message's"
    return DecodeError(problem, 0, CLAIM_CHECK, path)


def _stored_value(data: bytes) -> bytes:
    try:
        return read_claim_check(data, CLAIM_CHECK, RULES)[1]
    except DecodeError as error:
        if error.path:
            raise
        problem = f"{error.problem}; a file of the bare message needs claim-check-raw-value"
        raise type(error)(problem, error.offset, error.clause) from None
