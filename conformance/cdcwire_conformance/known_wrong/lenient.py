"""A lenient reader: a decoder that takes every liberty that a format leaves to its readers.

No case of level ``must`` may fail it, stored or derived. It reads as the reference does, but

* it does not check what a strict reader adds: the clauses that its format names (``Liberties``);
* it normalises JSON as lenient parsers do before it reads again: a byte order mark, ill-formed
  UTF-8, an incomplete surrogate pair, NaN, members that occur twice;
* it fills in the unchanged columns of an old row, drops the sign of a decimal zero, and answers
  nothing of ``extra``.

When it takes a malformed message, its answer is not judged, so it answers no events.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionError
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, RowChange
from cdcwire_conformance.known_wrong.decoder import Decode, KnownWrong, right

_SCALAR_STARTS = b'"-0123456789tf'
_MOST_DIGITS = 20
_MOST_MENDS = 16
_ASCII_END = 0x80
Mend: TypeAlias = Callable[[Message, DecodeError], "Message | None"]


def no_mend(message: Message, error: DecodeError) -> Message | None:
    """Return None: nothing is read instead."""
    return None


def _never(error: DecodeError, message: Message, context: Context) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Liberties:
    """The checks that a reader of one format need not make.

    ``unchecked``: clauses that it does not look at. ``scalars``: clauses of JSON values; for them
    it takes any text, number or boolean. ``mend``: what it reads instead of a message that the
    reference refuses with an error. ``forgives``: any other errors that it does not make.
    ``is_framed``: values have lengths. A reader that goes on after an error that it does not make
    then notices a wrong length, where the reference has stopped.
    """

    unchecked: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()
    mend: Mend = no_mend
    forgives: Callable[[DecodeError, Message, Context], bool] = _never
    is_framed: bool = False

    def of_wrong_lengths(self) -> Liberties:
        """Return what a reader takes of messages whose lengths may be wrong."""
        if not self.is_framed:
            return self
        return replace(self, unchecked=frozenset(), forgives=_never)

    def takes(self, error: DecodeError, message: Message, context: Context) -> bool:
        """Return whether the reader does not notice this error."""
        if isinstance(error, TruncatedError):
            return False
        if error.clause in self.unchecked or self.forgives(error, message, context):
            return True
        return error.clause in self.scalars and bool(error.path) and is_scalar(error, message)


def bytes_at(error: DecodeError, message: Message) -> bytes:
    """Return the bytes of a key or value from those on that an error is about."""
    is_key = error.path[:1] == ("key",)
    raw = message.key if is_key and isinstance(message, KafkaMessage) else message.value
    return (raw or b"")[error.offset :]


def is_scalar(error: DecodeError, message: Message) -> bool:
    """Return whether an error is about a JSON text, number or boolean."""
    start = bytes_at(error, message)[:1]
    return bool(start) and start in _SCALAR_STARTS


def lenient_reader(liberties: Liberties) -> KnownWrong:
    """Return the lenient reader of a format."""
    return KnownWrong("lenient", "takes every liberty", _decoder(liberties))


def reads(format_: Format, message: Message, context: Context, liberties: Liberties) -> bool:
    """Return whether the lenient reader takes a message."""
    try:
        _decoder(liberties)(format_, message, context)
    except DecodeError:
        return False
    return True


def _decoder(liberties: Liberties) -> Decode:
    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        for _ in range(_MOST_MENDS):
            try:
                return [_loose(event) for event in right(format_, message, context)]
            except OptionError:
                return []
            except DecodeError as error:
                if liberties.takes(error, message, context):
                    return []
                mended = liberties.mend(message, error)
                if mended is None or mended == message:
                    raise
                message = mended
        raise AssertionError("a message is mended in a few steps")

    return decode


def _loose(event: Event) -> Event:
    """Return an event as a reader may give it that knows less, or says more, than the bytes."""
    event = replace(event, extra={})
    if not isinstance(event, RowChange):
        return event
    before, after = _plain(event.before), _plain(event.after)
    if event.sent == "changed" and before is not None and after is not None:
        unchanged = [pair for pair in after.pairs if pair[0].name not in before]
        before = Image.of((*before.pairs, *unchanged))
        event = replace(event, sent=None)
    return replace(event, before=before, after=after)


def _plain(image: Image | None) -> Image | None:
    if image is None:
        return None
    return Image(
        image.columns,
        tuple(abs(v) if isinstance(v, Decimal) and v.is_zero() else v for v in image.values),
    )


def mend_json(message: Message, error: DecodeError) -> Message | None:
    """Return a message with its value, and its key if it has one, as a lenient parser reads it."""
    value = normalised_json(message.value) or message.value
    if not isinstance(message, KafkaMessage):
        return replace(message, value=value or b"")
    return replace(message, value=value, key=normalised_json(message.key) or message.key)


def mend_text(message: Message, error: DecodeError, texts: frozenset[str]) -> Message | None:
    """Return a message with "?" in place of the byte at an error, if it is not ASCII.

    ``texts``: the clauses of texts.
    """
    found = bytes_at(error, message)
    if error.clause not in texts or not found or found[0] < _ASCII_END:
        return None
    if error.path[:1] == ("key",) and isinstance(message, KafkaMessage):
        return replace(message, key=_with_question_mark(message.key or b"", error.offset))
    return replace(message, value=_with_question_mark(message.value or b"", error.offset))


def _with_question_mark(raw: bytes, place: int) -> bytes:
    return raw[:place] + b"?" + raw[place + 1 :]


def normalised_json(raw: bytes | None) -> bytes | None:
    """Return the JSON in its plainest form; None where no JSON parser reads it."""
    if not raw:
        return None
    try:
        document = _PARSER.decode(raw.decode("utf-8-sig", "replace").strip(" \t\r\n"))
    except (ValueError, RecursionError):
        return None
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


_PARSER = json.JSONDecoder(parse_int=_integer, parse_float=_number, parse_constant=str)
