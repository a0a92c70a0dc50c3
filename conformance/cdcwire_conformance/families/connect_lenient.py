"""The checks that lenient readers of Kafka Connect's JSON leave out."""

from __future__ import annotations

CONNECT_UNCHECKED: frozenset[str] = frozenset(
    {"connect: limits", "connect: time values", "connect: null values"}
)

CONNECT_SCALARS: frozenset[str] = frozenset(
    {
        *("connect: integer values", "connect: float values", "connect: boolean values"),
        *("connect: string values",),
    }
)
