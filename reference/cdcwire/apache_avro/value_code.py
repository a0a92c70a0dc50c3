"""Code that reads values of Avro: numbers, lengths and branches, as lines of generated functions.

The lines read ``data`` at ``position``, and move it. They check what the plain reader checks, but
say only *that* something is wrong: they raise one of ``IRREGULARITIES``. Slices are cut without a
look at the end of the bytes. So the last line of a function compares ``position`` with the end: a
wrong length shows there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cdcwire.core.compiled import Irregular, indented

END = "if position != len(data): raise Irregular"
"""The last line: all bytes were read."""
_MAX_FIFTH_BYTE = 0x0F  # of 32 bits

SMALL = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))

# The lengths of one byte; 0 for all that ``read_length`` reads.
_LENGTHS = tuple(byte >> 1 if byte < 128 and byte % 2 == 0 else 0 for byte in range(256))

# 14 bits of two varint bytes by their little-endian number: both go on, or the second is the last.
GO_ON = {
    low | 0x80 | (high | 0x80) << 8: low | high << 7 for low in range(128) for high in range(128)
}
LAST = {low | 0x80 | high << 8: low | high << 7 for low in range(128) for high in range(128)}
_unpack5: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHB").unpack_from
unpack6: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHH").unpack_from
_unpack7: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHHB").unpack_from
_unpack8: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHHH").unpack_from
unpack9: Callable[[bytes, int], tuple[int, ...]] = struct.Struct("<HHHHB").unpack_from


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
    go_on = GO_ON
    if data[position + 4] < 128:
        first, second, last = _unpack5(data, position)
        value = go_on[first] | go_on[second] << 14 | last << 28
        end = position + 5
    elif data[position + 5] < 128:
        first, second, third = unpack6(data, position)
        value = go_on[first] | go_on[second] << 14 | LAST[third] << 28
        end = position + 6
    elif data[position + 6] < 128:
        first, second, third, last = _unpack7(data, position)
        value = go_on[first] | go_on[second] << 14 | go_on[third] << 28 | last << 42
        end = position + 7
    elif data[position + 7] < 128:
        first, second, third, fourth = _unpack8(data, position)
        value = go_on[first] | go_on[second] << 14 | go_on[third] << 28 | LAST[fourth] << 42
        end = position + 8
    else:
        first, second, third, fourth, last = unpack9(data, position)
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
    value = GO_ON[first] | GO_ON[second] << 14 | last << 28
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


NAMES: Mapping[str, Any] = MappingProxyType(
    {
        "SMALL": SMALL,
        "LENGTHS": _LENGTHS,
        "read_int": read_int,
        "read_long": read_long,
        "read_large": read_large,
        "read_length": read_length,
        "unpack_float": struct.Struct("<f").unpack_from,
        "unpack_double": struct.Struct("<d").unpack_from,
        "from_bytes": int.from_bytes,
        "Irregular": Irregular,
    }
)
"""The names that the lines use."""


def integer_lines(value: str, bits: int, skip: int = 0, small: str = "SMALL") -> list[str]:
    """Read an integer of 32 or 64 bits; ``skip`` bytes at the position were read before.

    ``small``: the table of the integers of one byte.
    """
    reader = "read_int" if bits == 32 else "read_large"
    at = [f"position + {skip + more}" if skip + more else "position" for more in range(4)]
    zigzag = f" {value} = ({value} >> 1) ^ -({value} & 1)"
    return [
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


def float_lines(value: str, bits: int, skip: int = 0) -> list[str]:
    """Read a float of 32 or 64 bits."""
    name = "float" if bits == 32 else "double"
    return [
        f"{value} = unpack_{name}(data, position + {skip})[0]",
        f"position += {bits // 8 + skip}",
    ]


def boolean_lines(value: str, skip: int = 0) -> list[str]:
    """Read a boolean."""
    return [
        f"{value} = data[position + {skip}]",
        f"if {value} > 1: raise Irregular",
        f"{value} = {value} == 1",
        f"position += {1 + skip}",
    ]


def length_lines(skip: int = 0) -> list[str]:
    """Read the length of bytes, which are then those from ``position`` to ``end``."""
    at = f"position + {skip}" if skip else "position"
    return [
        f"size = LENGTHS[data[{at}]]",
        "if size:",
        f" position += {1 + skip}",
        " end = position + size",
        "else:",
        f" size, position = read_length(data, {at})",
        " end = position + size",
    ]


def branch_lines(value: str, null_index: int, lines: Sequence[str]) -> list[str]:
    """Read a value that may be NULL. ``lines``: of the other values, after the index's one byte."""
    null, other = (0, 2) if null_index == 0 else (2, 0)
    return [
        "branch = data[position]",
        f"if branch == {other}:",
        *indented(lines),
        f"elif branch == {null}:",
        f" {value} = None",
        " position += 1",
        "else: raise Irregular",
    ]
