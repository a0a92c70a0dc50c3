"""Column values: what a testee gives is read under the type that the case expects.

A value that is short for an object (its text alone) means the same. NULL, absent and unavailable
are three things; NULL may be written ``null`` or ``{"value":null}``.

Parts of a type that the answer leaves out do not count against it: ``decimal`` meets
``decimal(10,4)``. ENUM and SET values have a number, a label, or both. Parts that both sides give
have to agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from decimal import Decimal
from types import MappingProxyType

from cdcwire.model.events import Path
from cdcwire.model.floats import read_float32
from cdcwire.model.kind_text import kind_text, parse_kind
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
    index_of_label,
    mask_of_labels,
)
from cdcwire.model.text import Json
from cdcwire.model.text.members import INTEGER
from cdcwire_conformance.judge.difference import (
    ABSENT_TEXT,
    Difference,
    is_null,
    quoted,
    shown_value,
    state_of,
)
from cdcwire_conformance.judge.json_values import json_difference
from cdcwire_conformance.judge.temporal import temporal_mismatch

THROUGH_FLOAT = "it went through a 64-bit float"
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,4})?|nan|-?inf")
_TOO_SMALL = 4  # numbers up to here are doubled or halved by chance
_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?")
NO_KINDS: Mapping[str, Type] = MappingProxyType({})
_NOT_FINITE = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf", "+Inf": "inf", "-Inf": "-inf"}


@dataclass(frozen=True, slots=True)
class ValueRules:
    """The settings that depend on the format and on the testee.

    ``zone_needed``: the bytes say the zone of an instant. ``scale_needed``: the testee gives the
    scale of decimals. ``fraction_digits_needed``: it gives as many digits of a fraction of a second
    as were sent.
    """

    zone_needed: bool = False
    scale_needed: bool = True
    fraction_digits_needed: bool = True


def compare_values(
    expected: Json, given: Json, path: Path, rules: ValueRules, known: Type | None = None
) -> Iterator[Difference]:
    """Yield how a value differs from the expected one.

    ``known``: the type of an expected value that does not say it, within an array, map or struct.
    """
    kind = _type_of(expected, known)

    def differ(hint: str = "") -> Difference:
        change = state_of(expected), state_of(given)
        return Difference(path, shown_value(expected), shown_value(given), hint, change, kind)

    if is_null(expected) or is_null(given):
        if not (is_null(expected) and is_null(given)):
            yield differ()
        return
    wanted: Mapping[str, Json] = {"value": expected} if isinstance(expected, str) else expected
    if isinstance(given, str):
        given = {"value": given}
    if not isinstance(given, Mapping):
        yield differ("values are text, never JSON numbers or booleans")
        return
    if wanted.get("unavailable") is True or given.get("unavailable") is True:
        if wanted.get("unavailable") != given.get("unavailable"):
            yield differ()
        return
    kind = kind or TextType()
    problem = _type_problem(kind, given)
    if problem is not None:
        yield differ(problem)
        return
    if isinstance(kind, (ArrayType, MapType, StructType)):
        yield from _compare_nested(kind, wanted, given, path, rules)
        return
    mismatch = _mismatch(kind, wanted, given, rules)
    if mismatch is not None:
        yield differ(mismatch)


def _type_of(document: Json, known: Type | None = None) -> Type | None:
    """Return the type that an expected value says, or else the known one."""
    is_typed = isinstance(document, Mapping) and "type" in document
    return parse_kind(document["type"]) if is_typed else known


def _type_problem(kind: Type, given: Mapping[str, Json]) -> str | None:
    if "type" not in given:
        return None
    try:
        if same_kind(kind, parse_kind(given["type"])):
            return None
    except (ValueError, TypeError):
        return f"{quoted(given['type'])} is not a type of the protocol; it may be left out"
    if isinstance(kind, BytesType):
        return 'the type is bytes: answer {"bytes": base64}'
    return f"the type is {kind_text(kind)}"


def _mismatch(
    kind: Type, expected: Mapping[str, Json], given: Mapping[str, Json], rules: ValueRules
) -> str | None:
    """Return None if both are the same value of a kind; else a hint, which may be empty."""
    if isinstance(kind, (EnumType, SetType)):
        return labels_mismatch(kind, expected, given)
    if "bytes" in expected or "bytes" in given:
        return _bytes_mismatch(kind, expected, given)
    text = given.get("value")
    if not isinstance(text, str):
        return "the member 'value' is required, as text"
    wanted = expected["value"]
    match kind:
        case IntType() | YearType() | BitType():
            return _integer_mismatch(wanted, text)
        case FloatType(bits):
            return _float_mismatch(wanted, text, bits)
        case DecimalType():
            return _decimal_mismatch(wanted, text, scale_needed=rules.scale_needed)
        case DateType() | TimeType() | DatetimeType() | TimestampType():
            return temporal_mismatch(
                kind,
                expected,
                given,
                zone_needed=rules.zone_needed,
                digits_needed=rules.fraction_digits_needed,
            )
        case JsonType():
            return json_difference(wanted, text)
        case VectorType():
            return _vector_mismatch(wanted, text)
        case IntervalType():
            same = wanted == text and expected.get("unit") == given.get("unit")
            return None if same else ""
        case BoolType() if text not in ("true", "false"):
            return "it is 'true' or 'false'"
        case BoolType() | TextType() | UnknownType() | BytesType():
            return None if wanted == text else _text_hint(wanted, text)
        case ArrayType() | MapType() | StructType():
            raise AssertionError("compared by its parts")


def _bytes_mismatch(
    kind: Type, expected: Mapping[str, Json], given: Mapping[str, Json]
) -> str | None:
    if "bytes" not in given:
        return 'bytes are answered as {"bytes": base64}'
    if "bytes" not in expected:
        return f"a {kind_text(kind)} is answered as text"
    return None if expected["bytes"] == given["bytes"] else ""


def _text_hint(expected: str, given: str) -> str:
    if "\ufffd" in given and "\ufffd" not in expected:
        return "U+FFFD is in place of bytes that were lost"
    for charset in ("latin-1", "cp1252"):
        with suppress(UnicodeError):
            if given.encode(charset).decode() == expected:
                return "UTF-8 was read as Latin-1"
    if expected.rstrip(" \0") == given.rstrip(" \0"):
        return "the ends differ: spaces or zero bytes"
    return ""


def went_through_float(expected: int, given: int) -> bool:
    """Return whether an integer is another one's 64-bit float, exactly or in its shortest digits.

    JavaScript writes the shortest: 441349361156227075 becomes 441349361156227100.
    """
    nearest = float(expected)
    return given in (int(nearest), int(Decimal(repr(nearest))))


def _integer_mismatch(expected: str, given: str) -> str | None:
    if not INTEGER.fullmatch(given):
        return "an integer is decimal digits"
    wanted, number = int(expected), int(given)
    if wanted == number:
        return None
    if abs(wanted - number) in (2**8, 2**16, 2**24, 2**32, 2**64):
        return f"off by 2**{abs(wanted - number).bit_length() - 1}: the sign is misread"
    if went_through_float(wanted, number):
        return THROUGH_FLOAT
    if abs(wanted) > _TOO_SMALL and number in (
        -wanted * 2,
        wanted * 2,
        -wanted * 2 - 1,
        -(wanted // 2) - 1,
        wanted // 2,
    ):
        return "zigzag and plain varint are mixed up"
    return ""


def _float_mismatch(expected: str, given: str, bits: int) -> str | None:
    if given in _NOT_FINITE:
        return f"it is written {_NOT_FINITE[given]}"
    if not _FLOAT.fullmatch(given):
        return "it is not a number"
    wanted, number = _read_float(expected, bits), _read_float(given, bits)
    if math.isnan(wanted) or math.isnan(number):
        return None if math.isnan(wanted) and math.isnan(number) else ""
    if wanted != number:
        is_rounded = bits == 64 and _read_float(expected, 32) == number
        return "it went through a 32-bit float" if is_rounded else ""
    same_sign = math.copysign(1, wanted) == math.copysign(1, number)
    return None if same_sign else "the sign of zero is kept"


def _read_float(text: str, bits: int) -> float:
    return read_float32(text) if bits == 32 else float(text)


def _decimal_mismatch(expected: str, given: str, *, scale_needed: bool) -> str | None:
    """Return None for the same number with the same scale; zero has no sign."""
    if expected == given:
        return None
    if not _PLAIN.fullmatch(given):
        return "a decimal is plain digits, without exponent"
    if not _PLAIN.fullmatch(expected):
        return ""
    wanted, number = Decimal(expected), Decimal(given)
    if wanted != number:
        return ""
    same_scale = wanted.as_tuple().exponent == number.as_tuple().exponent
    return None if same_scale or not scale_needed else "the scale is kept"


def _vector_mismatch(expected: str, given: str) -> str | None:
    items = _vector_items(given)
    if items is None:
        return "a vector is numbers in [ ], separated by commas"
    wanted = _vector_items(expected)
    if wanted is None:
        return None if expected == given else ""
    if len(wanted) != len(items):
        return f"{len(wanted)} items are expected, {len(items)} came"
    for index, (one, other) in enumerate(zip(wanted, items, strict=True)):
        if _float_mismatch(one, other, 32) is not None:
            return f"item {index}: {one} is expected"
    return None


def _vector_items(text: str) -> list[str] | None:
    if not (text.startswith("[") and text.endswith("]")):
        return None
    inner = text[1:-1].strip()
    items = [item.strip() for item in inner.split(",")] if inner else []
    return items if all(_FLOAT.fullmatch(item) for item in items) else None


def _compare_nested(
    kind: ArrayType | MapType | StructType,
    expected: Mapping[str, Json],
    given: Mapping[str, Json],
    path: Path,
    rules: ValueRules,
) -> Iterator[Difference]:
    name = {ArrayType: "items", MapType: "entries", StructType: "fields"}[type(kind)]
    wanted, found = expected[name], given.get(name)
    if not isinstance(found, type(wanted)):
        hint = f"the member {name!r} is required"
        yield Difference(path, shown_value(expected), shown_value(given), hint)
    elif isinstance(kind, StructType):
        kinds = {column.name: column.type for column in kind.columns}
        yield from compare_columns(wanted, found, path, rules, kinds)
    elif len(wanted) != len(found):
        yield Difference(path, f"{len(wanted)} {name}", f"{len(found)} {name}")
    elif isinstance(kind, ArrayType):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from compare_values(one, other, (*path, index), rules, kind.item)
    else:
        yield from _compare_entries(kind, wanted, found, path, rules)


def _compare_entries(
    kind: MapType, expected: list[Json], given: list[Json], path: Path, rules: ValueRules
) -> Iterator[Difference]:
    """Pair the entries of two maps by key; their order means nothing."""
    left = [pair for pair in given if isinstance(pair, list) and len(pair) == 2]
    for index, (key, value) in enumerate(expected):
        for pair in left:
            if not any(compare_values(key, pair[0], path, rules, kind.key)):
                left.remove(pair)
                yield from compare_values(value, pair[1], (*path, index), rules, kind.value)
                break
        else:
            yield Difference((*path, index), f"the key {shown_value(key)}", ABSENT_TEXT)


def compare_columns(
    expected: Mapping[str, Json],
    given: Mapping[str, Json],
    path: Path,
    rules: ValueRules,
    kinds: Mapping[str, Type] = NO_KINDS,
) -> Iterator[Difference]:
    """Yield how the columns of a row differ. Absent is neither NULL nor equal to anything."""
    for name, value in expected.items():
        if name in given:
            yield from compare_values(value, given[name], (*path, name), rules, kinds.get(name))
        else:
            alike = [other for other in given if other.casefold() == name.casefold()]
            hint = f"there is {alike[0]!r}" if alike else ""
            change = state_of(value), ABSENT_TEXT
            kind = _type_of(value, kinds.get(name))
            yield Difference((*path, name), shown_value(value), ABSENT_TEXT, hint, change, kind)
    for name, value in given.items():
        if name not in expected:
            hint = "a column that the message does not have is left out" if is_null(value) else ""
            change = ABSENT_TEXT, state_of(value)
            yield Difference((*path, name), ABSENT_TEXT, shown_value(value), hint, change)


_BESIDE_THE_VALUE = ("form", "zone")  # not part of a written type


def same_kind(expected: Type, given: Type) -> bool:
    """Return whether both name one kind, as far as both say."""
    match expected, given:
        case ArrayType(item), ArrayType(other):
            return same_kind(item, other)
        case MapType(key, value), MapType(other_key, other_value):
            return same_kind(key, other_key) and same_kind(value, other_value)
        case StructType(), StructType():
            return True  # its columns are compared one by one
        case _:
            pass
    if type(expected) is not type(given):
        return False
    pairs = (
        (getattr(expected, field.name), getattr(given, field.name))
        for field in fields(expected)
        if field.name not in _BESIDE_THE_VALUE
    )
    return all(ours is None or theirs is None or ours == theirs for ours, theirs in pairs)


def labels_mismatch(
    kind: EnumType | SetType, expected: Mapping[str, Json], given: Mapping[str, Json]
) -> str | None:
    """Return None if both are the same value; else a hint, which may be empty.

    A value given as text alone counts as whichever of number and label is expected.
    """
    members = dict(given)
    text = members.pop("value", None)
    if text is not None and "index" not in members and "label" not in members:
        is_number = "index" in expected and isinstance(text, str) and INTEGER.fullmatch(text)
        members["index" if is_number else "label"] = text
    for name in ("index", "label"):
        if name in members and not isinstance(members[name], str):
            return f"the member {name!r} is text"
    if "index" in members and not INTEGER.fullmatch(members["index"]):
        return "the index is decimal digits"
    both = [name for name in ("index", "label") if name in expected and name in members]
    if both:
        differ = [name for name in both if not _same(kind, name, expected[name], members[name])]
        return None if not differ else f"the {differ[0]} differs" if len(both) > 1 else ""
    if "index" not in members and "label" not in members:
        return "one of the members 'index' and 'label' is required"
    labels = kind.labels or _labels_of(given)
    if labels is None:
        wanted = "index" if "index" in expected else "label"
        return f"the message carries the {wanted}, and the labels are not known"
    known = type(kind)(labels)
    return None if _number(known, expected) == _number(known, members) else ""


def _same(kind: EnumType | SetType, name: str, expected: str, given: str) -> bool:
    if name == "index":
        return int(expected) == int(given)
    if isinstance(kind, SetType):
        return set(expected.split(",")) == set(given.split(","))
    return expected == given


def _labels_of(given: Mapping[str, Json]) -> tuple[str, ...] | None:
    if "type" not in given:
        return None
    kind = parse_kind(given["type"])  # read before, with the same text
    return kind.labels if isinstance(kind, (EnumType, SetType)) else None


def _number(kind: EnumType | SetType, members: Mapping[str, Json]) -> int | None:
    if "index" in members:
        return int(members["index"])
    label = members["label"]
    if isinstance(kind, SetType):
        return mask_of_labels(kind, label)
    number = index_of_label(kind, label)
    return 0 if number is None and not label else number  # MySQL's value for what is no label
