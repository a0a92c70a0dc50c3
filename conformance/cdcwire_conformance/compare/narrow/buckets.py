"""Buckets of a table's rows: all changes of a key, of both sides, are in one of them.

So each bucket is compared by itself, and the results are added. An update that changes its key may
be compared as a delete and an insert of two buckets. Then both have the row, and a flag for each
image says whose key is in the bucket. Without a key the whole row is its key, with its position.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire_conformance.compare.embedded.changes import ColumnChanges, Layout
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.narrow.rows import (
    Image,
    filled,
    image_of,
    key_columns,
    keys_of,
)

Buckets: TypeAlias = "tuple[Numbers, Numbers]"
"""The bucket of the image before and of the one after, for each row; ``NO_IMAGE`` without one."""

NO_IMAGE = -1


def buckets_of(
    batch: pa.RecordBatch, layout: Layout, changes: ColumnChanges, count: int
) -> Buckets:
    """Return the buckets of rows, below ``count``.

    A row without any image counts as one before.
    """
    rules = layout.rules
    before, after = (image_of(batch, side, layout, changes) for side in ("before", "after"))
    is_update = pc.fill_null(pc.equal(batch.column("op"), "update"), False)
    is_whole_update = pc.and_(is_update, pc.and_(before.known, after.known))
    old = filled(before, after, is_whole_update) if rules.fills_unchanged else before
    if not layout.keys and (rules.cuts_deletes or not rules.has_old_values):
        nothing = [pa.nulls(batch.num_rows, each.type) for each in old.columns]
        old = Image(old.known, nothing, old.presence)  # the rules may compare nothing of it
    has_both = pc.and_(before.known, after.known)
    has_old = pc.or_(before.known, pc.invert(after.known))
    if not layout.split_by and not rules.in_halves:
        has_old = pc.and_not(has_old, has_both)  # such a row is a change of its new key only
    found = []
    for image, known in ((old, has_old), (after, after.known)):
        buckets = (_keys(image, batch, layout) % np.uint64(count)).astype(np.int64)
        found.append(np.where(known.to_numpy(zero_copy_only=False), buckets, NO_IMAGE))
    return found[0], found[1]


def _keys(image: Image, batch: pa.RecordBatch, layout: Layout) -> Numbers:
    columns = key_columns(image, layout)
    rules = layout.rules
    if not layout.keys and rules.position is not None and not rules.bare_ops:
        columns.append(batch.column(rules.position))
    return keys_of(columns)
