"""How a producer writes its columns: the settings of CDL and of Debezium that shape them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect.schema import Schema
from cdcwire.model.events import Value

Way: TypeAlias = Literal["cdl-1.0", "cdl-2.0", "debezium"]
DecimalMode: TypeAlias = Literal["precise", "string", "double"]
TimeMode: TypeAlias = Literal[
    "adaptive",
    "adaptive_time_microseconds",
    "connect",
    "isostring",
    "microseconds",
    "nanoseconds",
]
BinaryMode: TypeAlias = Literal["bytes", "base64", "base64-url-safe", "hex"]
IntervalMode: TypeAlias = Literal["numeric", "string"]
HstoreMode: TypeAlias = Literal["json", "map"]
Convert: TypeAlias = Callable[[Value], Value]


@dataclass(frozen=True, slots=True)
class Style:
    """How a producer writes its columns. ``name_prefix``: the part before ``.cdc.data``.

    ``has_money``: money is a Decimal in every mode, as by Debezium 1.4.
    """

    way: Way
    name_prefix: str = "com.xxx"
    decimals: DecimalMode = "precise"
    times: TimeMode = "adaptive"
    binary: BinaryMode = "bytes"
    intervals: IntervalMode = "numeric"
    maps: HstoreMode = "map"
    placeholder: str = ""
    with_defaults: bool = False
    has_money: bool = False

    @property
    def is_cdl(self) -> bool:
        """True if CDL writes the columns, in any of its versions; otherwise Debezium does."""
        return self.way != "debezium"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """The schema of a column, and what turns its values, not None, into the wire's."""

    schema: Schema
    convert: Convert


def as_it_is(value: Value) -> Value:
    """Return the value unchanged."""
    return value


def cdc_schema(style: Style, suffix: str) -> Schema:
    """Return the schema of a type of CDL's own, which is text."""
    return Schema("string", name=f"{style.name_prefix}{suffix}")
