"""The verdict on a pair: whether the comparison of its feeds is right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.files.stores import StoreError
from cdcwire.model.events import Event, Marker, RowChange, SchemaChange
from cdcwire.model.steps import join_halves, split_key_changes
from cdcwire.storage.paths import METADATA_NAME
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.merging import TYPES_DIFFER
from cdcwire_conformance.compare.result import Comparison, RowDifference
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions
from cdcwire_evidence.planting.last_rows import (
    by_position,
    differing_tables,
    table_text,
    without_repeats,
)
from cdcwire_evidence.planting.pairs import FeedForm, Pair
from cdcwire_evidence.planting.plants import TYPES, Plant, marker_text
from cdcwire_generators.comparing import common_part, plainly, texts_of
from cdcwire_generators.domain import shared_fields
from cdcwire_generators.messages import decoded, encoded, round_trip

Compare: TypeAlias = "Callable[[ComparedFeed, ComparedFeed, CompareOptions], Comparison]"
Verdict: TypeAlias = Literal[
    "equal",
    "alarm",
    "found",
    "named",
    "refused",
    "missed",
    "without effect",
    "not carried",
    "lossy",
]
"""``equal``, ``alarm``: of a pair without a plant. ``named``: a line says that the part is not
compared. ``refused``: nothing was decided. ``without effect``: the bytes are the same. ``not
carried``: a format can't encode the stream. ``lossy``: an alarm about a pair whose feeds differ
by what the plain decoders read, because the settings of a producer lose something."""

_REFUSALS = {
    "without a key": "last rows of a table without a key",
    "can't be applied": "last rows after a statement that can't be applied",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a pair. ``said``: what the comparison said, or why it said nothing.

    ``reason``: why a pair without a plant was not judged, without names and values.
    """

    verdict: Verdict
    said: str = ""
    reason: str = ""

    @property
    def is_finding(self) -> bool:
        """Return whether the comparison is wrong."""
        return self.verdict in ("alarm", "missed")


def judged(pair: Pair, plant: Plant | None = None, compare: Compare = compare_feeds) -> Judged:
    """Return the verdict on a pair, whose right feed has the plant if there is one."""
    folder = Path(mkdtemp(prefix="planting-"))
    try:
        pair.left.write(folder / "left", pair.tables, pair.events)
        pair.right.write(folder / "right", pair.tables, pair.events)
        if plant is None:
            return _of_equal(pair, folder, compare)
        pair.right.write(folder / "planted", pair.tables, plant.events)
        if plant.keys is not None:
            pair.right.damage_keys(folder / "planted", plant, pair.tables)
        if _contents(folder / "right") == _contents(folder / "planted"):
            return Judged("without effect")
        return _of_plant(pair, plant, folder, compare)
    except EncodeError as error:
        return Judged("not carried", str(error), error.clause)
    except (StoreError, OSError) as error:
        return Judged("not carried", str(error), "a name is too long for a file")
    finally:
        rmtree(folder)


def _of_equal(pair: Pair, folder: Path, compare: Compare) -> Judged:
    try:
        found = _compared(pair, folder, "right", pair.events, compare)
    except ValueError as error:
        if pair.mode == "final":  # without a key, or after a statement that can't be applied
            return Judged("refused", str(error), _reason_of_refusal(str(error)))
        return _alarm(pair, str(error))
    if found.is_equal:
        return Judged("equal")
    return _alarm(pair, _said(found))


def _reason_of_refusal(text: str) -> str:
    known = (reason for part, reason in _REFUSALS.items() if part in text)
    return next(known, text.partition(":")[0])


def _alarm(pair: Pair, said: str) -> Judged:
    """Return an alarm, or that the plain decoders of the formats do not give the same changes.

    A feed that its own decoder refuses was never a pair of equal feeds, so nothing excuses it.
    """
    try:
        ours, theirs = map(Counter, _shared_texts(pair))
    except DecodeError:
        return Judged("alarm", said)
    if ours == theirs:
        return Judged("alarm", said)
    names = f"{pair.left.format.name} and {pair.right.format.name}"
    return Judged("lossy", said, f"{names}: {_lost_part([*(ours - theirs)], [*(theirs - ours)])}")


