"""The last rows of a table after each ALTER TABLE of a feed.

A new column gets its value in the rows that do not have it, and a column that is dropped is not
compared. A column that is renamed has its new name in all rows. Where a statement may have changed
values, and these are not known, the last rows of the table are not known either. A statement that
both feeds have changes the rows of both.

A feed without any statement may lack the one that the other feed has, so its rows are read alike.
If they are equal as they are, what a statement made of them does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from cdcwire.arrow.building import ConversionError
from cdcwire.arrow.common_type import NoCommonType, common_type
from cdcwire.arrow.images import filled
from cdcwire.arrow.schema import CanonicalTable, Fill, image_type
from cdcwire.arrow.types import SchemaError, Temporal
from cdcwire_conformance.compare.last_state import Reshaping
from cdcwire_conformance.compare.result import SideName
from cdcwire_conformance.compare.statements import ColumnChange, keeps_values


@dataclass(frozen=True, slots=True)
class ReshapedSide:
    """A table of one side. ``has_statements``: the feed has some, so that it would have these."""

    name: SideName
    table: CanonicalTable
    reshapings: Sequence[Reshaping] = ()
    has_statements: bool = True
    fills: tuple[Fill, ...] = ()


@dataclass(frozen=True, slots=True)
class ReshapedTables:
    """A table of both sides after the statements that change its columns.

    ``unknown``: why its last rows are not known. ``doubt``: why they are not, if they differ.
    """

    sides: tuple[ReshapedSide, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    unknown: str | None = None
    doubt: str | None = None

    @property
    def tables(self) -> tuple[CanonicalTable, ...]:
        """The table of each side."""
        return tuple(side.table for side in self.sides)


NOT_RESHAPED = ReshapedTables()


def reshaped_tables(left: ReshapedSide, right: ReshapedSide) -> ReshapedTables:
    """Return a table after the statements of both feeds. Only one of them may be a feed."""
    found = _Reshaped([left, right])
    for number in (0, 1):
        found.apply(number)
    left_out, notes = tuple(found.left_out), tuple(found.notes)
    return ReshapedTables(tuple(found.sides), left_out, notes, found.unknown, found.doubt)


def unfillable(table: CanonicalTable, side: ReshapedSide, temporal: Temporal) -> str | None:
    """Return why the value of a column can't be compared. ``table``: in which both sides meet."""
    for fill in side.fills:
        if fill.source is None and fill.column in table.column_names:
            number = table.column_names.index(fill.column)
            target = image_type(table, temporal).field(number).type
            try:
                filled(fill, table.columns[number], target)
            except (SchemaError, ConversionError) as error:
                return f"{side.name}: the value of new column {fill.column}: {error}"
    return None


