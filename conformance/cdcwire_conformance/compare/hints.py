"""Options that may explain or accept the differences of a comparison, each as one line.

The values of a pattern show what would make them equal, and the feeds show which option does that.
In a table without key, a row of each side with most values in common is probably one row. Then
the causes of the other values help more than two such rows.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from shlex import quote

from cdcwire.arrow.common_type import NoCommonType
from cdcwire.arrow.schema import CanonicalTable, Merged, common_type_of
from cdcwire.model import kinds
from cdcwire.model.events import TableName
from cdcwire.model.instants import fixed_offset
from cdcwire.model.kinds import Column, TimestampType
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.meaning import Upgrade, is_named
from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.result import (
    ColumnDifference,
    Comparison,
    Pattern,
    RowDifference,
    SideName,
    TableComparison,
)
from cdcwire_conformance.compare.rules import CHANGED_ONLY, CompareOptions, ComparisonRules, Side

_UNTYPED = (
    *(kinds.IntType(64), kinds.FloatType(64), kinds.DecimalType(), kinds.TextType()),
    *(kinds.BoolType(), kinds.JsonType()),
)
_JSON_NUMBERS = (None, "int64", "double")  # sources of columns of JSON without schema
_NESTED = (kinds.StructType, kinds.ArrayType, kinds.MapType)


@dataclass(frozen=True, slots=True)
class OneSided:
    """Facts about tables that only one side has, by the names of the tables.

    ``keys``: the side that has a key. ``types``: the side that knows more of types, and the columns
    for which this matters. The values of the other side are as in JSON without schema.
    """

    keys: Mapping[str, SideName]
    types: Mapping[str, tuple[SideName, tuple[str, ...]]]


def one_sided(
    ours: Mapping[TableName, CanonicalTable],
    theirs: Mapping[TableName, CanonicalTable],
    options: CompareOptions,
) -> OneSided:
    """Return what only one side says of the tables that both have."""
    keys: dict[str, SideName] = {}
    types: dict[str, tuple[SideName, tuple[str, ...]]] = {}
    defined = {(table.schema, table.name) for table in options.definitions}
    for name in sorted(set(ours) & set(theirs), key=str):
        left, right = ours[name], theirs[name]
        if left.key is not None and right.key is not None and bool(left.key) is not bool(right.key):
            keys[str(left)] = "left" if left.key else "right"
        sides: tuple[tuple[SideName, CanonicalTable, CanonicalTable], ...]
        sides = ("left", left, right), ("right", right, left)
        for side, own, other in sides:
            columns = tuple(
                column
                for column in _typed_columns(own, other)
                if (options.columns is None or column in options.columns)
                and not is_named(column, own, options.meaning.ignored)
            )
            if columns and (own.schema, own.table) not in defined:
                types[str(left)] = side, columns
    return OneSided(keys, types)


def _typed_columns(own: CanonicalTable, other: CanonicalTable) -> Iterator[str]:
    """Yield the columns with a type whose values on the other side are those of any JSON."""
    others = {column.name: column for column in other.columns}
    for column in own.columns:
        theirs = others.get(column.name)
        if theirs is None or not _is_untyped(theirs.type):
            continue
        if _is_untyped(column.type) and not _is_only_a_number(column.type, theirs):
            continue
        try:
            common_type_of(column, theirs)
        except NoCommonType:
            yield column.name


def _is_untyped(kind: kinds.Type) -> bool:
    return kind in _UNTYPED or isinstance(kind, _NESTED)


def _is_only_a_number(own: kinds.Type, theirs: Column) -> bool:
    """Return whether a float meets numbers of JSON, whole ones and others. A decimal has a type."""
    is_number = theirs.type == kinds.DecimalType() and theirs.source in _JSON_NUMBERS
    return isinstance(own, kinds.FloatType) and is_number


def hints_of(
    found: Comparison,
    rules: ComparisonRules,
    left: OpenedFeed,
    right: OpenedFeed,
    one_sided: OneSided,
) -> tuple[str, ...]:
    """Return the hints, each once. They rest on the differences that are shown."""
    hints = [
        *_checkpoint_hints(found, rules, left, right),
        *_key_hints(one_sided.keys),
        *_type_hints(one_sided.types, left, right),
        *_producer_hints(found, left, right),
        *tombstone_hint("left", left),
        *tombstone_hint("right", right),
        *_snapshot_hint(found, left, right),
        *_release_hints(found, rules, left, right),
        *(
            hint
            for table in found.tables
            if table.table not in one_sided.keys
            for hint in (*_table_hints(table, rules), *alike_hints(table))
        ),
    ]
    return tuple(dict.fromkeys(hints))


def _release_hints(
    found: Comparison, rules: ComparisonRules, left: OpenedFeed, right: OpenedFeed
) -> Iterator[str]:
    """Yield what a release of the producer may have changed in the rows that are shown."""
    known, others = (each.side.format.comparing.releases for each in (left, right))
    rows = [row for table in found.tables for row in table.differences if not row.is_of_release]
    upgrades = [
        Upgrade(name, changes, newer)
        for name, changes in known.items()
        if name in others
        for newer in typing.get_args(SideName)
    ]
    for upgrade in upgrades:
        explained = [upgrade.explained(row, rules.position) for row in rows]
        texts = dict.fromkeys(each.release for row in explained for each in row.columns)
        for text in filter(None, texts):
            option = f"--profile {upgrade.producer}-VERSION:{upgrade.producer}-VERSION"
            yield f"{text}: {option} accepts it, with the versions of both producers"


def column_hint(
    ours: CanonicalTable,
    theirs: CanonicalTable,
    options: CompareOptions,
    sides: tuple[Side, Side | None],
) -> Iterator[str]:
    """Yield how columns that only one side has are read or left out, except columns of a key.

    ``sides``: of the feeds; None for a table.
    """
    key = {*(ours.key or ()), *(theirs.key or ())}
    left, right = set(ours.column_names), set(theirs.column_names)
    explained: set[str] = set()
    for side, own, other, feed in (
        ("left", ours, theirs, sides[0]),
        ("right", theirs, ours, sides[1]),
    ):
        if feed is None:
            continue
        yield from _key_field_hint(side, own, feed)
        adjusted = _adjusted(own, other, feed)
        explained |= {*adjusted, *adjusted.values()}
        if adjusted and feed.format.comparing.adjusted_name is not None:
            option, value, _ = feed.format.comparing.adjusted_name
            yield (
                f"{', '.join(adjusted)} of the {side} feed: --{side}-option {option}={value} reads "
                f"adjusted names as the original ones: {', '.join(adjusted.values())}"
            )
    names = [
        name
        for name in (*ours.column_names, *theirs.column_names)
        if name in (left ^ right) - key - explained
        and not is_named(name, ours, options.meaning.ignored)
        and (options.columns is None or name in options.columns)
    ]
    if names and not options.common:
        words = " ".join(f"--ignore-column {quote(name)}" for name in names)
        yield f"columns that only one side of {ours} has are left out with {words}"
        pairs = [name for name in names if name in left], [name for name in names if name in right]
        if all(pairs) and sides[1] is not None:
            word = quote(f"{pairs[0][0]}={pairs[1][0]}") if len(names) == 2 else "LEFT=RIGHT"
            yield f"a column with two names is compared with --map-column {word}"
    defined = {(table.schema, table.name) for table in options.definitions}
    names = [
        column.name
        for column in ours.columns
        if column.name in right - key
        and not _may_meet(column, theirs, is_defined=(ours.schema, ours.table) in defined)
        and not is_named(column.name, ours, options.meaning.ignored)
        and (options.columns is None or column.name in options.columns)
    ]
    if names and not options.common:
        words = " ".join(f"--ignore-column {quote(f'{ours}.{name}')}" for name in names)
        yield f"columns of kinds that can't be compared are left out with {words}"


def _key_field_hint(side: str, table: CanonicalTable, feed: Side) -> Iterator[str]:
    """Yield the option for a field of a feed's Kafka keys that is not a column of its rows."""
    option = feed.format.comparing.key_field_option
    fields = [name for name in table.key or () if name not in table.column_names]
    if option is not None and len(fields) == 1:
        yield (
            f"the field {fields[0]} in keys of {table} is not a column; --{side}-option "
            f"{quote(f'{option}={fields[0]}')} leaves it out"
        )


