"""The suite's facts about datahub-tuple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.datahub.body import read_body
from cdcwire.datahub.carrying import headers_of, read_records
from cdcwire.datahub.fields import Field as TopicField
from cdcwire.datahub.frame import MAGIC
from cdcwire.datahub.message import Batch, Record
from cdcwire.format import Format
from cdcwire.formats.datahub_tuple import find_table, read_settings, topic_of
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.model.kinds import Column, TimestampType, Value
from cdcwire_conformance.families import datahub as datahub_bodies
from cdcwire_conformance.families.datahub import DATAHUB_FAULTS, layers, legal_sizes
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    right,
    under_options,
    wrong_columns,
    wrong_decoder,
)
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json, mend_text
from cdcwire_conformance.known_wrong.values import NUMBERS_AND_TEXTS, float32_as_double
from cdcwire_conformance.mutations import Change, FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts


@wrong_columns("a TIMESTAMP's microseconds are taken for milliseconds")
def timestamp_in_ms(column: Column, value: Value) -> tuple[Column, Value]:
    """Take microseconds for milliseconds."""
    kind = column.type
    is_us = isinstance(kind, TimestampType) and kind.form == "us"
    return (replace(column, type=replace(kind, form="ms")) if is_us else column), value  # type: ignore[arg-type]


def _fields_of(context: Context) -> tuple[TopicField, ...]:
    settings = read_settings(context)
    return topic_of(find_table(context.tables, settings), settings).fields


def _records_of(message: KafkaMessage, context: Context) -> list[Record]:
    """Return the records of a body; or none of a broken body."""
    body = read_settings(context).body
    try:
        return [record for _, record in read_records(message, _fields_of(context), body)]
    except DecodeError:
        return []


@wrong_decoder("the length of an attribute in a batch counts characters")
def attributes_in_characters(format_: Format, message: Message, context: Context) -> list[Event]:
    """Lose what follows an attribute whose letters need more bytes than one."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    value = message.value or b""
    if value.count(MAGIC) < 2:
        return events  # no batch
    for index, record in enumerate(_records_of(message, context)):
        if not all(text.isascii() for pair in record.attributes for text in pair):
            return events[:index]
    return events


@wrong_decoder("only the first of several batches is read")
def first_entry_only(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read the first batch of an answer and no other."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    if not (message.value or b"").startswith(MAGIC):
        return events
    plain = Context(tables=context.tables)
    body = read_body(message.value or b"", _fields_of(plain), headers=headers_of(message))
    first = body.entries[0] if body.entries else None
    return events[: len(first.records)] if isinstance(first, Batch) else events


@wrong_decoder("fields that a record is too old for are NULL")
def short_record_filled(format_: Format, message: Message, context: Context) -> list[Event]:
    """Fill each row with NULL up to the fields that its topic has now."""
    columns = find_table(context.tables, read_settings(context)).columns or ()

    def filled(image: Image | None) -> Image | None:
        if image is None:
            return None
        missing = tuple(column for column in columns if column.name not in image)
        return Image(image.columns + missing, image.values + (None,) * len(missing))

    return [
        replace(event, before=filled(event.before), after=filled(event.after))
        if isinstance(event, RowChange)
        else event
        for event in right(format_, message, context)
    ]


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *DATAHUB_FAULTS,
    float32_as_double,
    *NUMBERS_AND_TEXTS,
    KnownWrong(
        "empty-field-as-null",
        "an empty text is NULL in fields of other types than STRING, without the option",
        under_options(empty_is_null=True),
        ("57", "datahub/empty-or-null"),
    ),
    timestamp_in_ms,
    attributes_in_characters,
    first_entry_only,
    short_record_filled,
)

_COUNT_BYTES = 4
_LONG_PART = 256  # every byte of a text is alike; its fields are what differs


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a body."""
    counts = {span.start for span in spans if _is_count(span)}
    for change in datahub_bodies.changes(raw, spans, options):
        is_shorter = change.offset in counts and _one_less(raw, change)
        if not (is_shorter and options.get("short-records") == "absent"):
            yield change


def _one_less(raw: bytes, change: Change) -> bool:
    """Return whether the number at the place of a change is one less after it."""
    before, after = (
        int.from_bytes(each[change.offset : change.offset + _COUNT_BYTES], "little")
        for each in (raw, change.raw)
    )
    return after == before - 1


def _is_count(span: Span) -> bool:
    return span.clause == "datahub: batch records" and span.path[-1:] == ("count",)


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    layers=layers,
)


_TEXTS = frozenset({"datahub: string fields"})


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return a body with ASCII text, or as plainer JSON."""
    return mend_text(message, error, _TEXTS) or mend_json(message, error)


LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("datahub: integer fields", "datahub: float fields", "datahub: boolean fields"),
            *("datahub: timestamp fields", "datahub: decimal fields", "datahub: null fields"),
            *("datahub: string fields", "datahub: checksums", "datahub: limits"),
            *("datahub-tuple: sequence ids", "datahub-tuple: execute time"),
        }
    ),
    mend=_mend,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#c9a227",
        note=(
            "A batch of `datahub-tuple` is a body of one topic, which has one table. The body "
            "is JSON unless an option says otherwise. An update is two records. The topic's "
            "definition is not counted."
        ),
    ),
)
