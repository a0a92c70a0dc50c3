"""Values of Avro types as Python values.

A datum has the form of its Avro type: None, bool, int, float, bytes, str. An array is a tuple, a
map a tuple of pairs, a record a tuple of its fields. In a union of NULL and one other type the
value shows the branch; in any other one ``Branch`` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Datum: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Branch:
    """A value of a union whose branches cannot be distinguished by the value alone."""

    index: int
    value: Datum
