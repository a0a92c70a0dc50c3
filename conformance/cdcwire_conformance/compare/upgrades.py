"""Two feeds of two releases of one producer: the differences that the releases explain.

``--profile debezium-2.7:debezium-3.6`` names them. A changed row whose differences a release
explains one and all is shown with the reason, and does not make the feeds differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cdcwire.core.comparing import ReleaseChange, Version
from cdcwire.core.comparing import Shown as Text
from cdcwire.core.orders import Order
from cdcwire.format import Format
from cdcwire.model.events import Position
from cdcwire.model.kinds import UNAVAILABLE
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
