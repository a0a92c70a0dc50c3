"""Values of one of two Arrow columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def where(flags: pa.Array, own: pa.Array | pa.Scalar, others: pa.Array) -> pa.Array:
    """Return ``own`` where ``flags`` is true, else the values of ``others``.

    ``pc.if_else`` with a scalar and a slice of texts gives other texts in pyarrow 18 to 20. So a
    scalar becomes an array.
    """
    if isinstance(own, pa.Scalar):
        own = pa.repeat(own, len(others)) if own.is_valid else pa.nulls(len(others), own.type)
    return pc.if_else(flags, own, others)
