"""Known-wrong decoders that misread the structure of a message, or believe what they should refuse.

Most are the reference with one of its functions replaced while it decodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, cast
from unittest.mock import patch

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.format import Context, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Reader
from cdcwire.core.varints import read_uvarint, read_varint
from cdcwire.formats import craft
from cdcwire.formats.craft import proposal as craft_proposal
from cdcwire.formats.craft.arrays import Place
from cdcwire.model.events import Event
from cdcwire_conformance.known_wrong.decoder import (
    ALL_BUT_CDL,
    CRAFTS,
    MESSAGES,
    Decode,
    KnownWrong,
    right,
)

_OPEN = ("open-protocol",)


def _patched(replacements: dict[str, Any]) -> Decode:
    """Return the reference decoder with functions replaced, by their full names."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        with ExitStack() as stack:
            for name, function in replacements.items():
                stack.enter_context(patch(name, function))
            return right(format_, message, context)

    return decode


def mended(mend: Callable[[Message], Iterable[Message]]) -> Decode:
    """Return a decoder that tries what ``mend`` makes of a message that the reference refuses."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        try:
            return right(format_, message, context)
        except DecodeError as error:
            for better in mend(message):
                try:
                    return right(format_, better, context)
                except DecodeError:
                    continue
            raise error

    return decode


def _errors_swallowed(format_: Format, message: Message, context: Context) -> list[Event]:
    try:
        return right(format_, message, context)
    except DecodeError:
        return []


def _without_end(message: Message) -> Iterable[Message]:
    value = message.value or b""
    for surplus in range(1, min(len(value), 16)):
        yield replace(message, value=value[:-surplus])


def _with_version_1(message: Message) -> Iterable[Message]:
    assert isinstance(message, KafkaMessage)
    if message.key is not None:
        yield replace(message, key=(1).to_bytes(8, "big") + message.key[8:])
    elif message.value is not None:
        yield replace(message, value=b"\1" + message.value[1:])
        yield replace(message, value=b"\0\1" + message.value[2:])


def _short_uvarint(reader: Reader, clause: str) -> int:
    try:
        return read_uvarint(reader, clause)
    except TruncatedError:
        reader.offset = reader.end
        return 0


def _short_varint(reader: Reader, clause: str) -> int:
    try:
        return read_varint(reader, clause)
    except TruncatedError:
        reader.offset = reader.end
        return 0


def _minimal_uvarint(reader: Reader, clause: str) -> int:
    start = reader.offset
    value = read_uvarint(reader, clause)
    if reader.offset - start > 1 and reader.data[reader.offset - 1] == 0:
        raise DecodeError("a varint that is longer than it needs to be", start, clause)
    return value


def _minimal_varint(reader: Reader, clause: str) -> int:
    value = _minimal_uvarint(reader, clause)
    return (value >> 1) ^ -(value & 1)


def _groups_by_position(format_: Format, message: Message, context: Context) -> list[Event]:
    assert isinstance(message, KafkaMessage)
    value = message.value or b""
    package: Any = craft if format_.name == "craft" else craft_proposal
    decoded = package.decode(value)
    events = []
    for event in decoded.events:
        groups: Sequence[Any] = getattr(event, "groups", ())
        if len(groups) == 2:
            by_position = tuple(
                replace(group, type=kind) for kind, group in enumerate(groups, start=1)
            )
            event = replace(event, groups=by_position)
        events.append(event)
    return cast("list[Event]", package.to_events(replace(decoded, events=tuple(events))))


def _terms_in_order(dictionary: list[str]) -> Callable[[Reader, int, Place], list[str]]:
    """Read column names as if each group brought new terms, one after the other."""
    used = 2  # schema and table

    def read_names(reader: Reader, count: int, place: Place) -> list[str]:
        nonlocal used
        for _ in range(count):
            read_varint(reader, place.clause)
        names = dictionary[used : used + count]
        used += count
        return names

    return read_names


def _wrong_text(raw: bytes, offset: int, clause: str) -> str:
    return raw.decode("utf-8", "replace")


def _quoting_kept(text: str) -> bytes:
    return text.encode()


def _base64_kept(text: str, start: int, clause: str) -> bytes:
    return text.encode()


def _claim_check_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    return right(format_, message, replace(context, blobs={}))


STRUCTURE: tuple[KnownWrong, ...] = (
    KnownWrong(
        "errors-swallowed", "a broken message gives no events and no error", _errors_swallowed
    ),
    KnownWrong(
        "trailing-bytes-accepted",
        "what follows a message is ignored",
        mended(_without_end),
        ALL_BUT_CDL,
    ),
    KnownWrong(
        "version-ignored", "any version is read as version 1", mended(_with_version_1), MESSAGES
    ),
    KnownWrong(
        "short-integer-is-zero",
        "an integer that is cut off is 0",
        _patched(
            {
                "cdcwire.formats.craft.values.read_uvarint": _short_uvarint,
                "cdcwire.formats.craft.values.read_varint": _short_varint,
            }
        ),
        CRAFTS,
        ("C8",),
    ),
    KnownWrong(
        "padded-integers-refused",
        "varints that are longer than they need to be are refused",
        _patched(
            {
                "cdcwire.formats.craft.values.read_uvarint": _minimal_uvarint,
                "cdcwire.formats.craft.values.read_varint": _minimal_varint,
                "cdcwire.formats.craft.wire.read_uvarint": _minimal_uvarint,
                "cdcwire.formats.craft.columns.read_uvarint": _minimal_uvarint,
                "cdcwire.formats.craft.arrays.read_uvarint": _minimal_uvarint,
            }
        ),
        CRAFTS,
    ),
    KnownWrong(
        "groups-by-position",
        "the first column group is taken for the new row, the second for the old",
        _groups_by_position,
        CRAFTS,
        ("C11",),
    ),
    KnownWrong(
        "terms-in-order",
        "column names are taken from the dictionary one after the other",
        _patched({"cdcwire.formats.craft.wire.name_reader": _terms_in_order}),
        ("craft",),
    ),
    KnownWrong(
        "names-not-checked",
        "names and queries that are not UTF-8 are accepted",
        _patched(
            {
                "cdcwire.formats.craft.arrays.text_of": _wrong_text,
                "cdcwire.formats.craft.columns.text_of": _wrong_text,
                "cdcwire.formats.craft.values.text_of": _wrong_text,
            }
        ),
        CRAFTS,
    ),
    KnownWrong(
        "repeated-columns-accepted",
        "a column may stand twice in a group",
        _patched(
            {
                "cdcwire.formats.craft.headers.no_repeated_names": lambda: lambda index, name: None,
                "cdcwire.formats.craft.proposal.keys.no_repeated_names": lambda: (
                    lambda index, name: None
                ),
            }
        ),
        CRAFTS,
    ),
    KnownWrong(
        "quoting-kept",
        "the quoting of binary strings is not undone: byte 89 arrives as four characters",
        _patched({"cdcwire.formats.open_protocol.values.unquote": _quoting_kept}),
        _OPEN,
    ),
    KnownWrong(
        "base64-kept",
        "TEXT and BLOB are given in base64",
        _patched({"cdcwire.formats.open_protocol.values.read_base64": _base64_kept}),
        _OPEN,
    ),
    KnownWrong(
        "claim-check-ignored",
        "the reduced row is taken for the whole one",
        _claim_check_ignored,
        ("open-protocol", "canal-json"),
    ),
)