def _adjusted(own: CanonicalTable, other: CanonicalTable, feed: Side) -> dict[str, str]:
    """Return names that only a feed has, if an option reads them as names of the other side."""
    if feed.format.comparing.adjusted_name is None:
        return {}
    option, value, adjusted = feed.format.comparing.adjusted_name
    if feed.values[option] == value:
        return {}
    ours, theirs = set(own.column_names), set(other.column_names)
    sent = {adjusted(name): name for name in other.column_names if name not in ours}
    return {name: sent[name] for name in own.column_names if name in sent and name not in theirs}


def _may_meet(column: Column, table: CanonicalTable, *, is_defined: bool) -> bool:
    """Return whether values of a column can be compared, or could be with a definition."""
    theirs = next(each for each in table.columns if each.name == column.name)
    if not is_defined and (_is_untyped(column.type) or _is_untyped(theirs.type)):
        return True
    try:
        common_type_of(column, theirs)
    except NoCommonType:
        return False
    return True


def _checkpoint_hints(
    found: Comparison, rules: ComparisonRules, left: OpenedFeed, right: OpenedFeed
) -> Iterator[str]:
    """Yield a window for a prefix that ends at its checkpoint, where the other feed goes on."""
    counts = [table.counts for table in found.tables if table.counts is not None]
    extra = {
        "left": sum(each.only_left for each in counts),
        "right": sum(each.only_right for each in counts),
    }
    for side, feed, other in (("left", left, "right"), ("right", right, "left")):
        prefix = feed.opened.prefix
        if prefix is None or prefix.checkpoint is None or rules.position != "commit_ts":
            continue
        if extra[other]:
            yield (
                f"the {side} prefix is read up to its checkpoint; --to {prefix.checkpoint + 1} "
                f"leaves out what the {other} feed has after it"
            )


