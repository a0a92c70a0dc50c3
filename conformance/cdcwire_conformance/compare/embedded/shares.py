"""The rows of a share of a feed (``compare.last_state``), as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.building import where
from cdcwire_conformance.compare.last_state import Moment, Share

_IMAGES = ("before", "after")


def rows_of_share(
    batches: Iterable[pa.RecordBatch], share: Share, position: str | None, *, is_last: bool
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a share.

    ``position``: the column by which rows are replayed. ``is_last``: what can't be read is in the
    last share of a table only, as no share knows whose rows it had.
    """
    for batch in batches:
        if share.since is None and share.until is None and is_last:
            yield batch
            continue
        is_error = batch.column("error").is_valid()
        kept = pa.scalar(is_last)
        wanted = pc.invert(is_error)
        if share.until is not None:
            wanted = pc.and_(wanted, _is_before(batch, share.until, position))
        emptied = None
        if share.since is not None:
            emptied = pc.and_(wanted, _is_before(batch, share.since, position))
            if not share.keeps_emptied:
                wanted = pc.and_not(wanted, emptied)
        if emptied is not None and share.keeps_emptied:
            batch = _as_deletes(batch, emptied)
        yield batch.filter(pc.if_else(is_error, kept, wanted))


def _is_before(batch: pa.RecordBatch, moment: Moment, position: str | None) -> pa.Array:
    source = batch.column("source")
    if moment.position is not None:
        assert position is not None
        values: Any = batch.column(position)
        limit = pa.scalar(moment.position).cast(values.type)
        found = pc.less_equal(values, limit)
    elif moment.offset is not None:
        found = pc.less(pc.struct_field(source, "offset"), moment.offset)
    else:
        found = pc.less(pc.struct_field(source, "partition"), moment.file)
    return pc.fill_null(found, False)


def _as_deletes(batch: pa.RecordBatch, emptied: pa.Array) -> pa.RecordBatch:
    """Return the batch with deletes of the keys of some rows in their place."""
    columns = {
        "op": where(emptied, pa.scalar("delete"), batch.column("op")),
        "half": where(emptied, pa.scalar(None, pa.string()), batch.column("half")),
    }
    for suffix in ("", "_has"):
        before, after = (batch.column(f"{side}{suffix}") for side in _IMAGES)
        last = where(batch.column("after").is_valid(), after, before)
        columns[f"before{suffix}"] = where(emptied, last, before)
        columns[f"after{suffix}"] = where(emptied, pa.scalar(None, after.type), after)
    for name, values in columns.items():
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, batch.schema.field(place), values)
    return batch
