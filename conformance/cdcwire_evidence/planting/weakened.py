"""Comparisons that leave out one part and do not report it: each has to produce misses.

A plant that such a comparison does not miss would not test that part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import (
    Comparison,
    Counts,
    KafkaKeys,
    RowDifference,
    TableComparison,
)
from cdcwire_conformance.compare.rules import CompareOptions

Hides: TypeAlias = "Callable[[RowDifference], RowDifference | None]"
"""Returns the part of a difference that such a comparison still sees; None for nothing."""


@dataclass(frozen=True, slots=True)
class Weakened:
    """A comparison that sees less.

    ``hides_schemas``: tables and columns of one side too. ``hides_keys``: Kafka keys too.
    ``ignores_errors``: a right feed that can't be read counts as the left one.
    """

    hides: Hides = lambda difference: difference
    hides_schemas: bool = False
    hides_keys: bool = False
    ignores_errors: bool = False

    def __call__(
        self, left: ComparedFeed, right: ComparedFeed, options: CompareOptions
    ) -> Comparison:
        """Compare two feeds without that part, and list nothing as not compared."""
        try:
            found = compare_feeds(left, right, options)
        except ValueError:
            if not self.ignores_errors:
                raise
            found = compare_feeds(left, left, options)
        return replace(
            found,
            tables=tuple(map(self._table, found.tables)),
            differences=() if self.hides_schemas else found.differences,
            left_out=(),
            ddl=(0, 0),
            keys=KafkaKeys() if self.hides_keys else found.keys,
            ddl_differences=(),
        )

    def _table(self, table: TableComparison) -> TableComparison:
        differences = tuple(d for each in table.differences if (d := self.hides(each)) is not None)
        changed = sum(each.weight for each in differences)
        counts = table.counts and Counts(
            left=table.counts.left,
            right=table.counts.right,
            left_rows=table.counts.left_rows,
            right_rows=table.counts.right_rows,
            changed=changed,
        )
        lines = () if self.hides_schemas else table.schema_differences
        return replace(
            table,
            counts=counts,
            differences=differences,
            schema_differences=lines,
            left_out=(),
            notes=(),
        )


def _without_verdicts(*verdicts: str) -> Hides:
    return lambda difference: None if difference.verdict in verdicts else difference


def _without_columns(image: str | None, names: Collection[str] = ()) -> Hides:
    """Hide the columns of an image, or fields of the event by their names."""

    def hides(difference: RowDifference) -> RowDifference | None:
        if difference.verdict != "changed":
            return difference
        columns = tuple(
            each
            for each in difference.columns
            if each.image != image or (image is None and each.column not in names)
        )
        return replace(difference, columns=columns) if columns else None

    return hides


_ONE_SIDED = _without_verdicts("only left", "only right", "changed")
_PLACES = _without_verdicts("only left", "only right", "changed", "out of order")
_COPIES = _without_verdicts("repeated", "doubled")

WEAKENED: Mapping[str, Weakened] = MappingProxyType(
    {
        "value of a new row": Weakened(_without_columns("after")),
        "value of a late column": Weakened(_without_columns("after")),
        "NULL in a new row": Weakened(_without_columns("after")),
        "value of an old row": Weakened(_without_columns("before")),
        "NULL in an old row": Weakened(_without_columns("before")),
        "value of a deleted row": Weakened(_without_columns("before")),
        "NULL in a deleted row": Weakened(_without_columns("before")),
        "operation": Weakened(_ONE_SIDED),
        "lost": Weakened(_ONE_SIDED),
        "repeated": Weakened(_COPIES),
        "exchanged": Weakened(_PLACES),
        "out of order": Weakened(_PLACES),
        "table": Weakened(_ONE_SIDED, hides_schemas=True),
        "schema": Weakened(_ONE_SIDED, hides_schemas=True),
        "database": Weakened(_ONE_SIDED, hides_schemas=True),
        "table of all": Weakened(_ONE_SIDED, hides_schemas=True),
        "schema of all": Weakened(_ONE_SIDED, hides_schemas=True),
        "database of all": Weakened(_ONE_SIDED, hides_schemas=True),
        "commit_ts": Weakened(_PLACES),
        "sequence_id": Weakened(_PLACES),
        "lsn": Weakened(_PLACES),
        "tx_id": Weakened(_without_columns(None, ("tx_id",))),
        "commit_ms": Weakened(_without_columns(None, ("commit_ms",))),
        "partition": Weakened(_without_columns(None, ("partition",))),
        "sent_ms": Weakened(),
        **dict.fromkeys(("file", "pos", "row", "server_id"), Weakened(_PLACES)),
        "gtid": Weakened(),
        **dict.fromkeys(("commit_lsn", "change_lsn", "event_serial_no"), Weakened(_PLACES)),
        **dict.fromkeys(("commit_scn", "scn", "rs_id", "ssn"), Weakened(_PLACES)),
        "start_ts": Weakened(),
        "moved": Weakened(_PLACES),
        "extra": Weakened(),
        "type": Weakened(),
        "marker": Weakened(),
        "TRUNCATE": Weakened(),
        "DDL": Weakened(),
        "Kafka key": Weakened(hides_keys=True),
        "damaged Kafka key": Weakened(hides_keys=True, ignores_errors=True),
    }
)
