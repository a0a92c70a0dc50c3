"""Two feeds of one stream: the formats, the settings of their producers, and their files."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st

from cdcwire import Decoder
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import COMMIT_TS, SEQUENCE_ID
from cdcwire.debezium.connectors import CONNECTORS
from cdcwire.files.messages_io import read_messages, write_messages
from cdcwire.files.stores import LocalStore
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.rules import Mode
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix
from cdcwire_evidence.planting.last_rows import DROP_SCHEMA, is_of
from cdcwire_evidence.planting.plants import Plant
from cdcwire_generators.domain import (
    Domain,
    domain_of,
    fullest_options,
    shared_fields,
    with_position_fields,
)
from cdcwire_generators.formats import get_generators
from cdcwire_generators.messages import definitions_for
from cdcwire_generators.storage import is_stored
from cdcwire_generators.strategies import change_streams, late_columns
from cdcwire_generators.strategies.samples import option_settings
from cdcwire_generators.strategies.values import values

Draw: TypeAlias = "Callable[[st.SearchStrategy[Any]], Any]"

_CONNECTOR, _DIALECT, _KEYS = "connector", "dialect", "key-converter"
_SAME_IN_BOTH = ("database", "read-r-as-c", _CONNECTOR)  # if they differ, so do the feeds
# How much a reader refuses, which no producer knows, and a setting that loses digits of decimals.
_NOT_DRAWN = {"lint": ("strict",), "decimal-handling-mode": ("double",)}
_MOST_TRIES = 20  # to draw another value
_MODES: tuple[Mode, ...] = ("events", "events", "final")


@dataclass(frozen=True, slots=True)
class FeedForm:
    """A format with the settings of its producer."""

    format: Format
    options: Mapping[str, OptionValue]

    @property
    def is_stored(self) -> bool:
        """Return whether the feed is files of a prefix, whose schema files define its tables."""
        return is_stored(self.format, self.options)

    def write(self, folder: Path, tables: tuple[Table, ...], events: Iterable[Event]) -> None:
        """Write a stream as a feed into a new directory.

        Raises: EncodeError for what the format does not carry; StoreError.
        """
        folder.mkdir(parents=True)
        events = list(events)
        context = Context(self.options, definitions_for(events, self.format, self.options, tables))
        if self.is_stored:
            write_prefix(PrefixWriter(LocalStore(folder), self.format.name, context), events)
        else:
            messages = self.format.from_events(events, context=context)
            write_messages(str(folder / "messages.jsonl"), messages)

    def carries(self, tables: tuple[Table, ...], events: Iterable[Event]) -> bool:
        """Return whether the format can encode a stream as messages, and sends at least one."""
        events = list(events)
        if self.is_stored:
            return False
        context = Context(self.options, definitions_for(events, self.format, self.options, tables))
        try:
            return bool(list(self.format.from_events(events, context=context)))
        except EncodeError:
            return False

    def damage_keys(self, folder: Path, plant: Plant, tables: tuple[Table, ...]) -> None:
        """Exchange the Kafka keys of two messages of rows that have different ones, or cut one.

        Other messages keep theirs, and so does a format whose keys repeat nothing of a row.
        """
        file = folder / "messages.jsonl"
        if self.format.comparing.key_reader is None or not file.exists():
            return
        has_rows = _has_rows(self.format, self.options, tables, file)
        lines = file.read_text("utf-8").splitlines()
        messages = [json.loads(line) for line in lines]
        keyed = [each for each, rows in zip(messages, has_rows, strict=True) if rows]
        keyed = [each for each in keyed if each.get("key")]
        Random(plant.seed).shuffle(keyed)
        other = next((each for each in keyed if each["key"] != keyed[0]["key"]), None)
        if plant.keys == "cut" and keyed:
            cut = b64decode(keyed[0]["key"])[:-1]
            keyed[0]["key"] = b64encode(cut).decode("ascii")
        elif plant.keys == "exchanged" and other is not None:
            keyed[0]["key"], other["key"] = other["key"], keyed[0]["key"]
        else:
            return
        file.write_text("".join(f"{json.dumps(each)}\n" for each in messages), "utf-8")

    def opened(
        self, folder: Path, tables: tuple[Table, ...], events: Iterable[Event], *, is_defined: bool
    ) -> ComparedFeed:
        """Return a feed that was written, as a comparison takes it, with definitions or without."""
        known = tables if is_defined else ()
        if not is_defined and not self.is_stored:
            known = definitions_for(events, self.format, self.options, tables)
        source = parse_source(f"{self.format.name}:file:{folder}")
        return ComparedFeed(source, Context(self.options, known))


def _has_rows(
    format_: Format, options: Mapping[str, OptionValue], tables: tuple[Table, ...], file: Path
) -> list[bool]:
    """Return which messages of a file have changed rows."""
    messages = [message for _, message in read_messages(str(file))]
    use = format_.schemas
    files = [None if use is None else use.schema_file(each) for each in messages]
    decoder = Decoder(
        format_.name, tables=tables, schemas=dict(filter(None, files)), options=options
    )
    return [
        is_file is None and any(True for _ in decoder.rows([message]))
        for message, is_file in zip(messages, files, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Pair:
    """A stream and the two forms in which it is compared.

    ``is_defined``: with definitions. ``mode``: all changes, or the last row of each key.
    """

    left: FeedForm
    right: FeedForm
    tables: tuple[Table, ...]
    events: tuple[Event, ...]
    is_defined: bool
    mode: Mode

    @property
    def has_order(self) -> bool:
        """Return whether the order of lines in the right feed makes a difference.

        Sequence ids order a feed. Last rows are in the order of positions or of partitions.
        """
        sequenced = [
            SEQUENCE_ID in form.format.comparing.orders for form in (self.left, self.right)
        ]
        return self.mode == "events" and (all(sequenced) or not sequenced[1])


def judgeable(pair: Pair, verdict: str) -> Pair | None:
    """Return a pair of the same stream in place of one that can't be judged, or None.

    A setting may refuse a stream, or lose something of it: then the feed is equal to itself only.
    """
    if verdict == "refused" and pair.mode == "final":
        return replace(pair, mode="events")
    if verdict == "lossy" and pair.left != pair.right:
        return replace(pair, left=pair.right)
    if verdict == "not carried":
        left, right = (_fullest(each) for each in (pair.left, pair.right))
        fullest = replace(pair, left=left, right=right)
        return None if fullest == pair else fullest
    return None


def _fullest(form: FeedForm) -> FeedForm:
    """Return a format with the settings that carry the most, and its connector."""
    of_source = _of_source(form.format, str(form.options.get(_CONNECTOR)))
    return FeedForm(form.format, {**fullest_options(form.format), **of_source})


def _of_source(format_: Format, connector: str) -> dict[str, OptionValue]:
    """Return the options that name the source database of a feed, where a format has them."""
    if all(option.name != _CONNECTOR for option in format_.options):
        return {}
    if CONNECTORS[connector].is_written:
        return {_CONNECTOR: connector}
    # A producer of its own is a dialect, and its encoder has no transform.
    return {_CONNECTOR: connector, _DIALECT: connector, "transforms": "none"}


@st.composite
def pairs(draw: st.DrawFn, left: str, right: str) -> Pair:
    """Give pairs of two formats whose streams have what both formats carry exactly.

    Both feeds come from one database, and have rows of snapshots as inserts, or both have not. If
    producers have connectors, positions are those of one, which is drawn.
    """
    connector = draw(st.sampled_from(tuple(CONNECTORS)))
    forms = [_form(draw, get_format(name), connector) for name in (left, right)]
    # A transaction of TiDB leaves one change of a row: at one commit_ts, none is both inserted and
    # deleted. So the last rows of a feed do not depend on the order of its changes there.
    is_of_tidb = any(_is_of_tidb(form) for form in forms)
    stream = draw(
        change_streams(
            domain=_domain(*forms),
            with_key_changes=draw(st.booleans()),
            with_repeated_changes=not is_of_tidb,
        )
    )
    mode: Mode = draw(st.sampled_from(_MODES))
    events = [_of_sources(event, forms) for event in without_ended_tables(stream.events)]
    stream = replace(stream, events=tuple(_carried(events, forms)))
    if draw(st.booleans()):
        later = draw(late_columns(stream))
        is_carried = all(form.carries(later.tables, later.events) for form in forms)
        stream = later if is_carried else stream
    has_text_keys = any(form.options.get(_KEYS) == "string" for form in forms)
    is_defined = draw(st.booleans()) or has_text_keys  # else no message says which columns are keys
    return Pair(forms[0], forms[1], stream.tables, stream.events, is_defined, mode)


def without_ended_tables(events: Sequence[Event]) -> Iterator[Event]:
    """Yield events without each DROP and RENAME that a row change of a table follows.

    A table that is gone has no rows until it is created again, in another version of its schema.
    """
    for number, event in enumerate(events):
        if (
            isinstance(event, SchemaChange)
            and (event.what in ("erase", "rename") or event.code == DROP_SCHEMA)
            and any(is_of(each, event.table) for each in events[number + 1 :])
        ):
            continue
        yield event


def _carried(events: Iterable[Event], forms: Iterable[FeedForm]) -> Iterator[Event]:
    """Yield events without the schema changes that a producer of one of both feeds has not."""
    queues = [form for form in forms if not form.is_stored]
    for event in events:
        if not isinstance(event, SchemaChange) or all(form.carries((), [event]) for form in queues):
            yield event


def _of_sources(event: Event, forms: Iterable[FeedForm]) -> Event:
    """Return an event as the source databases of both feeds can have it."""
    for form in forms:
        event = get_generators(form.format.name).feed.source_event(event, form.options)
    return event


def _is_of_tidb(form: FeedForm) -> bool:
    source = CONNECTORS.get(str(form.options.get(_CONNECTOR)))
    if source is not None:
        return not source.is_written
    return form.format.comparing.orders[:1] == (COMMIT_TS,)


def _form(draw: st.DrawFn, format_: Format, connector: str) -> FeedForm:
    of_source = _of_source(format_, connector)
    if draw(st.booleans()):
        return FeedForm(format_, {**fullest_options(format_), **of_source})
    settings = draw(option_settings(format_, with_lossy=True))
    kept = {
        name: value
        for name, value in settings.items()
        if name not in _SAME_IN_BOTH and value not in _NOT_DRAWN.get(name, ())
    }
    return FeedForm(format_, {**kept, **of_source})


def _domain(*forms: FeedForm) -> Domain:
    formats = [form.format for form in forms]
    fields = [*(shared_fields(*formats) or ("commit_ts",))]
    options = [form.options for form in forms]
    domain = domain_of(*formats, is_plausible=True, options=options)
    return with_position_fields(domain, tuple(fields))


def other_values(draw: Draw, pair: Pair) -> OtherValues:
    """Return what draws other values of the columns of a pair."""
    return OtherValues(draw, _domain(pair.left, pair.right))


@dataclass(frozen=True, slots=True)
class OtherValues:
    """Draws a value of a column that is not its own."""

    draw: Draw
    domain: Domain

    def __call__(self, column: Column, value: Value) -> Value:
        """Return another value, or the same where a few draws give no other."""
        own = values(column.type, nullable=column.nullable is not False, domain=self.domain)
        for _ in range(_MOST_TRIES):
            found = self.draw(own)
            if repr(found) != repr(value):
                return found
        return value


def has_rows(events: Iterable[Event]) -> bool:
    """Return whether a stream has a row change."""
    return any(isinstance(event, RowChange) for event in events)


def chance_of(seed: int) -> Random:
    """Return the source of choices for a drawn number."""
    return Random(seed)