def _producer_hints(found: Comparison, left: OpenedFeed, right: OpenedFeed) -> Iterator[str]:
    """Yield the values that the producer of one feed changes, where rows differ."""
    counts = [table.counts for table in found.tables if table.counts is not None]
    if not any(each.changed for each in counts):
        return
    sides = ("left", left.side), ("right", right.side)
    changed = {name: side.format.comparing.changed_values(side.values) for name, side in sides}
    if changed["left"] == changed["right"]:
        return
    for name, values in changed.items():
        if values:
            yield f"the producer of the {name} feed changes values: {'; '.join(values)}"


def tombstone_hint(side: SideName, feed: OpenedFeed) -> Iterator[str]:
    """Yield the option that reads the tombstones of a feed as deletes, if it has no others."""
    number = feed.facts.others.markers.get("tombstone", 0)
    option = feed.side.format.comparing.deletes_in_markers(feed.side.values)
    if number and option is not None and not feed.facts.deletes.any:
        yield (
            f"the {side} feed has {number:,} tombstone{'' if number == 1 else 's'} and no other "
            f"delete; --{side}-option {option} reads each as the delete of its key"
        )


def _snapshot_hint(found: Comparison, left: OpenedFeed, right: OpenedFeed) -> Iterator[str]:
    """Yield how rows of snapshots are left out, where rows differ and only one feed has them."""
    reads = [sum(each.reads for each in feed.facts.of_rows.values()) for feed in (left, right)]
    has_hidden = any(f.side.format.comparing.snapshot_rows_are_inserts for f in (left, right))
    if not found.is_different or has_hidden or all(reads) or not any(reads):
        return
    side, other = ("left", "right") if reads[0] else ("right", "left")
    yield (
        f"the {side} feed has rows of snapshots ({max(reads):,}), the {other} feed has none; "
        "--without-snapshots leaves them out"
    )


