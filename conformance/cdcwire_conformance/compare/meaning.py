"""Differences between two feeds that a user expects: tables, columns and forms of values.

A column is named by its name, in all tables, or as SCHEMA.TABLE.COLUMN in one. ``--profile
debezium-2.7:debezium-3.6`` names two releases of one producer. A changed row whose differences they
explain one and all is shown with the reason, and does not make the feeds differ.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from cdcwire.arrow.schema import CanonicalTable, Rewrite, name_text, rewritten_name
from cdcwire.core.comparing import ReleaseChange, Version
from cdcwire.core.comparing import Shown as Text
from cdcwire.core.nearest import did_you_mean
from cdcwire.core.orders import Order
from cdcwire.format import Format
from cdcwire.model.events import Position, TableName
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BytesType,
    Column,
    DatetimeType,
    DecimalType,
    TextType,
    TimestampType,
    TimeType,
)
from cdcwire_conformance.compare.result import ColumnDifference, RowDifference, Shown, SideName

_RELEASE = re.compile(r"([a-z][a-z0-9-]*)-([0-9]{1,4}(?:\.[0-9]{1,4}){1,2})(?:\.Final)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The changes of values between the releases of two feeds. ``newer``: the side that has them.

    ``producer``: its name; empty if the user names no releases.
    """

    producer: str = ""
    changes: tuple[ReleaseChange, ...] = ()
    newer: SideName = "right"

    def explained(self, difference: RowDifference, order: str | None) -> RowDifference:
        """Return a difference with what explains its columns. ``order``: by which rows pair."""
        changes = [each for each in self.changes if order in each.orders]
        if not changes or difference.verdict != "changed":
            return difference
        columns = (replace(c, release=self._text_of(c, changes)) for c in difference.columns)
        return replace(difference, columns=tuple(columns))

    def reason_for_no_truncate(
        self, side: SideName, positions: Sequence[Position], orders: Iterable[Order]
    ) -> str | None:
        """Return why a side has no TRUNCATE, where the other one has some at these positions."""
        known = {each.name: each for each in orders}
        for change in self.changes:
            places = [known[name] for name in change.orders if name in known]
            if (
                change.sends_truncates
                and side != self.newer
                and all(any(each.place_or_none(at) for each in places) for at in positions)
            ):
                return change.text
        return None

    def _text_of(self, column: ColumnDifference, changes: Iterable[ReleaseChange]) -> str | None:
        sides = column.left, column.right
        is_whole = not any(each.hidden or each.length for each in sides)
        if column.image is None or column.column is None or not is_whole:
            return None
        before, after = map(_text, sides if self.newer == "right" else sides[::-1])
        found = (each.text for each in changes if each.explains(column.kind, before, after))
        return next(found, None)


NO_UPGRADE = Upgrade()


def _text(shown: Shown) -> Text:
    return UNAVAILABLE if shown.is_absent else shown.text


def upgrade_of(text: str, left: Format, right: Format) -> Upgrade:
    """Return what two releases explain, as in ``debezium-2.7:debezium-3.6``. Raises: ValueError."""
    releases = [_RELEASE.fullmatch(part) for part in text.split(":")]
    if len(releases) != 2 or None in releases:
        raise ValueError("it is not PRODUCER-VERSION:PRODUCER-VERSION: debezium-2.7:debezium-3.6")
    (name, other_name), (own, other) = zip(
        *((each[1], _version(each[2])) for each in releases if each), strict=True
    )
    known = left.comparing.releases
    if not known.keys() & right.comparing.releases.keys():
        raise ValueError(f"no release is known of {left.name} and {right.name} alike")
    if name != other_name or name not in known:
        raise ValueError(f"two releases of one producer are needed: {', '.join(sorted(known))}")
    older, newer = sorted((own, other))
    changes = tuple(each for each in known[name] if each.is_between(older, newer))
    return Upgrade(name, changes, "right" if newer == other else "left")


def _version(text: str) -> Version:
    return tuple(map(int, text.split(".")))