def _lost_part(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Return the members in which the first two changes differ, and the types of their values."""
    if not ours or not theirs:
        return "number of changes"
    one, other = json.loads(ours[0]), json.loads(theirs[0])
    parts = []
    for name in sorted({*one, *other}):
        own, their = one.get(name), other.get(name)
        if own == their:
            continue
        if name in ("before", "after") and own and their:
            columns = (
                own.get(c) or their.get(c) for c in {*own, *their} if own.get(c) != their.get(c)
            )
            kinds = sorted({"NULL" if c is None else c["type"].partition("(")[0] for c in columns})
            name = f"{name} ({', '.join(kinds)})"
        parts.append(name)
    return ", ".join(parts)


def _shared_texts(pair: Pair) -> list[list[str]]:
    """Return the changes that the plain decoder of each feed gives, as far as both feeds go."""
    formats = (pair.left.format, pair.right.format)
    found = (
        common_part(list(join_halves(_read_again(pair, form, pair.events))), *formats)
        for form in (pair.left, pair.right)
    )
    rows = [[each for each in feed if isinstance(each, RowChange)] for feed in found]
    fields = [
        name
        for name in shared_fields(*formats)
        if all(any(getattr(row.position, name) is not None for row in feed) for feed in rows)
    ]
    has_upserts = any(row.op == "upsert" for feed in rows for row in feed)
    updates = [[row for row in feed if row.op == "update"] for feed in rows]
    has_before = all(not feed or any(row.before is not None for row in feed) for feed in updates)
    return [
        texts_of(plainly(_shared_parts(feed, has_before, has_upserts), fields)) for feed in rows
    ]


def _shared_parts(rows: Iterable[Event], has_before: bool, has_upserts: bool) -> Iterator[Event]:
    """Yield changes without what a feed lacks: rows before updates, and which rows are new."""
    for row in split_key_changes(rows):
        assert isinstance(row, RowChange)
        if row.op != "delete":
            op = "upsert" if has_upserts else row.op
            before = row.before if has_before and not has_upserts else None
            row = replace(row, op=op, before=before)
        yield row


def _of_plant(pair: Pair, plant: Plant, folder: Path, compare: Compare) -> Judged:
    try:
        found = _compared(pair, folder, "planted", plant.events, compare)
    except ValueError as error:
        return Judged("refused", str(error))
    accepts = set(plant.accepts)
    if pair.mode == "final" and plant.keys is None:
        tables = differing_tables(pair.events, plant.events)
        moved = differing_tables(pair.events, by_position(plant.events, plant.kind))
        if pair.right.is_stored:
            moved |= differing_tables(pair.events, without_repeats(plant.events))
        if found.is_different and moved:
            return Judged("found", _said(found))
        if not tables and (found.is_equal or not found.has_schema_differences):
            if not found.is_different:
                return Judged("equal", _said(found))
            verdict: Verdict = "alarm" if _leave_the_same(pair, plant) else "found"
            return Judged(verdict, _said(found))
        accepts = _last_rows_of(tables) | accepts & set(TYPES)
    if found.is_different:
        return Judged("found", _said(found))
    others = _tables(pair.events) - _changed_tables(pair.events, plant.events)
    named = set(parts_not_compared(found, others))
    if accepts & named or _changed_markers(pair, plant) & named:
        return Judged("named", _said(found))
    if pair.mode == "final" and plant.keys is None:
        tables = differing_tables(*_read_again_in_right(pair, plant))  # as messages name them
        if _last_rows_of(tables) & named:
            return Judged("named", _said(found))
    if pair.mode == "final" and _leave_the_same(pair, plant):
        return Judged("equal", _said(found))
    if plant.kind == "DDL" and not any(found.ddl) and not _has_statements(pair, pair.left):
        return Judged("equal", _said(found))
    return Judged("missed", _said(found))


def _last_rows_of(tables: Iterable[str]) -> set[str]:
    return {f"last rows of {name}" for name in tables}


def _has_statements(pair: Pair, form: FeedForm) -> bool:
    """Return whether a feed shows a schema change of the stream; a producer may send none."""
    if form.is_stored:
        return True  # in its schema files
    found = _read_again(pair, form, pair.events)
    return any(isinstance(event, SchemaChange) for event in found)


def _changed_markers(pair: Pair, plant: Plant) -> set[str]:
    """Return what lines call the events that the plant changed, if these are markers only.

    A delete may be written as a tombstone.
    """
    if plant.keys is not None:
        return set()
    before, after = _read_again_in_right(pair, plant)
    markers = [each for each in (*before, *after) if isinstance(each, Marker)]
    is_same = _by_table(before) == _by_table(after)
    return {marker_text(each) for each in markers} if is_same else set()


def _by_table(events: Iterable[Event]) -> dict[str, list[str]]:
    """Return events except markers, those of each table in their order."""
    found: dict[str, list[str]] = {}
    for event in events:
        if not isinstance(event, Marker):
            table = table_text(event.table) if isinstance(event, RowChange) else ""
            found.setdefault(table, []).extend(texts_of([event]))
    return found


def _leave_the_same(pair: Pair, plant: Plant) -> bool:
    """Return whether the messages of the right feed give the same last rows with the plant.

    An update of a key without its old row does not say which row is gone.
    """
    return plant.keys is None and not differing_tables(*_read_again_in_right(pair, plant))


def _read_again_in_right(pair: Pair, plant: Plant) -> list[list[Event]]:
    """Return what the plain decoder of the right feed gives, without the plant and with it."""
    return [_read_again(pair, pair.right, events) for events in (pair.events, plant.events)]


def _read_again(pair: Pair, form: FeedForm, events: Iterable[Event]) -> list[Event]:
    """Return what the plain decoder of a feed gives, with the definitions of the comparison."""
    format_, options, tables = form.format, form.options, pair.tables
    if not pair.is_defined or form.is_stored or format_.needs_tables:
        return round_trip(events, format_, options, tables=tables)
    messages = encoded(events, format_, options, tables=tables)
    return decoded(messages, format_, options, tables=tables)


def _compared(
    pair: Pair, folder: Path, right: str, events: tuple[Event, ...], compare: Compare
) -> Comparison:
    tables, is_defined = pair.tables, pair.is_defined
    return compare(
        pair.left.opened(folder / "left", tables, pair.events, is_defined=is_defined),
        pair.right.opened(folder / right, tables, events, is_defined=is_defined),
        replace(
            DEFAULT_OPTIONS,
            definitions=pair.tables if pair.is_defined else (),
            mode=pair.mode,
        ),
    )


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a feed, without the checkpoint of a prefix, which concerns no row."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != METADATA_NAME
    }


def _tables(events: Iterable[Event]) -> set[str]:
    """Return the names of the tables of some changes, as reports write them."""
    return {table_text(event.table) for event in events if isinstance(event, RowChange)}


def _changed_tables(events: Sequence[Event], planted: Sequence[Event]) -> set[str]:
    """Return the names of the tables in whose changes two streams differ."""
    if len(events) == len(planted):
        pairs = zip(events, planted, strict=True)
        return _tables(each for pair in pairs if repr(pair[0]) != repr(pair[1]) for each in pair)
    known = [Counter(map(repr, each)) for each in (events, planted)]
    odd = (known[0] - known[1]) + (known[1] - known[0])
    return _tables(event for event in (*events, *planted) if repr(event) in odd)


def parts_not_compared(found: Comparison, others: Collection[str]) -> Iterator[str]:
    """Yield the names of the parts that a result lists as not compared.

    ``others``: tables whose own lines say nothing of a plant.
    """
    for name, _ in found.left_out:
        yield from _single_parts(name)
    for table in found.tables:
        if not any(table.table == name or table.table.endswith(f".{name}") for name in others):
            yield from (part for name, _ in table.left_out for part in _single_parts(name))
            if any(TYPES_DIFFER in note for note in table.notes):
                yield from TYPES
    if any(found.ddl) and "DDL" not in found.compared:
        yield "DDL events"


def _single_parts(name: str) -> Iterator[str]:
    """Yield the parts in one name, such as the two in ``commit_ts and commit_ms of deletes``."""
    for rows in (" of deletes", " of rows of snapshots"):
        if name.endswith(rows):
            yield from (f"{each}{rows}" for each in name.removesuffix(rows).split(" and "))
            return
    yield from name.split(", ")


def _row_said(row: RowDifference) -> str:
    columns = [f"{each.image}.{each.column}: {each.left}, {each.right}" for each in row.columns]
    return f"{row.verdict} {row.op} ({'; '.join(columns[:3])})"


def _said(found: Comparison) -> str:
    lines = [*found.differences]
    for table in found.tables:
        lines += [f"{table.table}: {line}" for line in table.schema_differences]
        lines += [f"{table.table}: {_row_said(each)}" for each in table.differences[:3]]
    lines += [f"not compared: {name} ({reason})" for name, reason in found.left_out]
    return "; ".join(lines)
