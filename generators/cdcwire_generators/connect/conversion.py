"""The settings by which Connect's producers write columns, and what becomes of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.model import kinds
from cdcwire_generators.connect.times import (
    Convert,
)

Producer: TypeAlias = Literal["cdl 1.0", "cdl 2.0", "debezium"]

CONNECT_PREFIX = "org.apache.kafka.connect.data."
TIME_PREFIX = "io.debezium.time."
DATA_PREFIX = "io.debezium.data."


@dataclass(frozen=True, slots=True)
class Modes:
    """The settings by which a producer writes columns.

    ``prefix``: the start of type names, before ``.cdc.data``.

    ``decimals``, ``times``, ``binary``, ``intervals``, ``maps``: Debezium's modes. ``placeholder``:
    the text for an unavailable value; "" for none. ``has_money``: money stays a Decimal.
    ``numbers``: ``wide`` and ``widest`` as MySQL's connectors have them before 3.7 and 2.0, else
    ``tiny``.
    """

    producer: Producer
    prefix: str = "com.xxx"
    decimals: str = "precise"
    times: str = "adaptive"
    binary: str = "bytes"
    intervals: str = "numeric"
    maps: str = "map"
    placeholder: str = ""
    has_money: bool = False
    numbers: str = "exact"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A column after a round trip: its kind, the name of its type, and a conversion of values."""

    type: kinds.Type
    source: str
    value: Convert
