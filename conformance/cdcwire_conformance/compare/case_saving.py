"""The differing rows of two feeds in directories as golden cases in a directory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from cdcwire.arrow.batches import RowProblem
from cdcwire.compressions import with_compressions
from cdcwire.core.context import EVERYTHING
from cdcwire.core.message import Message, StoredFile
from cdcwire.files.local_files import whole_folder
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.cases import (
    CaseMaker,
    NotSavedError,
    RowMessage,
    SideCase,
    pieces_of,
    row_of_record,
    with_readings,
)
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feeds import ComparedFeeds
from cdcwire_conformance.compare.result import (
    Comparison,
    RowDifference,
    RowPlace,
    SideName,
)
from cdcwire_conformance.compare.value_masks import RowMask
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.decode.reading import message_of_line
from cdcwire_conformance.property.cases import save_cases

_SIDES: tuple[SideName, ...] = ("left", "right")


@dataclass(frozen=True, slots=True)
class SavedCases:
    """The cases of differing rows. ``lines``: what users have to know of them, a line each."""

    files: tuple[Path, ...]
    lines: tuple[str, ...]


def save_differences(
    found: Comparison,
    feeds: ComparedFeeds,
    root: Path,
    *,
    key: bytes | None = None,
    columns: frozenset[str] | None = None,
) -> SavedCases:
    """Save the messages of the shown differences as cases of both sides.

    ``key``: masks the values of the cases. ``columns``: only these are masked; None: all.
    Raises: CorpusError, OSError.
    """
    since = corpus_version()
    cases: list[Case] = []
    lines: list[str] = []
    for table in found.tables:
        name = feeds.names.get(table.table)
        if name is None:  # it has no rows on a side, or has them under another name
            if table.differences:
                lines.append(f"{table.table}: no row is saved: a feed has renamed the table")
            continue
        for difference in table.differences:
            mask = None if key is None else _mask(key, table.table, difference, columns)
            sides: dict[SideName, SideCase] = {}
            for side, place in _places(difference):
                try:
                    feed = feeds.of(side)
                    row = _row_message(feed, place, feed.own_name(name))
                    maker = CaseMaker(since, _named(mask, feed, name))
                    sides[side] = maker.side_case(row, side)
                except NotSavedError as error:
                    lines.append(f"{table.table}: the {side} row at {place} is not saved: {error}")
                    continue
                if sides[side].rows > 1:
                    lines.append(
                        f"{sides[side].case.id}: the whole message with {sides[side].rows} rows, "
                        f"as {row.format.name} can't be cut without encoding it again"
                    )
            own = {side: _names(feeds.of(side), name) for side in sides}
            cases += with_readings(difference, sides, own)
    files: list[Path] = []
    if cases:
        with whole_folder(root) as folder:
            files = [root / each.relative_to(folder) for each in save_cases(cases, folder)]
    return SavedCases(tuple(files), tuple(dict.fromkeys(lines)))


def _places(difference: RowDifference) -> Iterator[tuple[SideName, RowPlace]]:
    for side in _SIDES:
        place = difference.left_place if side == "left" else difference.right_place
        if place is not None:
            yield side, place


def _mask(
    key: bytes, table: str, difference: RowDifference, columns: frozenset[str] | None
) -> RowMask:
    row = json.dumps([table, *(shown.text for _, shown in difference.key)])
    if columns is not None:
        columns = frozenset(name.removeprefix(f"{table}.") for name in columns)
    return RowMask(key, row, columns)


def _named(mask: RowMask | None, feed: OpenedFeed, table: TableName) -> RowMask | None:
    """Return a mask that knows a side's own names of columns."""
    if mask is None:
        return None
    return replace(mask, names={own: name for name, own in _names(feed, table).items()})


def _names(feed: OpenedFeed, table: TableName) -> Mapping[str, str]:
    """Return a side's own names of columns by the common ones, where they differ."""
    alias = feed.aliases.get(table)
    return {} if alias is None else alias.columns


def _row_message(feed: OpenedFeed, place: RowPlace, table: TableName) -> RowMessage:
    """Return the message of a row, and the row in it. Raises: NotSavedError."""
    opened = feed.opened
    context = with_compressions(replace(feed.decoded_by, selection=EVERYTHING))
    prefix = opened.prefix
    if place.file is None:
        raise NotSavedError("its message is not known")
    if prefix is None:
        message = _line(feed, place)
        number, row = None, place.row or 0
    else:
        path = place.file.removeprefix(f"{prefix.folder.rstrip('/')}/")
        with opened.open_file(place.file) as file:
            message = StoredFile(path, file.read())
        number = place.offset or 0
        row = row_of_record(
            opened.source.format,
            opened.source.format.to_events(message, context=context),
            number,
        )
    found = RowMessage(opened.source.format, context, message, table, row)
    stored = opened.source.format.stored
    if not isinstance(message, StoredFile) or stored is None:
        return found
    return replace(found, pieces=pieces_of(message, stored.settings(context), number))


def _line(feed: OpenedFeed, place: RowPlace) -> Message:
    """Return the message of a line. Raises: NotSavedError."""
    assert place.file is not None
    if place.line is None:
        raise NotSavedError("its line is not known")
    with feed.opened.open_file(place.file) as lines:
        line = next(islice(lines, place.line - 1, None), b"")
    message = message_of_line(line)
    if isinstance(message, RowProblem):
        raise NotSavedError("its line can't be read again")
    return message
