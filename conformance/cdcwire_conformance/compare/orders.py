"""The order by which the changes of two feeds pair: the first in which every row has a place.

A row of a snapshot has the position of the snapshot, which two snapshots of one table do not share.
So rows of snapshots pair by their key and what came before them in the feed, and need no place.
That is not so where one of the feeds has them as inserts, or for windows of positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cdcwire.core.orders import Order
from cdcwire_conformance.decode.row_facts import RowFacts

_SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class BothFacts:
    """Facts about the rows of both feeds, as far as their tables are compared.

    ``is_windowed``: windows are cut by the position, so rows of snapshots need a place too.
    ``has_reads_as_inserts``: one of the feeds has rows of snapshots as inserts.
    """

    left: RowFacts
    right: RowFacts
    is_windowed: bool = False
    has_reads_as_inserts: bool = False

    @property
    def of_sides(self) -> tuple[tuple[str, RowFacts], ...]:
        """The facts of each side, with its name."""
        return (("left", self.left), ("right", self.right))

    @property
    def places_reads(self) -> bool:
        """Return whether rows of snapshots have to have a place."""
        return self.is_windowed or self.has_reads_as_inserts

    @property
    def has_bare_reads(self) -> bool:
        """Return whether rows of snapshots pair by what came before them."""
        return not self.places_reads and bool(self.left.reads + self.right.reads)

    def reason_against(self, order: Order) -> str | None:
        """Return why rows can't pair by an order; None if they can."""
        lacking = [side for side, facts in self.of_sides if self._lacks_all(facts, order)]
        if lacking:
            return f"no row of {self._feeds(lacking)} has it"
        return next(self._problems(order), None)

    def unreadable(self, order: Order) -> str | None:
        """Return the value of a feed that can't be ordered, and its side; None if all can be."""
        for side, facts in self.of_sides:
            problem = facts.order(order.name).problem
            if problem is not None:
                return f"{side}: {problem}"
        return None

    def reason_against_field(self, name: str) -> str | None:
        """Return why a field of events is not compared; None if it is."""
        lacking = [
            side
            for side, facts in self.of_sides
            if facts.is_complete and self._counted(facts) and not self._having(facts, name)
        ]
        if lacking:
            return f"no row of {self._feeds(lacking)} has it"
        without = [
            side
            for side, facts in self.of_sides
            if name in facts.lacked_by_deletes and not facts.bare_deletes
        ]
        return f"deletes of the {without[0]} feed lack it" if len(without) == 1 else None

    def is_in_no_row(self, order: Order) -> bool:
        """Return whether neither feed has a row with a place in an order.

        Deletes are counted apart where a format may send them without a place.
        """
        return all(
            facts.is_complete
            and not self._placed(facts, order)
            and not facts.placed_deletes
            and (facts.order(order.name).problem is None or not self._counted(facts))
            for _, facts in self.of_sides
        )

    def is_in_reads(self, order: Order) -> bool:
        """Return whether rows of snapshots have a place in an order."""
        return any(facts.order(order.name).reads for _, facts in self.of_sides)

    def _problems(self, order: Order) -> Iterator[str]:
        for side, facts in self.of_sides:
            found, total = facts.order(order.name), self._counted(facts)
            lacking = total - self._placed(facts, order)
            if not facts.is_complete or not total:
                continue
            if found.problem is not None:
                yield f"{side}: {found.problem}"
            if lacking:
                yield f"{lacking:,} of {total:,} rows of the {side} feed lack it"
            if len(found.scopes) > 1:
                shown = "; ".join(sorted(", ".join(scope) for scope in found.scopes))
                yield f"the {side} feed has more than one: {shown}"
            is_constant = len(found.places) == 1 and facts.changes > 1
            if is_constant and (order.ties == "none" or found.places == {0}):
                yield f"it is the same in all rows of the {side} feed"
        ours, theirs = (facts.order(order.name).scopes for _, facts in self.of_sides)
        if ours and theirs and ours != theirs:
            shown_sides = (
                f"{side} {', '.join(next(iter(scopes)))}"
                for side, scopes in zip(_SIDES, (ours, theirs), strict=True)
            )
            yield " and ".join(shown_sides)

    def _lacks_all(self, facts: RowFacts, order: Order) -> bool:
        is_lacking = self._counted(facts) and not self._placed(facts, order)
        return facts.is_complete and bool(is_lacking) and not facts.order(order.name).problem

    def _counted(self, facts: RowFacts) -> int:
        return facts.changes + (facts.reads if self.places_reads else 0)

    def _placed(self, facts: RowFacts, order: Order) -> int:
        found = facts.order(order.name)
        return found.changes + (found.reads if self.places_reads else 0)

    def _having(self, facts: RowFacts, name: str) -> int:
        of_reads = facts.read_fields.get(name, 0) if self.places_reads else 0
        return facts.fields.get(name, 0) + of_reads

    def _feeds(self, sides: list[str]) -> str:
        return "either feed" if len(sides) == len(_SIDES) else f"the {sides[0]} feed"