@dataclass(slots=True)
class _Reshaped:
    sides: list[ReshapedSide]
    left_out: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown: str | None = None
    doubt: str | None = None

    def apply(self, number: int) -> None:
        """Apply the statements of a side."""
        own, other = self.sides[number], self.sides[1 - number]
        often = _often_changed(own.reshapings)
        left: list[str] = []
        for reshaping, is_shared in _with_shared(own.reshapings, other.reshapings):
            applied: set[bool] = set()
            for change in reshaping.columns or (ColumnChange("modifies", None),):
                is_often = bool(_names(change) & often)
                if change.kind == "renames" and not is_often:
                    applied.add(self._rename(number, reshaping, change, is_shared=is_shared))
                    continue
                why = change.why or ("it is changed again" if is_often else "")
                if why or change.kind in ("renames", "modifies"):
                    self._check(number, reshaping, change, why, is_shared)
                    applied.add(False)
                elif change.kind == "adds":
                    applied.add(self._add(number, reshaping, change))
                else:
                    applied.add(self._drop(number, reshaping, change))
            if False in applied and not is_shared:
                left.append(reshaping.line)
        if left:
            more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
            part = f"what {left[0]}{more} does to rows before it"
            self.left_out.append((part, f"only the {own.name} feed has it"))

    def _check(
        self, number: int, reshaping: Reshaping, change: ColumnChange, why: str, is_shared: bool
    ) -> None:
        """Note that values are not known, if a compared column has such."""
        if is_shared or not why:
            return
        own, other = self.sides[number].table, self.sides[1 - number].table
        names = {each.casefold() for each in own.column_names}
        others = {each.casefold() for each in other.column_names}
        name = _name(change)
        if change.kind == "adds":
            is_concerned = name in others
        elif change.column is None:
            is_concerned = bool(names)
        else:
            is_concerned = name in names
        if is_concerned and change.kind == "modifies" and change.column is not None:
            column = next(each for each in own.columns if each.name.casefold() == name)
            is_concerned = not keeps_values(column.type, change.type)
        if not is_concerned:
            return
        shown = "" if change.column is None else f"column {change.column}: "
        why = f"{self.sides[number].name}: {reshaping.line} can't be applied: {shown}{why}"
        if self.sides[1 - number].has_statements:
            self.unknown = self.unknown or why
        else:
            self.doubt = self.doubt or why

    def _rename(
        self, number: int, reshaping: Reshaping, change: ColumnChange, *, is_shared: bool
    ) -> bool:
        """Give a column of a side its new name. Returns: whether the side has the column."""
        own, other = self.sides[number], self.sides[1 - number]
        old = _shown_name(_name(change), own.table)
        if old is None:
            return False
        new = _shown_name((change.to or "").casefold(), own.table, other.table) or change.to or ""
        kind = own.table.column(old).type
        why = change.why
        if not why or keeps_values(kind, change.type):
            why = _why_not_renamed(own.table, old, new, is_last=reshaping.is_last)
        if why:
            self._check(number, reshaping, replace(change, type=None), why, is_shared)
            return False
        self.sides[number] = _with_new_name(own, old, new)
        self.notes.append(f"{own.name}: {reshaping.line}: rows before it have {old} as {new}")
        if not other.has_statements and old in other.table.column_names:
            if _why_not_renamed(other.table, old, new, is_last=True):
                return True  # the tables differ
            self.sides[1 - number] = _with_new_name(other, old, new)
            part = f"the name of {old} of {own.table}"
            why = f"{reshaping.line}, and the {other.name} feed has no statements"
            self.left_out.append((part, why))
        return True

    def _add(self, number: int, reshaping: Reshaping, change: ColumnChange) -> bool:
        """Give the rows of a side a new column. Returns: whether a side has it."""
        own, other = self.sides[number], self.sides[1 - number]
        name = _shown_name(_name(change), own.table, other.table)
        if name is None or change.type is None:
            return False
        if name not in own.table.column_names:
            if not reshaping.is_last:
                return True  # its later rows lack it too, which is a difference of the tables
            columns = (*own.table.columns, other.table.column(name))
            own = replace(own, table=replace(own.table, columns=columns))
        fill = Fill(name, change.type, change.value)
        self.sides[number] = replace(own, fills=(*own.fills, fill))
        self.notes.append(f"{own.name}: {reshaping.line}: rows before it have its {name}")
        if not other.has_statements and name in other.table.column_names:
            self.sides[1 - number] = replace(other, fills=(*other.fills, fill))
            why = f"the {own.name} feed has {reshaping.line}"
            self.notes.append(f"{other.name}: rows without {name} have the same value: {why}")
        return True

    def _drop(self, number: int, reshaping: Reshaping, change: ColumnChange) -> bool:
        """Leave a column out of the rows of a side. Returns: whether a side has it."""
        own, other = self.sides[number], self.sides[1 - number]
        name = _shown_name(_name(change), own.table, other.table)
        if name is None:
            return False
        if name in {*(own.table.key or ()), *(other.table.key or ())}:
            if self.unknown is None:
                why = f"column {name} belongs to the key"
                self.unknown = f"{own.name}: {reshaping.line} can't be applied: {why}"
            return True
        if name in own.table.column_names:
            self.sides[number] = replace(own, table=_without(own.table, name))
            self.notes.append(f"{own.name}: {reshaping.line}: no row has {name}")
        if not other.has_statements and name in other.table.column_names:
            self.sides[1 - number] = replace(other, table=_without(other.table, name))
            part = f"{name} of {own.table}"
            why = f"{reshaping.line}, and the {other.name} feed has no statements"
            self.left_out.append((part, why))
        return True


def _with_shared(
    own: Sequence[Reshaping], others: Sequence[Reshaping]
) -> Iterator[tuple[Reshaping, bool]]:
    """Yield each statement, and whether the other feed has it too."""
    known = Counter(each.text for each in others)
    for each in own:
        known[each.text] -= 1
        yield each, known[each.text] >= 0


def _often_changed(reshapings: Sequence[Reshaping]) -> set[str]:
    """Return the columns that several changes are about."""
    changes = (change for each in reshapings for change in each.columns)
    names = Counter(name for change in changes for name in _names(change))
    return {name for name, count in names.items() if count > 1}


def _name(change: ColumnChange) -> str:
    return (change.column or "").casefold()


def _names(change: ColumnChange) -> set[str]:
    return {_name(change), (change.to or change.column or "").casefold()}


def _shown_name(folded: str, *tables: CanonicalTable) -> str | None:
    """Return the name of a column as a table has it; None if no table has it."""
    names = (name for table in tables for name in table.column_names)
    return next((name for name in names if name.casefold() == folded), None)


def _why_not_renamed(table: CanonicalTable, old: str, new: str, *, is_last: bool) -> str:
    """Return why rows can't have the new name of a column; empty if they can."""
    if new in (table.key or ()) and old in (table.key or ()):
        return "the key has both names"
    if new not in table.column_names:
        return "" if is_last else f"the rows after it have no {new}"
    try:
        common_type(table.column(old).type, table.column(new).type)
    except NoCommonType as error:
        return str(error)
    return ""


def _with_new_name(side: ReshapedSide, old: str, new: str) -> ReshapedSide:
    """Return a side whose rows have a column by its new name, whichever they were sent with."""
    table = side.table
    column = replace(table.column(old), name=new)
    if new in table.column_names:
        kind = common_type(column.type, table.column(new).type)
        column = replace(table.column(new), type=kind)
    columns = tuple(
        column if each.name == new else each for each in table.columns if each.name != old
    )
    if column not in columns:
        columns = (*columns, column)
    key = None if table.key is None else tuple(new if each == old else each for each in table.key)
    fill = Fill(new, table.column(old).type, None, source=old)
    table = replace(table, columns=columns, key=key)
    return replace(side, table=table, fills=(*side.fills, fill))


def _without(table: CanonicalTable, name: str) -> CanonicalTable:
    return table.with_columns(each for each in table.column_names if each != name)
