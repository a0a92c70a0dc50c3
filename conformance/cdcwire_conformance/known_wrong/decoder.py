"""How a known-wrong decoder is described: a name, the fault, and a decoder that has it.

A known-wrong decoder changes the events that the right decoder gives, or the message and the
settings that it reads. Where neither shows the fault, it passes a documented parameter to the
decoder of the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.model.kinds import UNAVAILABLE, Column, Value

Decode: TypeAlias = Callable[[Format, Message, Context], list[Event]]


_Function = TypeVar("_Function", bound=Callable[..., object])
_Decorated = TypeVar("_Decorated", bound=Callable[..., object], contravariant=True)


@dataclass(frozen=True, slots=True)
class KnownWrong:
    """A decoder with one fault that real decoders had.

    ``seen``: the ids of the reported faults that it repeats, as the golden cases name them.
    """

    name: str
    fault: str
    decode: Decode
    seen: tuple[str, ...] = ()


def right(format_: Format, message: Message, context: Context) -> list[Event]:
    """Decode as the reference does."""
    return list(format_.to_events(message, context=context))


def changing_events(change: Callable[[Event], Event | None]) -> Decode:
    """Return a decoder that changes each event, or loses it where ``change`` gives None."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        changed = map(change, right(format_, message, context))
        return [event for event in changed if event is not None]

    return decode


def changing_rows(change: Callable[[RowChange], Event | None]) -> Decode:
    """Return a decoder that changes each row event and leaves the others."""
    return changing_events(lambda event: change(event) if isinstance(event, RowChange) else event)


def changing_columns(change: Callable[[Column, Value], tuple[Column, Value] | None]) -> Decode:
    """Return a decoder that changes each column of each row, or loses it where it gives None."""

    def changed_image(image: Image | None) -> Image | None:
        if image is None:
            return None
        changed = (change(column, value) for column, value in image.pairs)
        return Image.of(pair for pair in changed if pair is not None)

    return changing_rows(
        lambda row: replace(row, before=changed_image(row.before), after=changed_image(row.after))
    )


def changing_values(change: Callable[[Column, Value], Value]) -> Decode:
    """Return a decoder that changes each value, except NULL and unavailable values."""
    return changing_columns(
        lambda column, value: (
            column,
            value if value is None or value is UNAVAILABLE else change(column, value),
        )
    )


def under_options(**options: OptionValue) -> Decode:
    """Return the right decoder under other options than the producer's: ``lenient_ops=True``.

    Options that the format does not have are left out.
    """
    wrong = {name.replace("_", "-"): value for name, value in options.items()}

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        known = {option.name for option in format_.options}
        changed = {name: value for name, value in wrong.items() if name in known}
        kept = {
            name: value
            for name, value in context.options.items()
            if name.rpartition(".")[2] not in changed
        }
        return right(format_, message, replace(context, options={**kept, **changed}))

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


def _refusing(is_odd: Callable[[Message, list[Event]], bool]) -> Decode:
    """Return a decoder that refuses legal messages for which ``is_odd`` is true."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        events = right(format_, message, context)
        if is_odd(message, events):
            raise DecodeError("an unexpected message", 0, "")
        return events

    return decode


class _Decorator(Protocol[_Decorated]):
    def __call__(self, fault: str, *seen: str) -> Callable[[_Decorated], KnownWrong]: ...


def decorator(make: Callable[[_Function], Decode]) -> _Decorator[_Function]:
    """Return a decorator that makes a known-wrong decoder of the function with the fault.

    Its name is the function's: ``year_without_zigzag`` makes ``year-without-zigzag``.
    """

    def with_fault(fault: str, *seen: str) -> Callable[[_Function], KnownWrong]:
        def named(function: _Function) -> KnownWrong:
            name = function.__name__.replace("_", "-")
            return KnownWrong(name, fault, make(function), seen)

        return named

    return with_fault


def _as_it_is(decode: Decode) -> Decode:
    return decode


wrong_decoder = decorator(_as_it_is)
wrong_events = decorator(changing_events)
wrong_rows = decorator(changing_rows)
wrong_columns = decorator(changing_columns)
wrong_values = decorator(changing_values)
mending = decorator(mended)
refusing = decorator(_refusing)