def _key_hints(one_sided_keys: Mapping[str, SideName]) -> Iterator[str]:
    """Yield how both sides get the key that only one of them sends."""
    for side in ("left", "right"):
        tables = [table for table, has_key in one_sided_keys.items() if has_key == side]
        if tables:
            other = "right" if side == "left" else "left"
            yield (
                f"the {other} feed sends no key of {', '.join(tables)}; --ddl FILE with the CREATE "
                "TABLE (or --tables FILE) gives both sides the key"
            )


def _type_hints(
    types: Mapping[str, tuple[SideName, tuple[str, ...]]], left: OpenedFeed, right: OpenedFeed
) -> Iterator[str]:
    """Yield how a feed whose messages have no types gets those of the other one."""
    for table, (side, columns) in types.items():
        feed, other = (left, "right") if side == "left" else (right, "left")
        yield (
            f"if messages of the {other} feed have no type of {', '.join(columns)} ({table}), give "
            f"it with --ddl FILE and the CREATE TABLE, or take the types of the {side} feed: "
            f"cdcwire tables {quote(str(feed.source))} --to tables.json, then --tables tables.json"
        )


def _table_hints(table: TableComparison, rules: ComparisonRules) -> Iterator[str]:
    counts = table.counts
    if counts is None or not table.differing:
        return
    options = dict.fromkeys(pattern.option for pattern in table.patterns)
    if len(options) > 1 and None not in options:
        words = " ".join(option for option in options if option is not None)
        yield f"all differences of {table.table} are accepted with {words}"
    signed = [pattern.column for pattern in table.patterns if pattern.kind == "unsigned"]
    if signed:
        names = ", ".join(filter(None, signed))
        yield (
            f"if no definition says that {names} of {table.table} is unsigned, give it with --ddl "
            "FILE and the CREATE TABLE"
        )
    alone = counts.only_left > 0 and counts.only_right > 0
    if rules.position is not None and alone and not counts.same + counts.changed:
        yield (
            f"no two rows have the same {rules.position} and key; feeds of two clusters are "
            "compared with --pair-by key"
        )


def alike_hints(table: TableComparison) -> Iterator[str]:
    """Yield the columns and causes of the differences between similar rows that are shown."""
    for pattern in patterns_of(_pairs(table.differences)):
        option = ""
        if pattern.option is not None:
            option = f"; {of_table(pattern.option, table.table)} accepts it"
        yield (
            f"{table.table} has no key; rows of both sides are alike except in {pattern.column}: "
            f"{pattern.text}{option}"
        )


def _pairs(differences: tuple[RowDifference, ...]) -> Iterator[RowDifference]:
    """Yield a changed row for each left row and the most similar right row."""
    alone = [each for each in differences if not each.key and each.columns]
    rest = [each for each in alone if each.verdict == "only right"]
    for left in alone:
        if left.verdict != "only left":
            continue
        found = [(len(columns), right) for right in rest if (columns := _different(left, right))]
        size, right = min(found, key=lambda each: each[0], default=(0, left))
        if 0 < size <= len(left.columns) // 2:
            rest.remove(right)
            columns = _different(left, right)
            yield replace(left, verdict="changed", columns=columns, right_count=right.right_count)


