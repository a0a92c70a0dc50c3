"""How a producer writes its columns: the settings of CDL and of Debezium that shape them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect.schema import Schema
from cdcwire.model.kinds import DecimalType, Value

Way: TypeAlias = Literal["cdl-1.0", "cdl-2.0", "debezium"]
DecimalMode: TypeAlias = Literal["auto", "precise", "string", "double"]
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
NumberForm: TypeAlias = Literal["exact", "tiny", "wide", "widest"]
UnsignedMode: TypeAlias = Literal["auto", "long", "precise", "string"]
InstantDigits: TypeAlias = Literal["as sent", "cut", "padded"]
LabelForm: TypeAlias = Literal["least", "listed", "sent"]
Convert: TypeAlias = Callable[[Value], Value]


@dataclass(frozen=True, slots=True)
class Style:
    """How a producer writes its columns. ``name_prefix``: the part before ``.cdc.data``.

    ``precise_kind``: decimals of this kind that came as a Decimal are one in every mode. Money by
    Debezium 1.4 and BIGINT UNSIGNED are such decimals.
    ``labels``: which commas and backslashes of labels have a backslash before them. ``least``: in
    the list of labels, those that would be misread; ``listed``: all in the list; ``sent``: also
    those in values of enums. ``has_whole_bits``: a bit string has the bytes of its column's length;
    otherwise bytes that are zero at its end are not sent.
    ``numbers``: of MySQL's connectors. TINYINT(1) is a number (``tiny``), before 3.7 with TINYINT
    an int16 (``wide``), before 2.0 FLOAT is a double (``widest``). ``has_plain_json``: JSON is a
    string without name, as MariaDB's.
    ``instant_digits``: of the fraction of instants; ``cut``: without zeros at the end; ``padded``:
    as many as the column has, where that is known.
    ``unsigned``: form of unsigned integers of 64 bits. ``long`` wraps those from 2^63 on, ``auto``
    is a Decimal without precision; ``string`` is digits; ``as sent``: those that came as int64
    wrap, as ``long`` does.
    ``has_exponents``: small decimals have an exponent in their text.
    ``has_integer_texts``: an integer of a definition may also be sent as its digits or as a double.
    ``has_short_times``: times of up to three digits after the second are milliseconds; otherwise,
    as for MySQL's of more than a day, microseconds. None: it is not known, and they can't be read.
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
    precise_kind: DecimalType | None = None
    labels: LabelForm = "least"
    has_whole_bits: bool = False
    unsigned: UnsignedMode | Literal["as sent"] = "auto"
    numbers: NumberForm = "exact"
    has_plain_json: bool = False
    has_short_times: bool | None = False
    has_integer_texts: bool = False
    has_exponents: bool = False
    instant_digits: InstantDigits = "as sent"

    @property
    def is_cdl(self) -> bool:
        """True if CDL writes the columns, in any of its versions; otherwise Debezium does."""
        return self.way != "debezium"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """The schema of a column, and what turns its values, not None, into the wire's.

    ``reserved``: the wire's values that stand for no value, and that no value may have.
    """

    schema: Schema
    convert: Convert
    reserved: tuple[Value, ...] = ()


def as_it_is(value: Value) -> Value:
    """Return the value unchanged."""
    return value


def cdc_schema(style: Style, suffix: str) -> Schema:
    """Return the schema of a type of CDL's own, which is text."""
    return Schema("string", name=f"{style.name_prefix}{suffix}")
