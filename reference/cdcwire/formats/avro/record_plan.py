"""Record functions: one generated for each plan of a record, unrolled field by field.

The source is built from field numbers and from the forms of ``plans`` only. Nothing of a message or
of a schema becomes source, and the branch of NULL is one of two literals.

The functions check what the plain decoder checks, but say only *that* something is wrong. They
raise one of ``IRREGULARITIES``, and the plain decoder then says what. Slices are cut without a look
at the end of the bytes. A wrong length shows when the end of the last field is not their end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from cdcwire.core.compiled import Irregular, compile_function, indented
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
from cdcwire.formats.avro.values import EXACT, UINT64_END, decimal_of_bytes, model_value
from cdcwire.model.floats import narrow_float32
from cdcwire.mysql.values import MAX_DECIMAL_TEXT, PLAIN_DECIMAL

RecordFunction: TypeAlias = "Callable[[bytes, int], tuple[tuple[Any, ...], tuple[Any, ...]]]"
"""Takes bytes and where the record begins; returns columns and fields of the extension."""

MAX_FIELDS = 512  # of a generated function; beyond that the plain decoder reads
_MAX_USUAL_DECIMAL = 32  # bytes; DECIMAL(65) has 27
_MAX_FIFTH_BYTE = 0x0F  # of 32 bits

_OPS_OF_LETTERS = {ord(letter): op for letter, op in OPS.items() if letter}

_SMALL = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))
_SMALL_UNSIGNED = tuple(value if value >= 0 else value + UINT64_END for value in _SMALL)

# The lengths of one byte; 0 for all that ``read_length`` reads.
_LENGTHS = tuple(byte >> 1 if byte < 128 and byte % 2 == 0 else 0 for byte in range(256))

# 14 bits of two varint bytes by their little-endian number: both go on, or the second is the last.
_GO_ON = {
    low | 0x80 | (high | 0x80) << 8: low | high << 7 for low in range(128) for high in range(128)
}
_END = {low | 0x80 | high << 8: low | high << 7 for low in range(128) for high in range(128)}
_unpack5: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHB").unpack_from
_unpack6: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHH").unpack_from
_unpack7: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHHB").unpack_from
_unpack8: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHHH").unpack_from
_unpack9: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHHHB").unpack_from
_INTEGERS = {
    Form.INT: 32,
    Form.UINT32_INT: 32,
    Form.LONG: 64,
    Form.UINT32_LONG: 64,
    Form.INT32_LONG: 64,
    Form.UINT64_LONG: 64,
}
_TEXTS = frozenset({Form.TEXT, Form.STRING, Form.UINT64_TEXT, Form.DECIMAL_TEXT, Form.VECTOR})


def read_long(data: bytes, position: int) -> tuple[int, int]:
    """Return the long of three or more bytes at a place, and where it ends."""
    byte = data[position + 2]
    if byte < 128:
        value = data[position] + (data[position + 1] << 7) + (byte << 14) - 0x4080
        return (value >> 1) ^ -(value & 1), position + 3
    byte = data[position + 3]
    if byte < 128:
        value = data[position] + (data[position + 1] << 7) + (data[position + 2] << 14)
        value += (byte << 21) - 0x204080
        return (value >> 1) ^ -(value & 1), position + 4
    return read_large(data, position)


def read_large(data: bytes, position: int) -> tuple[int, int]:
    """Return the long of five or more bytes at a place, and where it ends."""
    go_on = _GO_ON
    if data[position + 4] < 128:
        first, second, last = _unpack5(data, position)
        value = go_on[first] | go_on[second] << 14 | last << 28
        end = position + 5
    elif data[position + 5] < 128:
        first, second, third = _unpack6(data, position)
        value = go_on[first] | go_on[second] << 14 | _END[third] << 28
        end = position + 6
    elif data[position + 6] < 128:
        first, second, third, last = _unpack7(data, position)
        value = go_on[first] | go_on[second] << 14 | go_on[third] << 28 | last << 42
        end = position + 7
    elif data[position + 7] < 128:
        first, second, third, fourth = _unpack8(data, position)
        value = go_on[first] | go_on[second] << 14 | go_on[third] << 28 | _END[fourth] << 42
        end = position + 8
    else:
        first, second, third, fourth, last = _unpack9(data, position)
        value = go_on[first] | go_on[second] << 14 | go_on[third] << 28 | go_on[fourth] << 42
        end = position + 9
        if last < 128:
            value |= last << 56
        else:
            tenth = data[end]
            if tenth > 1:
                raise Irregular
            value |= (last & 0x7F) << 56 | tenth << 63
            end += 1
    return (value >> 1) ^ -(value & 1), end


def read_int(data: bytes, position: int) -> tuple[int, int]:
    """Return the int of five bytes at a place, and where it ends."""
    first, second, last = _unpack5(data, position)
    if last > _MAX_FIFTH_BYTE:
        raise Irregular
    value = _GO_ON[first] | _GO_ON[second] << 14 | last << 28
    return (value >> 1) ^ -(value & 1), position + 5


def read_length(data: bytes, position: int) -> tuple[int, int]:
    """Return the length at a place, which is 0 or not of one byte, and where it ends."""
    byte = data[position]
    if byte == 0:
        return 0, position + 1
    following = data[position + 1]
    if byte > 0x7F >= following:
        value, end = byte + (following << 7) - 0x80, position + 2
        if value & 1:
            raise Irregular
        return value >> 1, end
    if byte <= 0x7F:
        raise Irregular  # negative
    size, end = read_long(data, position)
    if size < 0:
        raise Irregular
    return size, end


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
        "SMALL": _SMALL,
        "SMALL_UNSIGNED": _SMALL_UNSIGNED if unsigned_wrap else _SMALL,
        "LENGTHS": _LENGTHS,
        "OPS": OPS,
        "OPS_OF_LETTERS": _OPS_OF_LETTERS,
        "is_checksum": is_checksum,
        "read_int": read_int,
        "read_long": read_long,
        "read_large": read_large,
        "read_length": read_length,
        "unpack6": _unpack6,
        "unpack9": _unpack9,
        "GO_ON": _GO_ON,
        "END": _END,
        "unpack_float": struct.Struct("<f").unpack_from,
        "unpack_double": struct.Struct("<d").unpack_from,
        "narrow": narrow_float32,
        "decimal_of_bytes": decimal_of_bytes,
        "scaled": EXACT.scaleb,
        "Decimal": Decimal,
        "is_decimal": PLAIN_DECIMAL.fullmatch,
        "from_bytes": int.from_bytes,
        "Irregular": Irregular,
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
    lines += [
        "if position != len(data): raise Irregular",
        f"return ({columns}), ({extension})",
    ]
    return compile_function("read_record", "data, position", lines, names)


def _field_lines(index: int, field: FieldPlan, unsigned_wrap: bool) -> list[str]:
    if field.is_extension and field.name in _TIMES:
        return _time_lines(index, field)
    if field.is_extension and field.name == OP_FIELD:
        return _op_lines(index, field)
    if field.null_index is None:
        return [*_value_lines(index, field, unsigned_wrap, 0), *_extension_lines(index, field)]
    # The index of a branch is one byte here: 0 or 2, which are the branches 0 and 1.
    null, other = (0, 2) if field.null_index == 0 else (2, 0)
    return [
        "branch = data[position]",
        f"if branch == {other}:",
        *indented(_value_lines(index, field, unsigned_wrap, 1)),
        f"elif branch == {null}:",
        f" v{index} = None",
        " position += 1",
        "else: raise Irregular",
    ]


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
        "(GO_ON[a] >> 1 | GO_ON[b] << 13) | END[c] << 27",
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
    at = f"position + {skip}" if skip else "position"
    match form:
        case Form.FLOAT | Form.FLOAT_DOUBLE | Form.DOUBLE:
            size, name = (4, "float") if form is Form.FLOAT else (8, "double")
            number = f"unpack_{name}(data, {at})[0]"
            number = f"narrow({number})" if form is Form.FLOAT_DOUBLE else number
            return [f"{value} = {number}", f"position += {size + skip}"]
        case Form.BOOLEAN:
            return [
                f"{value} = data[{at}]",
                f"if {value} > 1: raise Irregular",
                f"{value} = {value} == 1",
                f"position += {1 + skip}",
            ]
        case _:
            pass
    lines = [
        f"size = LENGTHS[data[{at}]]",
        "if size:",
        f" position += {1 + skip}",
        " end = position + size",
        "else:",
        f" size, position = read_length(data, {at})",
        " end = position + size",
    ]
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
    reader = "read_int" if _INTEGERS[form] == 32 else "read_large"
    at = [f"position + {skip + more}" if skip + more else "position" for more in range(4)]
    zigzag = f" {value} = ({value} >> 1) ^ -({value} & 1)"
    lines = [
        f"byte = data[{at[0]}]",
        "if byte < 128:",
        f" {value} = {small}[byte]",
        f" position += {skip + 1}",
        f"elif data[{at[1]}] < 128:",
        f" {value} = byte + (data[{at[1]}] << 7) - 0x80",
        zigzag,
        f" position += {skip + 2}",
        f"elif data[{at[2]}] < 128:",
        f" {value} = byte + (data[{at[1]}] << 7) + (data[{at[2]}] << 14) - 0x4080",
        zigzag,
        f" position += {skip + 3}",
        f"elif data[{at[3]}] < 128:",
        f" {value} = byte + (data[{at[1]}] << 7) + (data[{at[2]}] << 14)"
        f" + (data[{at[3]}] << 21) - 0x204080",
        zigzag,
        f" position += {skip + 4}",
        "else:",
        f" {value}, position = {reader}(data, {at[0]})",
    ]
    if is_wrapped:
        lines.append(f"if {value} < 0: {value} += {UINT64_END}")
    elif form in (Form.UINT32_INT, Form.UINT32_LONG):
        lines.append(f"if not 0 <= {value} <= 4294967295: raise Irregular")
    elif form is Form.INT32_LONG:
        lines.append(f"if not -2147483648 <= {value} <= 2147483647: raise Irregular")
    return lines
