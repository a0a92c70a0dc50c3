"""Timestamps of TiDB's oracle (TSO), as in ``commit_ts``: milliseconds and a logical clock."""

from __future__ import annotations

LOGICAL_BITS = 18  # of the logical clock, below the milliseconds since 1970


def ms_of_tso(tso: int) -> int:
    """Return the milliseconds since 1970 of a TSO."""
    return tso >> LOGICAL_BITS


def tso_of_ms(milliseconds: int) -> int:
    """Return the first TSO of a millisecond."""
    return milliseconds << LOGICAL_BITS
