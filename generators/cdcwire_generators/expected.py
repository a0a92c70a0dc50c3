"""The events that come back when a format encodes and decodes them, as its verdicts promise it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cdcwire.format import Format
from cdcwire.model.events import Event, SchemaChange, Table
from cdcwire.model.kinds import Column
from cdcwire_generators.comparing import gathered
from cdcwire_generators.formats import get_generators
from cdcwire_generators.messages import definitions_of
from cdcwire_generators.round_trip import Options
from cdcwire_generators.storage import is_stored


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
