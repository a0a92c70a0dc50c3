"""The table in which two feeds' tables meet, and what that leaves out by the user's wish."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from cdcwire.arrow.schema import CanonicalTable, Merged, merge_tables, name_text
from cdcwire.arrow.types import SchemaError
from cdcwire.model.events import TableName
from cdcwire.model.kinds import JsonType
from cdcwire_conformance.compare.meaning import is_named
from cdcwire_conformance.compare.rules import CompareOptions

_KEY_ROLES = frozenset({"primary", "handle", "unique"})
JSON_RULE = "order of members, white space, 1.0 = 1"
TYPES_DIFFER = "column types differ"


@dataclass(frozen=True, slots=True)
class MergedTable:
    """A table of both feeds. ``unwanted``: what the options leave out of it, a part each."""

    merged: Merged
    unwanted: tuple[str, ...] = ()

    @property
    def table(self) -> CanonicalTable:
        """The table in which both sides meet."""
        return self.merged.table


def merged_table(
    ours: CanonicalTable, theirs: CanonicalTable, options: CompareOptions
) -> MergedTable:
    """Return the table in which two meet, of the columns that are wanted. Raises: SchemaError.

    The columns of keys are always wanted: rows pair by them, and updates are split by them.
    """
    notes: list[str] = []
    unwanted: list[str] = []
    meaning = options.meaning
    names = dict.fromkeys((*ours.column_names, *theirs.column_names))
    ignored = [name for name in names if is_named(name, ours, meaning.ignored)]
    if ignored:
        key = {*(ours.key or ()), *(theirs.key or ())} & set(ignored)
        if key:
            raise SchemaError(
                f"--ignore-column: rows of {ours} pair by {', '.join(sorted(key))}; "
                "a column of the key can't be ignored"
            )
        unwanted.append(f"{', '.join(ignored)} of {ours} (--ignore-column)")
    texts = [n for n in names if n not in ignored and is_named(n, ours, meaning.as_text)]
    if texts:
        unwanted.append(f"the types of {', '.join(texts)} of {ours} (--as-text)")
    ours, theirs = meaning.applied(ours), meaning.applied(theirs)
    if options.columns is not None:
        every = len({*ours.column_names, *theirs.column_names})
        ours, theirs = _chosen(ours, theirs, options.columns)
        added = [name for name in ours.column_names if name not in options.columns]
        if added:
            notes.append(f"key columns are compared too: {', '.join(added)}")
        left = every - len({*ours.column_names, *theirs.column_names})
        if left:
            unwanted.append(f"{left} of {every} columns of {ours} (--columns)")
    merged = merge_tables(ours, theirs, time_zone=options.time_zone)
    if merged.left_out and options.common:
        unwanted.append(f"{', '.join(name for name, _ in merged.left_out)} of {ours} (--common)")
    cut = meaning.units(merged.table)
    unwanted += [f"{name} of {ours} below {unit} (--precision)" for name, unit in cut.items()]
    for side in ("left", "right"):
        unwanted += [
            f"the {each.name} text of {name} of {ours} (--{side}-binary)"
            for name, each in meaning.encodings(merged.table, side).items()
        ]
    unscaled = meaning.without_scale(merged.table)
    if unscaled:
        unwanted.append(f"zeros at the end of {', '.join(unscaled)} of {ours} (--ignore-scale)")
    differences = merged.differences
    if merged.met and options.strict_types:
        differences = (*differences, *(f"column {each} (--strict-types)" for each in merged.met))
    elif merged.met:
        notes.append(f"{TYPES_DIFFER}, compared: {'; '.join(merged.met)}")
    documents = [c.name for c in merged.table.columns if isinstance(c.type, JsonType)]
    if documents:
        notes.append(f"JSON compared by its content: {', '.join(documents)} ({JSON_RULE})")
    merged = replace(merged, differences=differences, notes=(*merged.notes, *notes))
    return MergedTable(merged, tuple(unwanted))


def _chosen(
    ours: CanonicalTable, theirs: CanonicalTable, columns: frozenset[str]
) -> tuple[CanonicalTable, CanonicalTable]:
    wanted = set(columns)
    for table in (ours, theirs):
        wanted |= {c.name for c in table.columns if c.roles & _KEY_ROLES}
        wanted |= set(table.key or ())
    for table in (ours, theirs):
        if not wanted & set(table.column_names):
            raise SchemaError(f"table {table} has none of the columns that are wanted")
    left, right = (table.with_columns(wanted & set(table.column_names)) for table in (ours, theirs))
    return left, right


def unwanted_tables(
    options: CompareOptions, known: Collection[TableName], reads: int = 0
) -> list[str]:
    """Return which tables and rows the options leave out.

    ``known``: tables that a feed has rows of. ``reads``: how many rows of snapshots are left out.
    """
    parts = []
    if options.include is not None:
        parts.append("tables other than " + ", ".join(sorted({*map(name_text, options.include)})))
        parts[-1] += " (--include)"
    excluded = options.meaning.excluded & set(known)
    if excluded:
        parts.append(f"{', '.join(sorted(map(name_text, excluded)))} (--exclude)")
    if reads:
        rows = "1 row of a snapshot" if reads == 1 else f"{reads:,} rows of snapshots"
        parts.append(f"{rows} (--without-snapshots)")
    return parts
