"""How the changes of a table pair: by position and key, by order, or only with their equals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.rules import ComparisonRules, Window

_KEY_ROLES = frozenset({"primary", "handle", "unique"})
_HANDLE_ROLES = frozenset({"handle"})


class Named(Protocol):
    """A column of an image, in the schema of an engine."""

    @property
    def name(self) -> str:
        """The name of the column."""


FieldT = TypeVar("FieldT", bound=Named)


@dataclass(frozen=True, slots=True)
class PairLayout(Generic[FieldT]):
    """The facts about both frames that a comparison needs; their types are the same.

    ``fields``: of the images, in the order of the table's columns. ``keys``: those of the key.
    ``split_by``: the numbers of the columns whose change splits an update. ``window``: only the
    changes in it are compared.
    """

    fields: tuple[FieldT, ...]
    keys: tuple[FieldT, ...]
    split_by: tuple[int, ...]
    rules: ComparisonRules
    window: Window | None = None

    @property
    def needs_order(self) -> bool:
        """Return whether changes of a key pair by their order, for want of positions."""
        rules = self.rules
        has_bare_deletes = rules.has_bare_deletes and not rules.leaves_deletes
        lacks_positions = rules.position is None or rules.has_bare_reads or has_bare_deletes
        return bool(self.keys) and (lacks_positions or rules.numbers_ties)

    @property
    def place_name(self) -> str | None:
        """The field of a pair that says which of a key's changes it is."""
        if self.rules.is_final:
            return None
        if self.rules.position is not None:
            return "position"
        return "ordinal" if self.keys else None

    @property
    def paired_by(self) -> tuple[str, ...]:
        """The names of the pair's columns; empty if rows meet only their equals."""
        names = tuple(field.name for field in self.keys)
        if self.place_name is None:
            return names
        return (self.rules.position or "ordinal", *names)


def layout_of(
    columns: Iterable[FieldT],
    table: CanonicalTable,
    rules: ComparisonRules,
    window: Window | None = None,
) -> PairLayout[FieldT]:
    """Return the layout of a table's rows. ``columns``: the fields of ``before`` and ``after``.

    A key counts only if all of its columns are read.
    """
    fields = {field.name: field for field in columns}
    key = table.key or ()
    keys = tuple(fields[name] for name in key) if set(key) <= set(table.column_names) else ()
    roles = _KEY_ROLES if rules.splits_unique_keys else _HANDLE_ROLES
    is_splitting = rules.joins_halves if rules.in_halves else rules.split_keys
    split_by = tuple(
        number
        for number, column in enumerate(table.columns)
        if is_splitting and (column.roles & roles or column.name in key)
    )
    own = tuple(fields[name] for name in table.column_names)
    return PairLayout(own, keys, split_by, rules, window)
