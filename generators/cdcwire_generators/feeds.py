"""The parts of a format's feeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cdcwire.core.options import OptionValue
from cdcwire.model.events import Event, MarkerKind, ProgressKind


def _same_feed(feed: FeedTraits, options: Mapping[str, OptionValue]) -> FeedTraits:
    return feed


def _same_event(event: Event, options: Mapping[str, OptionValue]) -> Event:
    return event


@dataclass(frozen=True, slots=True)
class FeedTraits:
    """The events that one format's producer sends, and the facts that its encoder needs.

    ``domain`` draws streams by it, ``round_trip`` predicts by it. It does not repeat what
    ``Format.carries`` says.

    ``family``: the source database.
    ``progress``: what progress events say under the default options; None: there are none.
    ``markers``: the kinds of markers.
    ``has_marker_ids``: each marker has the id of a transaction.
    ``position_fields``: what the position of a row must have in addition to commit_ts.
    ``source_event``: makes an event that of the source database which these options name.
    ``has_path_names``: names of schemas and tables are directories.
    ``has_field_names``: names are those that Avro keeps.
    ``needs_key``: each table has a key. ``needs_primary_key``: which is a primary key.
    ``has_one_table``: each topic has one table.
    ``has_reads``: rows of a snapshot are sent as read.
    ``has_statements``: a schema change has its statement.
    ``needs_queries``: the statement of a schema change is not empty.
    ``is_plausible``: values are only those that a producer writes.
    ``takes_tables``: the encoder completes columns from definitions of tables, where it has them.
    ``shared_clauses``: pages, in addition to the format's own, whose clauses errors name.
    ``of_source``: makes these traits those of the source database which options name.
    """

    family: str = "mysql"
    progress: ProgressKind | None = None
    markers: tuple[MarkerKind, ...] = ()
    has_marker_ids: bool = True
    position_fields: tuple[str, ...] = ()
    source_event: Callable[[Event, Mapping[str, OptionValue]], Event] = _same_event
    has_path_names: bool = False
    has_field_names: bool = False
    needs_key: bool = False
    needs_primary_key: bool = False
    has_one_table: bool = False
    has_reads: bool = False
    has_statements: bool = True
    needs_queries: bool = False
    is_plausible: bool = False
    takes_tables: bool = False
    shared_clauses: tuple[str, ...] = ()
    of_source: Callable[[FeedTraits, Mapping[str, OptionValue]], FeedTraits] = _same_feed
