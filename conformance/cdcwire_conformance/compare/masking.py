"""Values of rows replaced in what a comparison shows, so that reports hold no personal data.

A masked value is a keyed hash of the whole value. Its length and the type of its column stay. Equal
values have equal hashes, and different values have different ones. A redacted value leaves nothing
but NULL and absent. Names, types, positions and places are never hidden.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from cdcwire_conformance.compare.result import (
    REDACTED,
    ColumnDifference,
    Comparison,
    KeyContradiction,
    Pattern,
    PatternExample,
    RowDifference,
    Shown,
    TableComparison,
    UnreadableMessage,
    digest_of,
)

SHORTEST_KEY = 16  # bytes
_DIGITS = 16  # of a hash, as it is shown


@dataclass(frozen=True, slots=True)
class Mask:
    """Makes hashes with a secret key. ``origin``: of the key, in words for reports."""

    key: bytes = field(repr=False)
    origin: str = "a random key of this run"

    def value(self, shown: Shown) -> Shown:
        """Return a masked value. NULL and absent stay."""
        if shown.text is None or shown.hidden is not None:
            return shown
        digest = shown.digest or digest_of(shown.text)
        found = hmac.new(self.key, digest.encode(), "sha256").hexdigest()[:_DIGITS]
        length = len(shown.text) if shown.length is None else shown.length
        return Shown(found, length=length, hidden="masked")

    def difference(self, found: RowDifference) -> RowDifference:
        """Return a difference with masked values in its key and its columns."""
        return replace(
            found, key=self._key(found.key), columns=tuple(map(self._column, found.columns))
        )

    def comparison(self, found: Comparison) -> Comparison:
        """Return a comparison with masked values. Lines that may quote a value do not."""
        statements = (
            replace(each, statement=self.value(each.statement)) for each in found.ddl_differences
        )
        return replace(
            without_quotes(found),
            tables=tuple(map(self._table, found.tables)),
            ddl_differences=tuple(statements),
            keys=replace(found.keys, first=tuple(map(self._key_contradiction, found.keys.first))),
            notes=(*found.notes, f"values are masked: hashes with {self.origin}"),
        )

    def _key_contradiction(self, found: KeyContradiction) -> KeyContradiction:
        if found.column is None:
            return found
        return replace(found, in_key=self.value(found.in_key), in_row=self.value(found.in_row))

    def _table(self, found: TableComparison) -> TableComparison:
        return replace(
            found,
            differences=tuple(map(self.difference, found.differences)),
            patterns=tuple(map(self._pattern, found.patterns)),
        )

    def _pattern(self, found: Pattern) -> Pattern:
        return replace(found, examples=tuple(self._example(found, e) for e in found.examples))

    def _example(self, pattern: Pattern, found: PatternExample) -> PatternExample:
        key = self._key(found.key)
        if pattern.type in ("field", "image"):
            return replace(found, key=key)
        return PatternExample(key, self.value(found.left), self.value(found.right))

    def _column(self, found: ColumnDifference) -> ColumnDifference:
        if found.image is None or found.column is None:
            return found  # a field of the event, or a whole image
        return replace(found, left=self.value(found.left), right=self.value(found.right))

    def _key(self, key: Iterable[tuple[str, Shown]]) -> tuple[tuple[str, Shown], ...]:
        return tuple((name, self.value(shown)) for name, shown in key)


def without_quotes(found: Comparison) -> Comparison:
    """Return a comparison whose errors of messages do not quote them."""
    lines = (UnreadableMessage(each.where, each.where) for each in found.unreadable)
    return replace(found, unreadable=tuple(lines))


def redacted(found: RowDifference, columns: frozenset[str]) -> RowDifference:
    """Return a difference without the values of some columns."""
    if not columns:
        return found
    return replace(
        found,
        key=tuple((name, _redacted(each, name in columns)) for name, each in found.key),
        columns=tuple(
            replace(each, left=_redacted(each.left, True), right=_redacted(each.right, True))
            if each.image is not None and each.column in columns
            else each
            for each in found.columns
        ),
    )


def _redacted(shown: Shown, is_wanted: bool) -> Shown:
    return REDACTED if is_wanted and shown.text is not None else shown
