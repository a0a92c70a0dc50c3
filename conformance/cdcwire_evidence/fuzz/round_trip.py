"""The law of encoding: what was decoded is encoded, or refused with a reason.

Decoding it again gives the same as far as the format carries it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from decimal import MAX_PREC, Decimal
from decimal import Context as DecimalContext

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.options import OptionError, parse_options
from cdcwire.format import Format
from cdcwire.model.carries import NO
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, DecimalType, Value
from cdcwire.model.steps import IncompleteUpdateError
from cdcwire.model.text import TextFormError, event_from_json, event_to_json
from cdcwire_evidence.fuzz.inputs import Input
from cdcwire_generators.comparing import common_part, plainly, texts_of
from cdcwire_generators.messages import definitions_of, expected_feed
from cdcwire_generators.round_trip import NotCarriedError

_ONE = Decimal(1)
_WIDE = DecimalContext(prec=MAX_PREC)
_DIGITS = 20  # zeros of an exponent above zero that are written out
_SCALE = 1000  # zeros that a scale adds; MySQL has up to 30 decimal places
_AROUND = 120
_SHOWN = 300
_SIGN = 40
_DETAIL = re.compile(r"[0-9]+|: \"[^\"]*")

Findings = list[tuple[str, str]]  # a text, and what is alike for one cause


def broken_round_trip(
    format_: Format, given: Input, context: Context, events: Sequence[Event]
) -> tuple[Findings, bool]:
    """Return the findings, and whether the events were encoded."""
    found, is_encoded = _round_trip(format_, given, context, events)
    if found and is_encoded:  # types and keys may need the definition that the events give
        tables = _completed(context.tables, definitions_of(events))
        if tables != context.tables:
            context = replace(context, tables=tables)
            found, is_encoded = _round_trip(format_, given, context, events)
    return found, is_encoded


def _completed(tables: Sequence[Table], given: Iterable[Table]) -> tuple[Table, ...]:
    """Return definitions with the tables and columns that only the events give."""
    found = list(tables)
    for table in given:
        same = [n for n, t in enumerate(found) if (t.schema, t.name) == (table.schema, table.name)]
        for index in same:
            columns = found[index].columns or ()
            names = {column.name for column in columns}
            added = [column for column in table.columns or () if column.name not in names]
            if added:
                found[index] = replace(found[index], columns=(*columns, *added))
        if not same:
            found.append(table)
    return tuple(found)


def _round_trip(
    format_: Format, given: Input, context: Context, events: Sequence[Event]
) -> tuple[Findings, bool]:
    try:
        messages = list(format_.from_events(events, context=context))
    except (EncodeError, OptionError):
        return [], False
    try:
        known = format_.prepared(messages, _without_feed(context, given))
        found = [e for each in messages for e in format_.to_events(each, context=known)]
    except (DecodeError, OptionError) as error:
        text = f"encoded, and then not decoded: {error}; {messages!r:.400}"
        return [(text, f"encode {getattr(error, 'clause', '')} {error!s:.20}")], True
    markers = {event.what for event in events if isinstance(event, Marker)}
    found = [  # an option may add begin and end of transactions
        event for event in found if not isinstance(event, Marker) or event.what in markers
    ]
    events = _cut_alike(events, found)
    before, after = (_carried(each, format_, given) for each in (events, found))
    if before == after or _is_expected(events, found, format_, context):
        return [], True
    for first, second in zip(before, after, strict=False):
        if first != second:
            return [(difference(first, second), f"encode {_place(first, second)}")], True
    return [(f"{len(before)} events, then {len(after)}", "encode number of events")], True


def _cut_alike(events: Sequence[Event], found: Sequence[Event]) -> list[Event]:
    """Return events with the columns of those that the encoder cut because they are too large."""
    cut = list(events)
    for index, (event, given) in enumerate(zip(events, found, strict=False)):
        if not isinstance(event, RowChange) or not isinstance(given, RowChange):
            continue
        if given.sent == "key" and event.sent is None:
            before, after = _cut(event.before, given.before), _cut(event.after, given.after)
            cut[index] = replace(event, before=before, after=after, sent="key")
    return cut


def _cut(image: Image | None, given: Image | None) -> Image | None:
    if image is None or given is None:
        return image
    names = set(given.names)
    pairs = zip(image.columns, image.values, strict=True)
    return Image.of(pair for pair in pairs if pair[0].name in names)


def _is_expected(
    events: Sequence[Event], found: list[Event], format_: Format, context: Context
) -> bool:
    """Return whether the difference is a loss that the verdicts of the format state."""
    try:
        expected = expected_feed(events, format_, context.options, tables=context.tables)
    except NotCarriedError:
        return True
    except (ValueError, LookupError, AssertionError):  # events that no workload has
        return False
    return sorted(texts_of(plainly(expected, ()))) == sorted(texts_of(plainly(found, ())))


def _carried(events: Sequence[Event], format_: Format, given: Input) -> list[str]:
    """Return what the format carries of events under these options, as texts."""

    def has(name: str, kinds: tuple[str, ...] = ("exact", "lossy")) -> bool:
        verdict = format_.carries.fields.get(name, NO)
        if verdict.verdict == "option":
            option, wanted = verdict.setting
            return options[option] == wanted
        return verdict.verdict in kinds

    options = parse_options(format_.options, given.options)
    names = [each.name for each in fields(Position) if has(each.name, ("exact",))]
    kept = []
    is_bare = not has("before of delete", ("exact",)) or any(
        isinstance(event, RowChange) and event.sent == "key" for event in events
    )
    is_partial = format_.comparing.sends_changed_columns(options)
    events = [_as_stored(event) for event in events]
    try:
        shown = plainly(common_part(events, format_), names)
    except IncompleteUpdateError:
        shown = common_part(events, format_)
    for event in shown:
        if isinstance(event, Progress) and not has("progress"):
            continue
        if isinstance(event, SchemaChange) and not has("schema change"):
            continue
        if isinstance(event, RowChange):
            if event.op != "delete" and not has("op"):
                event = replace(event, op="upsert")
            if event.op == "update" and not has("before of update"):
                event = replace(event, before=None)
            if event.before is not None and event.op == "delete" and is_bare:
                event = replace(event, before=event.before.only(event.table.key or ()))
            if event.before is not None and event.op == "update" and is_partial:
                event = replace(event, before=_as_after(event.before, event.after))
            if not has("key"):
                event = replace(event, table=replace(event.table, key=()))
        kept.append(event)
    return texts_of(kept)


def _as_stored(event: Event) -> Event:
    """Return an event whose decimals have the digits that a database gives them."""
    if not isinstance(event, RowChange):
        return event

    def stored(image: Image | None) -> Image | None:
        if image is None:
            return None
        return Image(image.columns, tuple(_digits(column, value) for column, value in image.pairs))

    return replace(event, before=stored(event.before), after=stored(event.after))


def _digits(column: Column, value: Value) -> Value:
    """Return a decimal without an exponent above zero, and with all digits of its column."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return value
    scale = column.type.scale if isinstance(column.type, DecimalType) else None
    least = -(scale or 0)
    if -_SCALE <= least < _exponent(value) < _DIGITS:
        return _WIDE.quantize(value, _ONE.scaleb(least))
    return value


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _as_after(before: Image, after: Image | None) -> Image:
    """Return an old row with the new values where they are equal: -0.0 is not a change of 0.0."""
    new = {} if after is None else {column.name: value for column, value in after.pairs}
    return Image(
        before.columns,
        tuple(
            new[column.name] if column.name in new and new[column.name] == value else value
            for column, value in before.pairs
        ),
    )


def broken_text_form(events: Sequence[Event]) -> Findings:
    """Return where the text form of events is not read as the same text."""
    for event in events:
        document = event_to_json(event)
        try:
            again = event_to_json(event_from_json(document))
        except TextFormError as error:
            return [(f"{error}: {document!r:.600}", f"text {error!s:.40}")]
        if again != document:
            return [(difference(repr(document), repr(again)), "text")]
    return []


def difference(first: str, second: str) -> str:
    """Return the parts of two texts that differ, with the text around them."""
    at = max(0, _common(first, second) - _AROUND)
    return f"{first[at : at + _SHOWN]} / {second[at : at + _SHOWN]}"


def _common(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _place(first: str, second: str) -> str:
    """Return what is before the difference, without names and numbers."""
    at = _common(first, second)
    return _DETAIL.sub("_", first[max(0, at - _AROUND) : at])[-_SIGN:]


def _without_feed(context: Context, given: Input) -> Context:
    """Return the context for the new messages, which bring their own claim-check files.

    The encoder repeats no schema that it knows.
    """
    return replace(context, blobs=given.blobs)
