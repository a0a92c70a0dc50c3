"""How a producer writes its columns: the settings of CDL and of Debezium that shape them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Way: TypeAlias = Literal["cdl-1.0", "cdl-2.0", "debezium"]
DecimalMode: TypeAlias = Literal["precise", "string", "double"]
TimeMode: TypeAlias = Literal["adaptive", "adaptive_time_microseconds", "connect"]
BinaryMode: TypeAlias = Literal["bytes", "base64", "base64-url-safe", "hex"]
IntervalMode: TypeAlias = Literal["numeric", "string"]
HstoreMode: TypeAlias = Literal["json", "map"]


@dataclass(frozen=True, slots=True)
class Style:
    """How a producer writes its columns. ``name_prefix``: what stands before ``.cdc.data``."""

    way: Way
    name_prefix: str = "com.xxx"
    decimals: DecimalMode = "precise"
    times: TimeMode = "adaptive"
    binary: BinaryMode = "bytes"
    intervals: IntervalMode = "numeric"
    maps: HstoreMode = "map"
    placeholder: str = ""
    with_defaults: bool = False

    @property
    def is_cdl(self) -> bool:
        return self.way != "debezium"
