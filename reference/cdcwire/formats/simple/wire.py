"""Kafka values to the wire's values, and back: compression, then JSON or Avro."""

from __future__ import annotations

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import SizeLimitError
from cdcwire.core.reader import Reader
from cdcwire.formats.simple import avro_wire, json_wire
from cdcwire.formats.simple.members import COMPRESSION, RULES
from cdcwire.formats.simple.message import Message
from cdcwire.formats.simple.settings import Settings, read_settings


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
