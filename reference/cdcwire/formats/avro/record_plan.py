"""Record functions: one generated for each plan of a record, unrolled field by field.

The source is built from field numbers and from the forms of ``plans`` only. Nothing of a message or
of a schema becomes source, and the branch of NULL is one of two literals.

``cdcwire.apache_avro.value_code`` has the lines that read the values of Avro's types.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from cdcwire.apache_avro.value_code import (
    END,
    GO_ON,
    LAST,
    NAMES,
    SMALL,
    boolean_lines,
    branch_lines,
    float_lines,
    integer_lines,
    length_lines,
    unpack6,
    unpack9,
)
from cdcwire.core.compiled import Irregular, compile_function, indented
from cdcwire.core.limits import UINT64_END
from cdcwire.formats.avro.extension import OPS, is_checksum
from cdcwire.formats.avro.plans import (
    CHECKSUM_FIELD,
    COMMIT_TS_FIELD,
    OP_FIELD,
    PHYSICAL_TIME_FIELD,
    FieldPlan,
    Form,
    RecordPlan,
)
from cdcwire.formats.avro.values import EXACT, decimal_of_bytes, model_value
from cdcwire.model.floats import narrow_float32
from cdcwire.mysql.values import MAX_DECIMAL_TEXT, PLAIN_DECIMAL

RecordFunction: TypeAlias = "Callable[[bytes, int], tuple[tuple[Any, ...], tuple[Any, ...]]]"
"""Takes bytes and where the record begins; returns columns and fields of the extension."""

MAX_FIELDS = 512  # of a generated function; beyond that the plain decoder reads
_MAX_USUAL_DECIMAL = 32  # bytes; DECIMAL(65) has 27

_OPS_OF_LETTERS = {ord(letter): op for letter, op in OPS.items() if letter}

_SMALL_UNSIGNED = tuple(value if value >= 0 else value + UINT64_END for value in SMALL)

_INTEGERS = {
    Form.INT: 32,
    Form.UINT32_INT: 32,
    Form.LONG: 64,
    Form.UINT32_LONG: 64,
    Form.INT32_LONG: 64,
    Form.UINT64_LONG: 64,
}
_TEXTS = frozenset({Form.TEXT, Form.STRING, Form.UINT64_TEXT, Form.DECIMAL_TEXT, Form.VECTOR})


def _converter(plan: FieldPlan) -> Callable[[Any], Any]:
    return lambda datum: model_value(plan, datum)


def make_record_function(
    plan: RecordPlan, wanted: tuple[int, ...], unsigned_wrap: bool
) -> RecordFunction:
    """Return the function of a plan; ``wanted``: the places of the columns that it returns.

    Raises: Irregular for records that only the plain decoder reads.
    """
    odd = (Form.OTHER, Form.BEFORE)
    if len(plan.fields) > MAX_FIELDS or any(field.form in odd for field in plan.fields):
        raise Irregular
    names: dict[str, Any] = {
        **NAMES,
        "SMALL_UNSIGNED": _SMALL_UNSIGNED if unsigned_wrap else SMALL,
        "OPS": OPS,
        "OPS_OF_LETTERS": _OPS_OF_LETTERS,
        "is_checksum": is_checksum,
        "unpack6": unpack6,
        "unpack9": unpack9,
        "GO_ON": GO_ON,
        "LAST": LAST,
        "narrow": narrow_float32,
        "decimal_of_bytes": decimal_of_bytes,
        "scaled": EXACT.scaleb,
        "Decimal": Decimal,
        "is_decimal": PLAIN_DECIMAL.fullmatch,
    }
    lines: list[str] = []
    for index, field in enumerate(plan.fields):
        if field.form is Form.DECIMAL_BYTES:
            names[f"scale{index}"] = field.scale
            names[f"exponent{index}"] = -field.scale
        elif field.form in (Form.UINT64_TEXT, Form.VECTOR):
            names[f"convert{index}"] = _converter(field)
        lines += _field_lines(index, field, unsigned_wrap)
    columns = "".join(f"v{index}," for index in wanted)
    extension = "".join(f"v{index}," for index in plan.extension.values())
    lines += [END, f"return ({columns}), ({extension})"]
    return compile_function("read_record", "data, position", lines, names)


def _field_lines(index: int, field: FieldPlan, unsigned_wrap: bool) -> list[str]:
    if field.is_extension and field.name in _TIMES:
        return _time_lines(index, field)
    if field.is_extension and field.name == OP_FIELD:
        return _op_lines(index, field)
    if field.null_index is None:
        return [*_value_lines(index, field, unsigned_wrap, 0), *_extension_lines(index, field)]
    lines = _value_lines(index, field, unsigned_wrap, 1)
    return branch_lines(f"v{index}", field.null_index, lines)


# Every TSO from 1975 to 2526 has 9 bytes, and its milliseconds until 2039 have 6. The lowest bit is
# the sign. Numbers of up to 30 bits are put together first, as longer ones take more time.
_TIMES = {
    COMMIT_TS_FIELD: (
        "a, b, c, d, e = unpack9(data, position)",
        "GO_ON[a] >> 1 | GO_ON[b] << 13 | (GO_ON[c] | GO_ON[d] << 14 | e << 28) << 27",
        9,
    ),
    PHYSICAL_TIME_FIELD: (
        "a, b, c = unpack6(data, position)",
        "(GO_ON[a] >> 1 | GO_ON[b] << 13) | LAST[c] << 27",
        6,
    ),
}


def _time_lines(index: int, field: FieldPlan) -> list[str]:
    """Read a timestamp of its usual size, which no other number of these bytes has.

    Negative ones are left to the plain decoder.
    """
    unpack, value, size = _TIMES[field.name]
    last = f"data[position + {size - 1}]"
    return [
        f"if data[position] & 129 != 128 or {last} > 127: raise Irregular",
        unpack,
        f"v{index} = {value}",
        f"position += {size}",
    ]


def _op_lines(index: int, field: FieldPlan) -> list[str]:
    """Read the operation, which is one letter or, seldom, another text."""
    return [
        "if data[position] == 2:",
        f" v{index} = OPS_OF_LETTERS[data[position + 1]]",
        " position += 2",
        "else:",
        *indented([*_value_lines(index, field, False, 0), f"v{index} = OPS[v{index}]"]),
    ]


def _extension_lines(index: int, field: FieldPlan) -> list[str]:
    if not field.is_extension:
        return []
    if field.name == CHECKSUM_FIELD:
        return [f"if v{index} and not is_checksum(v{index}): raise Irregular"]
    return []


def _value_lines(index: int, field: FieldPlan, unsigned_wrap: bool, skip: int) -> list[str]:
    """Read one value into v<index>; ``skip`` bytes at the position were read before."""
    form, value = field.form, f"v{index}"
    if form in _INTEGERS:
        return _integer_lines(form, value, unsigned_wrap, skip)
    match form:
        case Form.FLOAT | Form.DOUBLE:
            return float_lines(value, 32 if form is Form.FLOAT else 64, skip)
        case Form.FLOAT_DOUBLE:
            return [*float_lines(value, 64, skip), f"{value} = narrow({value})"]
        case Form.BOOLEAN:
            return boolean_lines(value, skip)
        case _:
            pass
    lines = length_lines(skip)
    cut = "data[position:end]"
    if form in _TEXTS:
        cut += ".decode()"
    if form is Form.DECIMAL_BYTES:
        number = f"from_bytes({cut}, 'big', signed=True)"
        lines += [
            f"if 0 < end - position <= {_MAX_USUAL_DECIMAL}:",
            f" {value} = scaled({number}, exponent{index})",
            f"else: {value} = decimal_of_bytes({cut}, scale{index})",
            "position = end",
        ]
        return lines
    if form is Form.DECIMAL_TEXT:
        lines += [f"text = {cut}"]
        lines += [f"if len(text) > {MAX_DECIMAL_TEXT} or not is_decimal(text): raise Irregular"]
        cut = "Decimal(text)"
    elif form is Form.BIT:
        lines.append("if not 1 <= end - position <= 8: raise Irregular")
        cut = f"from_bytes({cut}, 'big')"
    elif form in (Form.UINT64_TEXT, Form.VECTOR):
        cut = f"convert{index}({cut})"
    return [*lines, f"{value} = {cut}", "position = end"]


def _integer_lines(form: Form, value: str, unsigned_wrap: bool, skip: int) -> list[str]:
    is_wrapped = form is Form.UINT64_LONG and unsigned_wrap
    small = "SMALL_UNSIGNED" if is_wrapped else "SMALL"
    lines = integer_lines(value, _INTEGERS[form], skip, small)
    if is_wrapped:
        lines.append(f"if {value} < 0: {value} += {UINT64_END}")
    elif form in (Form.UINT32_INT, Form.UINT32_LONG):
        lines.append(f"if not 0 <= {value} <= 4294967295: raise Irregular")
    elif form is Form.INT32_LONG:
        lines.append(f"if not -2147483648 <= {value} <= 2147483647: raise Irregular")
    return lines