PRECISIONS: Mapping[str, int] = {"s": 0, "ms": 3, "us": 6}
_WITH_TIMES = (TextType, TimeType, DatetimeType, TimestampType)
_MOST_DIGITS = 38  # of a decimal of Arrow and Spark; others are texts
_FRACTION = r"(:[0-9]{2})\.[0-9]+"
_FRACTION_END = r"(:[0-9]{2}\.[0-9]*?)0+($|[^0-9])"
_BARE_POINT = r"(:[0-9]{2})\.($|[^0-9])"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A regular expression, for Java and Python, whose matches leave their first N groups.

    Each match has a point: these are fractions of seconds and of numbers.
    """

    pattern: str
    groups: int

    @property
    def kept(self) -> str:
        """The groups that are left, as Python writes them."""
        return "".join(rf"\{number}" for number in range(1, self.groups + 1))


@dataclass(frozen=True, slots=True)
class Encoding:
    """A text form of bytes. ``pattern``: of the texts that have it, for Java and Python."""

    name: Literal["hex", "base64"]
    pattern: str

    def decoded_items(self, value: str) -> str:
        """Return an array of bytes, as JSON of base64, with its items decoded."""
        items = json.loads(value)
        raw = (None if item is None else self.decoded(b64decode(item)) for item in items)
        texts = ("null" if item is None else f'"{b64encode(item).decode()}"' for item in raw)
        return f"[{','.join(texts)}]"

    def decoded(self, value: bytes) -> bytes:
        """Return the bytes of a text in this form; other bytes as they are."""
        if not re.fullmatch(self.pattern.encode(), value):
            return value
        if self.name == "hex":
            return bytes.fromhex(value.decode())
        return b64decode(value.translate(_URL_SAFE))


_URL_SAFE = bytes.maketrans(b"-_", b"+/")
ENCODINGS = {
    "hex": Encoding("hex", "(?:[0-9a-fA-F]{2})*"),
    "base64": Encoding(
        "base64",
        "(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?",
    ),
}

SCALE_REPLACEMENTS = (
    Replacement(r"^(-?[0-9]+)\.0*$", 1),
    Replacement(r"^(-?[0-9]+\.[0-9]*[1-9])0+$", 1),
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The rules that a user gives for two feeds.

    ``ignored``: columns that are not compared. ``excluded``: tables that are not compared.
    ``renamed``: names of the right feed by those of the left. ``as_text``: columns that are
    compared by the text of their values. ``precision``: digits of a second's fraction that are
    compared, by column. ``pairs_by_key``: rows pair by key and order, not by position.
    ``has_before``: before images of updates are compared. ``redacted``: columns whose values are
    never shown. ``ignores_unread``: files in the directory of a feed that are not read do not keep
    feeds from being equal. ``unscaled``: columns whose numbers are compared without zeros at their
    end. ``databases``: of the left feed by those of the right, where all of
    their tables are compared. ``binary``: the text form in which a side sends a column of bytes, by
    side and column. ``mapped``: names of columns of the right feed by those of the left.
    ``upgrade``: what the releases of the producers of both feeds explain. ``has_snapshots``: rows
    of snapshots are compared.
    """

    ignored: frozenset[str] = frozenset()
    excluded: frozenset[TableName] = frozenset()
    renamed: Mapping[TableName, TableName] = field(default_factory=dict)
    as_text: frozenset[str] = frozenset()
    precision: Mapping[str, int] = field(default_factory=dict)
    pairs_by_key: bool = False
    has_before: bool = True
    redacted: frozenset[str] = frozenset()
    ignores_unread: bool = False
    unscaled: frozenset[str] = frozenset()
    databases: Mapping[str, str] = field(default_factory=dict)
    binary: Mapping[tuple[str, str], Encoding] = field(default_factory=dict)
    mapped: Mapping[str, str] = field(default_factory=dict)
    upgrade: Upgrade = NO_UPGRADE
    has_snapshots: bool = True

    def columns(self) -> Iterator[tuple[str, str]]:
        """Yield each option that names a column, and the column."""
        for option, names in (
            ("--ignore-column", self.ignored),
            ("--as-text", self.as_text),
            ("--precision", self.precision),
            ("--redact", self.redacted),
            ("--ignore-scale", self.unscaled),
            *((f"--{side}-binary", {name}) for side, name in self.binary),
        ):
            yield from ((option, name) for name in sorted(names))

    def unknown(self, tables: Collection[CanonicalTable], when: str = "") -> list[str]:
        """Return a line for each column that is named and that no table has. ``when``: so far."""
        known = {name for table in tables for name in _names(table, table.columns)}
        times = {name for table in tables for name in _names(table, _with_times(table))}
        return [
            f"{option}: no table has a column {name}"
            f"{f' of times{when}' if name in known else when + did_you_mean(name, known)}"
            for option, name in self.columns()
            if name not in (times if option == "--precision" else known)
        ]

    def excludes(self, name: TableName, rewrite: Rewrite | None) -> bool:
        """Return whether a table of a feed is not compared. ``rewrite``: of the feed's names."""
        if name in self.excluded or rewrite is None:
            return name in self.excluded
        return name in {rewritten_name(each, rewrite) for each in self.excluded}

    def swapped(self, left: Collection[TableName], right: Collection[TableName]) -> str | None:
        """Return why two names of --map-table can't be meant; None if they all can be.

        ``left``, ``right``: the tables that each feed has rows of, by its own names.
        """
        for own, other in self.renamed.items():
            pair = f"--map-table {name_text(own)}={name_text(other)}"
            if own not in left and other not in right and own in right and other in left:
                return f"{pair}: the names are the other way round, it is LEFT=RIGHT"
            if own in left and other not in right and own in right:
                return (
                    f"{pair}: the right feed has rows of {name_text(own)} and none of "
                    f"{name_text(other)}; correct the name, or leave the option out"
                )
        return None

    def without_rows(
        self,
        left: Collection[TableName],
        right: Collection[TableName],
        include: Collection[TableName] | None,
        when: str = "",
    ) -> Iterator[str]:
        """Yield a line for each table that is named and that the feeds have no rows of.

        ``include``: the tables that were looked for; None: all. ``when``: so far.
        """
        excluded = self.excluded if include is None else self.excluded & set(include)
        for name in sorted(excluded - {*left, *right}, key=name_text):
            meant = did_you_mean(name_text(name), map(name_text, {*left, *right}))
            yield f"--exclude: no feed has rows of {name_text(name)}{when}{meant}"
        for names in sorted(self.renamed.items(), key=str):
            for side, name, feed in zip(("left", "right"), names, (left, right), strict=True):
                if name not in feed:
                    meant = did_you_mean(name_text(name), map(name_text, feed))
                    lacking = f"has no rows of {name_text(name)}{when}"
                    yield f"--map-table: the {side} feed {lacking}{meant}"

    def applied(self, table: CanonicalTable) -> CanonicalTable:
        """Return the table without ignored columns, and with text where that is compared."""
        columns = tuple(
            replace(each, type=TextType()) if is_named(each.name, table, self.as_text) else each
            for each in table.columns
            if not is_named(each.name, table, self.ignored)
        )
        return replace(table, columns=columns)

    def redacted_of(self, table: CanonicalTable) -> frozenset[str]:
        """Return the columns of a table whose values are never shown."""
        return frozenset(n for n in table.column_names if is_named(n, table, self.redacted))

    def not_redacted(self, tables: Iterable[CanonicalTable]) -> list[str]:
        """Return the columns whose values are not to be shown and that no table has."""
        tables = list(tables)
        return sorted(
            name
            for name in self.redacted
            if not any(is_named(n, each, (name,)) for each in tables for n in each.column_names)
        )

    def cuts(self, table: CanonicalTable) -> dict[str, tuple[Replacement, ...]]:
        """Return how the texts of times and numbers are cut, by column."""
        found = {name: time_cuts(kept) for name, kept in self._digits(table).items()}
        for name in self.without_scale(table):
            found[name] = (*found.get(name, ()), *SCALE_REPLACEMENTS)
        return found

    def encodings(self, table: CanonicalTable, side: str) -> dict[str, Encoding]:
        """Return the text form of bytes of a side, by column."""
        return {
            column.name: encoding
            for column in table.columns
            for (of_side, name), encoding in self.binary.items()
            if of_side == side and _has_bytes(column) and is_named(column.name, table, (name,))
        }

    def without_scale(self, table: CanonicalTable) -> list[str]:
        """Return the columns whose numbers are compared without zeros at their end.

        Decimals of one precision and scale on both sides have no such zeros to ignore.
        """
        return [
            column.name
            for column in table.columns
            if is_named(column.name, table, self.unscaled) and _is_text_of_number(column)
        ]

    def units(self, table: CanonicalTable) -> dict[str, str]:
        """Return the unit to which times are cut, by column."""
        units = {digits: unit for unit, digits in PRECISIONS.items()}
        return {name: units[kept] for name, kept in self._digits(table).items()}

    def _digits(self, table: CanonicalTable) -> dict[str, int]:
        """Return the digits of a second's fraction that are compared, by column."""
        found = {}
        for name in (column.name for column in _with_times(table)):
            kept = [n for wanted, n in self.precision.items() if is_named(name, table, (wanted,))]
            if kept:
                found[name] = min(kept)
        return found


