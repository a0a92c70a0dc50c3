"""The tables and patterns of a comparison as rows of plain values, for DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from cdcwire_conformance.compare.result import Comparison, Counts
from cdcwire_conformance.compare.shown_text import key_text

COUNT_NAMES = tuple(asdict(Counts()))
TABLE_COLUMNS = ("table", "equal", *COUNT_NAMES, "differing", "schema_differences", "notes")
PATTERN_COLUMNS = ("table", "column", "type", "cause", "text", "count", "option", "example")


def table_rows(found: Comparison) -> Iterator[tuple[object, ...]]:
    """Yield ``TABLE_COLUMNS`` of each table. A table that was not read has no counts, but None."""
    for table in found.tables:
        counts = dict.fromkeys(COUNT_NAMES) if table.counts is None else asdict(table.counts)
        differing = None if table.counts is None else table.differing
        lines = ("\n".join(each) for each in (table.schema_differences, table.notes))
        yield (table.table, table.is_equal, *counts.values(), differing, *lines)


def pattern_rows(found: Comparison) -> Iterator[tuple[object, ...]]:
    """Yield a row for each pattern of each table, with ``PATTERN_COLUMNS``."""
    for table in found.tables:
        for each in table.patterns:
            example = key_text(each.examples[0].key) if each.examples else None
            yield (
                table.table,
                each.column,
                each.type,
                each.kind,
                each.text,
                each.count,
                each.option,
                example,
            )
