"""Options that accept the differences of a pattern, where these depend on the feeds.

The values of the pattern show what would make them equal; the feeds show which option does that.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from cdcwire.arrow.schema import Merged
from cdcwire.model.instants import fixed_offset
from cdcwire.model.kinds import TimestampType
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import Pattern, SideName, TableComparison
from cdcwire_conformance.compare.rules import CHANGED_ONLY, CompareOptions

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
