"""Events as the messages of a format, and back.

The events that come back when a format encodes and decodes them, as its verdicts promise it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model.events import Event, Marker, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire_generators.comparing import gathered
from cdcwire_generators.formats import get_generators
from cdcwire_generators.round_trip import Options
from cdcwire_generators.storage import is_stored

NO_VERSION = 0  # rows in a path of this version, where no schema change came before them


def definitions_of(events: Iterable[Event]) -> tuple[Table, ...]:
    """Return a definition of each table in a stream, with the columns of its first row.

    A table that only schema changes name has their columns, or none.
    """
    found: dict[tuple[str | None, str | None], Table] = {}
    of_changes: dict[tuple[str | None, str | None], Table] = {}
    for event in events:
        table = None if isinstance(event, (Progress, Marker)) else event.table
        if table is None:
            continue
        known = Table(table.name, table.schema, key=table.key)
        if isinstance(event, RowChange):
            image = event.after or event.before
            if image is not None and image.columns:
                known = replace(known, columns=image.columns)
                found.setdefault((table.schema, table.name), known)
        elif table.name:
            known = replace(known, columns=table.columns or ())
            of_changes.setdefault((table.schema, table.name), known)
    return tuple({**of_changes, **found}.values())


def topics_of(events: Iterable[Event], through: Format) -> list[list[Event]]:
    """Return events as the topics of a format have them: of one table each, or all in one."""
    if not get_generators(through.name).feed.has_one_table:
        return [list(events)]
    topics: dict[tuple[str | None, str | None], list[Event]] = {}
    for event in events:
        table = None if isinstance(event, (Progress, Marker)) else event.table
        if table is not None:
            topics.setdefault((table.schema, table.name), []).append(event)
    return list(topics.values())


# The definition of a topic about whose table nothing is known.
_SOME_TABLE = Table(None, None, columns=(Column("c", IntType(64)),), key=())


def _topic_tables(
    events: Iterable[Event], through: Format, tables: tuple[Table, ...]
) -> tuple[Table, ...]:
    """Return the definitions that a queue needs, each column once: of those that a row has."""
    feed = get_generators(through.name).feed
    if not through.needs_tables:
        return tables if feed.takes_tables else ()
    found = [
        replace(table, columns=_once(table.columns or (), may_lack_name=not feed.has_one_table))
        for table in tables or definitions_of(events)
    ]
    return tuple(table for table in found if table.columns) or (_SOME_TABLE,)


def _once(columns: tuple[Column, ...], *, may_lack_name: bool) -> tuple[Column, ...]:
    """Return each column once. A field of a topic has a name; a column of a definition may not."""
    found = {column.name: column for column in reversed(columns) if column.name or may_lack_name}
    return tuple(found.values())[::-1]


def encoded(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    *,
    tables: tuple[Table, ...] = (),
) -> list[Message]:
    """Return the messages that a format makes of events, with files of claim checks and schemas.

    ``tables``: definitions, where files or topics need them, by default ``definitions_of(events)``.
    """
    events = list(events)
    known = definitions_for(events, through, options, tables)
    return list(through.from_events(events, context=Context(options or {}, known)))


def definitions_for(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    tables: tuple[Table, ...] = (),
) -> tuple[Table, ...]:
    """Return the definitions that encoding takes: of files, of a topic, or none."""
    events = list(events)
    if is_stored(through, options):
        known = tables or definitions_of(events)
        return tuple(replace(table, version=NO_VERSION) for table in known)
    return _topic_tables(events, through, tables)


def decoded(
    messages: Iterable[Message],
    through: Format,
    options: Options | None = None,
    *,
    selection: Selection = EVERYTHING,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events of messages. Claim-check files come before the messages that need them.

    ``tables``: definitions for rows before any schema change, and for what schema files leave out.
    """
    messages = list(messages)
    context = Context(options or {}, tables, selection=selection)
    if is_stored(through, options):
        known = tuple(replace(table, version=NO_VERSION) for table in tables)
        context = through.prepared(messages, replace(context, tables=(*known, *tables)))
        return [event for file in messages for event in through.to_events(file, context=context)]
    context = through.prepared(messages, context)
    return [event for message in messages for event in through.to_events(message, context=context)]


def round_trip(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    *,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events that come back when a format encodes and decodes them.

    Those of files come in the order of ``gathered``.
    """
    events = list(events)
    if not is_stored(through, options):
        messages = encoded(events, through, options, tables=tables)
        known = _topic_tables(events, through, tables) if through.needs_tables else ()
        return decoded(messages, through, options, tables=known)
    tables = tables or definitions_of(events)
    messages = encoded(events, through, options, tables=tables)
    return gathered(decoded(messages, through, options, tables=tables))


def expected_event(event: Event, through: Format, options: Options | None = None) -> Event:
    """Return what an event is after ``through`` encoded and decoded it, under these options.

    Raises: NotCarriedError when the verdicts say that encoding raises.
    """
    (found,) = expected_events([event], through, options)
    return found


def expected_events(
    events: Iterable[Event], through: Format, options: Options | None = None
) -> list[Event]:
    """Return what a stream is then, in its own order.

    An update may have become two records, or a delete and an insert. An event without a message is
    left out.

    Raises: NotCarriedError when the verdicts say that encoding raises.
    """
    generators = get_generators(through.name)
    there_and_back = generators.round_trip(through, options or {}, generators.feed)
    return [found for event in events for found in there_and_back.events(event)]


def expected_feed(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    *,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events that are to come back. Raises: NotCarriedError where encoding raises."""
    events = list(events)
    if not is_stored(through, options):
        return expected_events(events, through, options)
    known = {(t.schema, t.name): t.columns for t in tables or definitions_of(events)}
    return gathered(
        expected_events([_with_columns(event, known) for event in events], through, options)
    )


def _with_columns(
    event: Event, known: dict[tuple[str | None, str | None], tuple[Column, ...] | None]
) -> Event:
    """Return a schema change with the columns of its table."""
    if not isinstance(event, SchemaChange) or event.table is None or event.table.name is None:
        return event
    columns = event.table.columns or known.get((event.table.schema, event.table.name))
    return replace(event, table=replace(event.table, columns=columns))
