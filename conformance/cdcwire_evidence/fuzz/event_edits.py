"""Changes of decoded events, which are encoded again: most of these messages are accepted.

A change keeps what belongs together: a value and its type, a text and its length, a row and the
definition of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from random import Random

from cdcwire.core.context import Context, with_sent_tables
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType, Type, Value
from cdcwire.registry import get_format
from cdcwire_evidence.fuzz.inputs import Input, first_inputs, size_of
from cdcwire_generators.messages import definitions_for, definitions_of

_BATCH_OPTIONS = ("max-batch-size", "max-message-bytes", "file-size")
_UNLIMITED = 1 << 30
_COMPRESSIONS = ("compression", "content-encoding", "large-message-handle-compression")
_MOST_FILES = 2  # next to the message: a schema file, a claim-check file
_MOST_EVENTS = 8
_TEXTS = (
    *("", "a", 'q"uote', "back\\slash", "new\nline", "\r", ",", "'", "NULL", "\\N", "null", "0"),
    *(
        'é"\\',
        "\u2028\n",
        "\x00",
        "\x1b[31m",
        "\u202e",
        "\u2028",
        "é",
        "\U0001f600",
        "\ufeff",
        "{}",
        "x" * 300,
    ),
)

Pair = tuple[Column, Value]
Change = Callable[[Sequence[Pair]], Sequence[Pair]]


@dataclass(frozen=True, slots=True)
class Grown:
    """An input that was encoded. ``size``: with what is compressed in it, uncompressed."""

    given: Input
    size: int


def edited(given: Input, events: Sequence[Event], chance: Random) -> Input | None:
    """Return an input with one to three changes of its events; None if they cannot be encoded."""
    changed = list(events[:_MOST_EVENTS])
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(changed))
        event, kind = changed[at], chance.random()
        if kind < 0.1:
            changed.insert(chance.randrange(len(changed) + 1), event)
        elif kind < 0.15 and len(changed) > 1:
            changed.pop(at)
        elif isinstance(event, RowChange):
            changed[at] = _changed_row(event, given.format, chance)
    try:
        return encoded(given, changed, limits=given.options).given
    except (EncodeError, OptionError):
        return None


def _changed_row(row: RowChange, format_name: str, chance: Random) -> RowChange:
    image = row.after or row.before
    if image is None or not image.columns or chance.random() < 0.05:
        return replace(row, table=replace(row.table, name=chance.choice(_TEXTS)))
    at = chance.randrange(len(image.columns))
    name = image.columns[at].name
    kind = chance.random()
    if kind < 0.6:  # another value, in one of the images
        column = image.columns[at]
        pair = column, _other_value(column, image.values[at], format_name, chance)
        return _with_images(row, _put(name, pair), is_both=chance.random() < 0.3)
    if kind < 0.75:  # another type with its value
        column, value = chance.choice(_pairs(format_name))
        roles = image.columns[at].roles
        return _with_images(row, _put(name, (replace(column, name=name, roles=roles), value)))
    if kind < 0.85:  # two columns in each other's place
        other = chance.choice(image.columns).name
        return _with_images(row, lambda pairs: _swapped(pairs, name, other))
    if kind < 0.95 and len(image.columns) > 1:
        return _with_images(row, lambda pairs: [each for each in pairs if each[0].name != name])
    new = chance.choice(_TEXTS)
    key = row.table.key and tuple(new if each == name else each for each in row.table.key)
    row = replace(row, table=replace(row.table, key=key))
    return _with_images(
        row, lambda pairs: [(replace(c, name=new) if c.name == name else c, v) for c, v in pairs]
    )


def _other_value(column: Column, value: Value, format_name: str, chance: Random) -> Value:
    kind = chance.random()
    if kind < 0.1:
        return None
    if isinstance(column.type, TextType) and isinstance(value, str) and kind < 0.6:
        at = chance.randrange(len(value) + 1)
        return value[:at] + chance.choice(_TEXTS) + value[at:]
    if isinstance(column.type, IntType) and isinstance(value, int) and kind < 0.6:
        bits = chance.randrange(column.type.bits)
        return (1 << bits) - chance.choice((0, 1)) if column.type.unsigned else -(1 << bits)
    return chance.choice(_values(format_name).get(column.type) or (value,))


def _with_images(row: RowChange, change: Change, *, is_both: bool = True) -> RowChange:
    def changed(image: Image | None) -> Image | None:
        return image and Image.of(change(tuple(image.pairs)))

    if not is_both and row.after is not None:
        return replace(row, after=changed(row.after))
    return replace(row, before=changed(row.before), after=changed(row.after))


def _put(name: str, pair: Pair) -> Change:
    return lambda pairs: [pair if column.name == name else (column, v) for column, v in pairs]


def _swapped(pairs: Sequence[Pair], first: str, second: str) -> Sequence[Pair]:
    at = {column.name: place for place, (column, _) in enumerate(pairs)}
    changed = list(pairs)
    if first in at and second in at:
        changed[at[first]], changed[at[second]] = changed[at[second]], changed[at[first]]
    return changed


@cache
def _pairs(format_name: str) -> tuple[Pair, ...]:
    """Return the columns of all golden rows of a format, each with its value."""
    return tuple(
        pair
        for given in first_inputs(format_name)
        for event in decoded(given)
        if isinstance(event, RowChange)
        for image in (event.before, event.after)
        if image is not None
        for pair in image.pairs
    )


@cache
def _values(format_name: str) -> Mapping[Type, list[Value]]:
    found: dict[Type, list[Value]] = {}
    for column, value in _pairs(format_name):
        found.setdefault(column.type, []).append(value)
    return found


def encoded(
    given: Input, events: Iterable[Event], limits: Mapping[str, OptionValue] | None = None
) -> Grown:
    """Return an input with the longest message that a format makes of events.

    ``limits``: the options; without them, those of the input without limits of a batch. Then
    nothing is compressed: the size of compressed bytes says little about the work.
    Raises: EncodeError, OptionError.
    """
    events = list(events)
    format_ = get_format(given.format)
    options = limits
    if options is None:
        unlimited = {
            each.name: _UNLIMITED for each in format_.options if each.name in _BATCH_OPTIONS
        }
        plain = {name: "none" for name in _COMPRESSIONS if name in given.options}
        options = {**given.options, **unlimited, **plain}
    tables = given.tables
    if format_.needs_tables or tables:
        tables = definitions_for(events, format_, options, definitions_of(events))
    context = replace(given.context(), options=options, tables=tables)
    messages = tuple(format_.from_events(events, context=context))
    carried = [each for each in messages if isinstance(each, type(given.message))]
    if format_.tables_in is not None:
        sent: dict[Message, tuple[Table, ...]] = {
            each: format_.tables_in(each, context)
            for each in messages
            if isinstance(each, KafkaMessage)
        }
        tables = with_sent_tables(context, chain.from_iterable(sent.values())).tables
        carried = [each for each in carried if not sent.get(each)] or carried
    longest = max(carried, key=size_of, default=given.message)
    files = tuple(each for each in messages if each is not longest)[:_MOST_FILES]
    grown = replace(
        given, messages=(*files, longest), index=len(files), options=options, tables=tables
    )
    return Grown(grown, grown.size)


def prepared(given: Input) -> Context | None:
    """Return the context of the messages; None if an option is wrong."""
    try:
        return get_format(given.format).prepared(given.messages, given.context())
    except OptionError:
        return None


def decoded(given: Input) -> list[Event]:
    """Return the events of an input; none if it is rejected."""
    context = prepared(given)
    if context is None:
        return []
    try:
        return list(get_format(given.format).to_events(given.message, context=context))
    except (DecodeError, OptionError):
        return []
