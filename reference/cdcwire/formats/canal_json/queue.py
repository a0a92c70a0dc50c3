"""Messages of a queue: one JSON object each, compressed as a whole where the settings say so."""

from __future__ import annotations

from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Compression, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import SizeLimitError
from cdcwire.formats.canal_json.columns import NO_DEFINITIONS, Definitions, definitions_of
from cdcwire.formats.canal_json.members import RULES, Dialect
from cdcwire.formats.canal_json.message import Message
from cdcwire.formats.canal_json.settings import read_settings
from cdcwire.formats.canal_json.wire import read_object, write_object

CLAUSE = "canal-json: compression"


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message | None:
    """Return the message in a Kafka value; None if it is of a table that is not wanted.

    ``key`` is ignored. The context's tables name the columns that ``mysqlType`` does not name.
    Raises: TruncatedError, also for an empty value; DecodeError, OptionError.
    """
    definitions, settings = definitions_of(context.tables), read_settings(context)
    if not value:
        return read_object(b"", context.selection, definitions)
    return read_message(value, settings.compression, context.selection, definitions)


def encode(message: Message, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the Kafka value of a message. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    return write_message(message, settings.dialect, settings.compression)


def read_message(
    value: bytes | None,
    compression: Compression | None = None,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
) -> Message | None:
    """Return the message in a Kafka value; None if it is empty, or of a table not wanted.

    Raises: DecodeError. Where the message is compressed, the offset is 0.
    Source: canal-json, "framing": an empty message says nothing.
    """
    if not value:
        return None
    if compression is None:
        return read_object(value, selection, definitions)
    text = decompressed(value, compression)
    try:
        return read_object(text, selection, definitions)
    except DecodeError as error:
        raise error.outside(0, "decompressed message") from error


def decompressed(value: bytes, compression: Compression) -> bytes:
    """Return a message without its compression. Raises: DecodeError."""
    try:
        return compression.open(value)
    except SizeLimitError as error:
        raise DecodeError(str(error), 0, RULES.limits_clause) from error
    except ValueError as error:
        raise DecodeError(f"the message can't be decompressed: {error}", 0, CLAUSE) from error


def write_message(message: Message, dialect: Dialect, compression: Compression | None) -> bytes:
    """Return the Kafka value of a message. Raises: EncodeError."""
    text = write_object(message, dialect)
    return compression.compress(text) if compression is not None else text