def _different(left: RowDifference, right: RowDifference) -> tuple[ColumnDifference, ...]:
    """Return the columns whose values differ; none if the rows have other columns."""
    others = {(each.image, each.column): each for each in right.columns}
    names = {(each.image, each.column) for each in left.columns}
    if left.op != right.op or names != others.keys():
        return ()
    pairs = [(each, others[each.image, each.column]) for each in left.columns]
    return tuple(replace(a, right=b.right) for a, b in pairs if a.left != b.right)


_TIME_ZONE = "time-zone"
_OF_COLUMN = ("--precision", "--ignore-scale", "--left-binary", "--right-binary")
_OF_FORMAT = re.compile(r"--(left|right)-option ([^=]+)=")


def with_proposals(
    found: TableComparison,
    merged: Merged,
    feeds: tuple[OpenedFeed, OpenedFeed],
    options: CompareOptions,
    shared: Collection[str] = (),
) -> TableComparison:
    """Return the comparison of a table with the options that its patterns leave open.

    ``shared``: columns that other tables have too; an option names them with their table, so that
    it accepts no difference of another one.
    """
    sides: dict[SideName, OpenedFeed] = {"left": feeds[0], "right": feeds[1]}
    # One zone can't accept two shifts, as those of summer and winter.
    shifts = {each.later for each in found.patterns if each.later is not None}
    patterns = []
    for each in found.patterns:
        option = each.option if _is_known(each.option, sides) else None
        if each.lacking is not None:
            option = _of_changed_columns(each.lacking, sides[each.lacking])
        elif each.later is not None and len(shifts) == 1:
            option = _of_zone(each, each.later, merged, sides, options)
        if option is not None and each.column in shared:
            option = of_table(option, found.table)
        patterns.append(replace(each, option=option))
    return replace(found, patterns=tuple(patterns))


def of_table(option: str, table: str) -> str:
    """Return an option for a column of one table; another one as it is.

    Examples:
        >>> of_table("--precision at=ms", "shop.orders"), of_table("--no-before", "shop.orders")
        ('--precision shop.orders.at=ms', '--no-before')

    """
    name, _, word = option.partition(" ")
    return f"{name} {table}.{word}" if name in _OF_COLUMN else option


def _is_known(option: str | None, sides: dict[SideName, OpenedFeed]) -> bool:
    """Return whether a format has the option that is proposed for its side."""
    found = _OF_FORMAT.match(option or "")
    if found is None:
        return True
    side: SideName = "left" if found[1] == "left" else "right"
    return found[2] in {each.name for each in sides[side].side.format.options}


def _of_changed_columns(side: SideName, feed: OpenedFeed) -> str | None:
    """Return the option of a format whose updates may have the old values of changed columns."""
    names = {option.name for option in feed.side.format.options}
    return f"--{side}-option {CHANGED_ONLY}=true" if CHANGED_ONLY in names else None


def _of_zone(
    pattern: Pattern,
    later: int,
    merged: Merged,
    sides: dict[SideName, OpenedFeed],
    options: CompareOptions,
) -> str | None:
    """Return the zone of a side that does not say its own, or of both.

    ``later``: by how many seconds the left side is later.
    """
    unknown = [side for name, side in merged.unzoned if name == pattern.column]
    base = fixed_offset(options.time_zone)
    if len(unknown) == 1 and base is not None:
        shift = later if unknown[0] == "left" else -later
        return f"--time-zone {_offset_text(base + shift)}"
    kinds = [each.type for each in merged.table.columns if each.name == pattern.column]
    is_unknown = all(isinstance(kind, TimestampType) and kind.zone is None for kind in kinds)
    has_option = all(
        _TIME_ZONE in {option.name for option in feed.side.format.options}
        for feed in sides.values()
    )
    if is_unknown and has_option:
        left = _offset_text(later)
        return f"--left-option {_TIME_ZONE}={left} --right-option {_TIME_ZONE}=+00:00"
    return None


def _offset_text(seconds: int) -> str:
    sign, minutes = "-" if seconds < 0 else "+", abs(seconds) // 60
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
