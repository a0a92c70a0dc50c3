"""Known-wrong decoders of open-protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.base64_text import write_base64
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.golang.quote import quote
from cdcwire.model.events import Column, Value
from cdcwire.model.kinds import BytesType
from cdcwire_conformance.families.mysql_known_wrong import (
    BATCHED_MYSQL_FAULTS,
    ILL_FORMED_TEXT_REPLACED,
    VECTOR_AS_NULL,
)
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_columns,
    changing_values,
    mended,
)
from cdcwire_conformance.known_wrong.events import (
    ABSENT_AS_NULL,
    CLAIM_CHECK_IGNORED,
    ONE_TABLE_A_MESSAGE,
    PARTITION_LOST,
)


def _with_version_1(message: Message) -> Iterable[Message]:
    assert isinstance(message, KafkaMessage)
    if message.key is not None:
        yield replace(message, key=(1).to_bytes(8, "big") + message.key[8:])


def _is_in_base64(column: Column) -> bool:
    return (column.source or "").removesuffix(" unsigned").endswith(("text", "blob"))


def _quoting_kept(column: Column, value: Value) -> Value:
    is_quoted = isinstance(column.type, BytesType) and not _is_in_base64(column)
    return quote(value).encode() if is_quoted and isinstance(value, bytes) else value


def _base64_kept(column: Column, value: Value) -> tuple[Column, Value]:
    if not _is_in_base64(column) or value is None:
        return column, value
    text = write_base64(value.encode() if isinstance(value, str) else value)
    return column, text.encode() if isinstance(column.type, BytesType) else text


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *BATCHED_MYSQL_FAULTS,
    ILL_FORMED_TEXT_REPLACED,
    VECTOR_AS_NULL,
    PARTITION_LOST,
    ONE_TABLE_A_MESSAGE,
    ABSENT_AS_NULL,
    CLAIM_CHECK_IGNORED,
    KnownWrong("version-ignored", "any version is read as version 1", mended(_with_version_1)),
    KnownWrong(
        "quoting-kept",
        "the quoting of binary strings is not undone: byte 89 arrives as four characters",
        changing_values(_quoting_kept),
    ),
    KnownWrong("base64-kept", "TEXT and BLOB are given in base64", changing_columns(_base64_kept)),
)