NO_MEANING = Meaning()


def _with_times(table: CanonicalTable) -> Iterator[Column]:
    """Yield the columns that may have times."""
    return (column for column in table.columns if isinstance(column.type, _WITH_TIMES))


def _has_bytes(column: Column) -> bool:
    kind = column.type
    return isinstance(kind.item if isinstance(kind, ArrayType) else kind, BytesType)


def _is_text_of_number(column: Column) -> bool:
    kind = column.type
    if isinstance(kind, DecimalType):
        return kind.precision is None or kind.scale is None or kind.precision > _MOST_DIGITS
    return isinstance(kind, TextType)


def _names(table: CanonicalTable, columns: Iterable[Column]) -> Iterator[str]:
    """Yield the names of columns of a table, alone and with the table's."""
    for column in columns:
        yield column.name
        yield f"{table}.{column.name}"


def is_named(column: str, table: CanonicalTable, names: Collection[str]) -> bool:
    """Return whether the names have a column of a table."""
    return column in names or f"{table}.{column}" in names


def replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """Return a text with replacements made one after the other."""
    for each in replacements:
        if "." not in text:
            break
        pattern, kept = _compiled(each)
        text = pattern.sub(kept, text)
    return text


@cache
def _compiled(replacement: Replacement) -> tuple[re.Pattern[str], str]:
    return re.compile(replacement.pattern), replacement.kept


def time_cuts(digits: int) -> tuple[Replacement, ...]:
    """Return what cuts the fraction of a second in a text, and then zeros at its end."""
    kept = rf"(:[0-9]{{2}}\.[0-9]{{{digits}}})[0-9]+" if digits else _FRACTION
    return Replacement(kept, 1), Replacement(_FRACTION_END, 2), Replacement(_BARE_POINT, 2)
