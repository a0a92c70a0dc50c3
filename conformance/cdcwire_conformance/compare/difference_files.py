"""All differences of a comparison as Parquet files: a row for each column that differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cdcwire.arrow.types import SchemaError
from cdcwire.files.local_files import is_new_or_empty
from cdcwire.files.stores import is_url
from cdcwire_conformance.compare.masking import Mask
from cdcwire_conformance.compare.result import RowDifference, RowPlace, Shown
from cdcwire_conformance.compare.shown_text import hidden_text, position_text

# The columns of the files, with the SQL types that Spark has.
COLUMNS: Mapping[str, str] = {
    "table": "STRING",
    "difference": "BIGINT",
    "kind": "STRING",
    "op": "STRING",
    "position": "STRING",
    "key": "STRING",
    "left_copies": "BIGINT",
    "right_copies": "BIGINT",
    "left_place": "STRING",
    "right_place": "STRING",
    "image": "STRING",
    "column": "STRING",
    "type": "STRING",
    "left": "STRING",
    "right": "STRING",
    "left_absent": "BOOLEAN",
    "right_absent": "BOOLEAN",
    "hidden": "STRING",
}


def check_empty(folder: str) -> None:
    """Check that a folder has nothing, or does not exist. Raises: SchemaError."""
    if not is_url(folder) and not is_new_or_empty(Path(folder)):
        raise SchemaError(f"--differences: {folder} is not empty; name a new directory")


def rows_of_differences(
    differences: Iterable[RowDifference], table: str, numbers: Iterator[int], mask: Mask | None
) -> list[tuple[Any, ...]]:
    """Return the rows of differences. Each takes the next of ``numbers``."""
    return [
        row for each in differences for row in rows_of_difference(each, table, next(numbers), mask)
    ]


def rows_of_difference(
    found: RowDifference, table: str, number: int, mask: Mask | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each column that differs, or one where the row is shown as a whole.

    ``mask``: hides all values.
    """
    if mask is not None:
        found = mask.difference(found)
    start = (
        table,
        number,
        found.verdict,
        found.op,
        position_text(found),
        json.dumps({name: _key_value(shown) for name, shown in found.key}, ensure_ascii=False),
        found.left_count,
        found.right_count,
        _text_of(found.left_place),
        _text_of(found.right_place),
    )
    for each in found.columns:
        sides = (each.left, each.right)
        values = (hidden_text(s, each.kind) if s.hidden is not None else s.text for s in sides)
        hidden = each.left.hidden or each.right.hidden
        of_column = (each.image, each.column, each.kind, *values)
        yield (*start, *of_column, each.left.is_absent, each.right.is_absent, hidden)
    if not found.columns:
        yield (*start, *(None,) * 8)


def _key_value(shown: Shown) -> str | dict[str, str] | None:
    """Return a value of a key as JSON. A hidden value is an object, as no real value is."""
    return shown.text if shown.hidden is None else {shown.hidden: shown.text or ""}


def _text_of(place: RowPlace | None) -> str | None:
    return None if place is None else str(place)
