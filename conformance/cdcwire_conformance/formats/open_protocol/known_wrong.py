"""Known-wrong decoders of open-protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.json_strings import write_base64
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.golang import quote
from cdcwire.model.kinds import BytesType, Column, Value
from cdcwire_conformance.families import mysql_known_wrong
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    wrong_columns,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    absent_as_null,
    claim_check_ignored,
    one_table_a_message,
    partition_lost,
)


@mending("any version is read as version 1")
def version_ignored(message: Message) -> Iterable[Message]:
    """Yield the message with version 1 in its key."""
    assert isinstance(message, KafkaMessage)
    if message.key is not None:
        yield replace(message, key=(1).to_bytes(8, "big") + message.key[8:])


def _is_in_base64(column: Column) -> bool:
    return (column.source or "").removesuffix(" unsigned").endswith(("text", "blob"))


@wrong_values("the quoting of binary strings is not undone: byte 89 arrives as four characters")
def quoting_kept(column: Column, value: Value) -> Value:
    """Return a binary string in the quoted form that the message has."""
    is_quoted = isinstance(column.type, BytesType) and not _is_in_base64(column)
    return quote(value).encode() if is_quoted and isinstance(value, bytes) else value


@wrong_columns("TEXT and BLOB are given in base64")
def base64_kept(column: Column, value: Value) -> tuple[Column, Value]:
    """Return a TEXT or BLOB in the base64 that the message has."""
    if not _is_in_base64(column) or value is None:
        return column, value
    text = write_base64(value.encode() if isinstance(value, str) else value)
    return column, text.encode() if isinstance(column.type, BytesType) else text


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *mysql_known_wrong.BATCHED_MYSQL_FAULTS,
    mysql_known_wrong.ill_formed_text_replaced,
    mysql_known_wrong.vector_as_null,
    partition_lost,
    one_table_a_message,
    absent_as_null,
    claim_check_ignored,
    version_ignored,
    quoting_kept,
    base64_kept,
)
