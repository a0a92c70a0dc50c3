"""Row functions: one generated for each sequence of value forms, unrolled column by column.

A group of columns begins with names, types and flags, which rows of one table repeat byte for byte.
The rest, lengths and values, is read by a function made here. Its source is built from column
numbers and from the forms of this module only; nothing of a message becomes source.

The functions check what the plain decoder checks, but say only *that* something is wrong. They
raise one of ``IRREGULARITIES``, and the plain decoder then says what. Slices are cut without a look
at the end of the group. A wrong length shows when the end of the last value is not the end of the
group. Integers of two bytes are kept in a bounded dictionary, as tables repeat numbers. Longer ones
seldom come twice. They are read two bytes at a time, by tables of all pairs of bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular, compile_function
from cdcwire.mysql import types
from cdcwire.mysql.values import is_vector_text

# Forms of a value.
SKIPPED = 0  # not asked for
SIGNED = 1
UNSIGNED = 2
FLOAT = 3
DOUBLE = 4
TEXT = 5
BYTES = 6
VECTOR = 7
NOTHING = 8  # types that are always NULL

RowFunction: TypeAlias = Callable[[bytes, int, int], "tuple[Any, ...]"]
"""Takes a message, where the lengths of a group begin, and where the group ends."""

MAX_COLUMNS = 512  # of a generated function; beyond that the plain decoder reads
MAX_VARINT_BYTES = 10
_MAX_KNOWN_INTEGERS = 1 << 14
_MAX_KNOWN_BYTES = 5

split_varints: Callable[..., list[bytes]] = re.compile(rb"(?s)[\x80-\xff]*.").findall
"""Returns the bytes of each varint, and bytes after the last whole varint as one that none reads.

The dot also matches a byte that says "more". Otherwise a region of such bytes would be searched
from each of them to its end.
"""

_ONE_BYTE_UNSIGNED = tuple(range(128))
_ONE_BYTE_SIGNED = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))

# From the byte of a length to the length, as a signed byte; -1 is NULL.
_IRREGULAR_LENGTH = 0x80  # more than one byte, or a negative length
_LENGTHS = bytes(
    _IRREGULAR_LENGTH
    if byte > 0x7F
    else byte >> 1
    if byte % 2 == 0
    else 0xFF
    if byte == 1
    else 0x80
    for byte in range(256)
)


def form_of(code: int, flags: int) -> int:
    """Return the form of the values of a type code and flags. Source: craft, value encoding."""
    if code in types.INTEGER_TYPES:
        return UNSIGNED if flags & types.FLAG_UNSIGNED else SIGNED
    if code in types.TEXT_TYPES:
        return TEXT
    if code in types.STRING_TYPES:
        return BYTES if flags & types.FLAG_BINARY else TEXT
    if code in types.UNSIGNED_TYPES:
        return UNSIGNED
    plain = {
        types.TYPE_YEAR: SIGNED,
        types.TYPE_FLOAT: FLOAT,
        types.TYPE_DOUBLE: DOUBLE,
        types.TYPE_VECTOR: VECTOR,
    }
    return plain.get(code, NOTHING)


def _pieces(is_last: bool) -> list[int]:
    """Return the numbers of two bytes of a varint, by the two bytes as a little-endian number."""
    found = [_WRONG_PIECE] * (1 << 16)
    for high in range(1 << 7):
        start = high << 8 | (0x80 if is_last else 0x8080)
        found[start : start + 0x80] = range(high << 7, (high + 1) << 7)
    return found


# Less than all other pieces of a varint together, so that it makes any sum negative.
_WRONG_PIECE = -1 << 80
_VARINT_PIECES = {
    "PIECES": _pieces(False),
    "LAST_PIECES": _pieces(True),
    "LAST_BYTES": [*range(1 << 7), *[_WRONG_PIECE] * (1 << 7)],
}


def _varint_lines(size: int, is_signed: bool) -> list[str]:
    """Return the lines of code that read a varint of ``size`` bytes at a position.

    Two bytes are read in one step. Four bytes make a number that Python adds up quickly.
    """
    names = [f"p{index}" for index in range((size + 1) // 2)]
    pieces = [f"PIECES[{name}]" for name in names]
    pieces[-1] = f"{'LAST_BYTES' if size % 2 else 'LAST_PIECES'}[{names[-1]}]"
    fours = [" + 16384 * ".join(pieces[start : start + 2]) for start in range(0, len(pieces), 2)]
    parts = [f"({four} << {28 * index})" if index else four for index, four in enumerate(fours)]
    too_large = " or number >> 64" if size == MAX_VARINT_BYTES else ""
    return [
        f"{','.join(names)}, = unpack(value, position)",
        f"number = {' + '.join(parts)}",
        f"if number < 0{too_large}: raise Irregular",
        "return ~(number >> 1) if number & 1 else number >> 1" if is_signed else "return number",
    ]


_ReadAt: TypeAlias = "Callable[[bytes, int], int]"


def _varint_readers(is_signed: bool) -> tuple[_ReadAt, ...]:
    """Return the functions that read varints at a position, by their number of bytes."""

    def no_bytes(value: bytes, position: int) -> int:
        raise Irregular

    readers: list[_ReadAt] = [no_bytes]
    for size in range(1, MAX_VARINT_BYTES + 1):
        unpack = struct.Struct(f"<{size // 2}H{size % 2}B").unpack_from
        names = {"Irregular": Irregular, "unpack": unpack, **_VARINT_PIECES}
        lines = _varint_lines(size, is_signed)
        readers.append(compile_function("read", "value, position", lines, names))
    return tuple(readers)


_UNSIGNED_READERS = _varint_readers(False)
_SIGNED_READERS = _varint_readers(True)


def read_uvarint(raw: bytes) -> int:
    """Return the unsigned varint that is exactly ``raw``. Raises: Irregular, IndexError."""
    return _UNSIGNED_READERS[len(raw)](raw, 0)


def read_varint(raw: bytes) -> int:
    """Return the zigzag varint that is exactly ``raw``. Raises: Irregular, IndexError."""
    return _SIGNED_READERS[len(raw)](raw, 0)


Integers: TypeAlias = "Memo[bytes, int]"
"""The numbers of varints by their bytes."""


def known_integers(read: Callable[[bytes], int]) -> Integers:
    """Return an empty memo of the functions that read varints."""
    return Memo(read, _MAX_KNOWN_INTEGERS, _MAX_KNOWN_BYTES)


def read_lengths(value: bytes, start: int, end: int, count: int) -> tuple[tuple[int, ...], int]:
    """Return the lengths of a group, some of several bytes, and where the values begin.

    Raises: Irregular, or IndexError, unless they fill the group exactly.
    """
    lengths = []
    position = start
    total = 0
    for _ in range(count):
        byte = value[position]
        position += 1
        coded = byte & 0x7F
        shift = 7
        while byte > 0x7F:
            if shift > 63:
                raise Irregular
            byte = value[position]
            position += 1
            coded |= (byte & 0x7F) << shift
            shift += 7
        if coded & 1:
            if coded != 1:
                raise Irregular
            lengths.append(-1)
        else:
            lengths.append(coded >> 1)
            total += coded >> 1
    if position + total != end:
        raise Irregular
    return tuple(lengths), position


def make_row_function(forms: bytes, signed: Integers, unsigned: Integers) -> RowFunction:
    """Return a function that reads the lengths and values of columns of these forms."""
    names = {
        "LENGTHS": _LENGTHS,
        "unpack_lengths": struct.Struct(f"{len(forms)}b").unpack,
        "read_lengths": read_lengths,
        "SMALL_SIGNED": _ONE_BYTE_SIGNED,
        "SMALL_UNSIGNED": _ONE_BYTE_UNSIGNED,
        "signed": signed,
        "unsigned": unsigned,
        "READ_SIGNED": _SIGNED_READERS,
        "READ_UNSIGNED": _UNSIGNED_READERS,
        "unpack_double": struct.Struct("<d").unpack_from,
        "pack_float": struct.Struct("<f").pack,
        "unpack_float": struct.Struct("<f").unpack,
        "is_vector_text": is_vector_text,
        "Irregular": Irregular,
    }
    return compile_function("read_row", "value, start, end", _row_lines(forms), names)


def _row_lines(forms: bytes) -> list[str]:
    count = len(forms)
    wanted = [index for index, form in enumerate(forms) if form != SKIPPED]
    lines = [
        f"position = start + {count}",
        "lengths = value[start:position].translate(LENGTHS)",
        f"if {_IRREGULAR_LENGTH} in lengths:",
        f" lengths, position = read_lengths(value, start, end, {count})",
        "else:",
        " lengths = unpack_lengths(lengths)",
    ]
    if len(wanted) == count:
        lines.append(f"{''.join(f'n{index},' for index in wanted)} = lengths")
    index = 0
    while index < count:
        if forms[index] == SKIPPED:
            stop = next((each for each in wanted if each > index), count)
            lines += _skip(index, stop)
            index = stop
            continue
        if len(wanted) != count:
            lines.append(f"n{index} = lengths[{index}]")
        lines += _read(index, forms[index])
        index += 1
    lines += [
        "if position != end: raise Irregular",
        f"return ({''.join(f'v{index},' for index in wanted)})",
    ]
    return lines


def _skip(start: int, stop: int) -> list[str]:
    """Move past columns ``start`` to ``stop``; a NULL counts -1 in the sum of lengths."""
    run = f"lengths[{start}:{stop}]"
    return [f"run = {run}", "position += sum(run) + run.count(-1)"]


def _read(index: int, form: int) -> list[str]:
    """Read the value of one column into v<index>."""
    size, value = f"n{index}", f"v{index}"
    null = ["else:", f" {value} = None"]
    if form in (SIGNED, UNSIGNED):
        name = "signed" if form == SIGNED else "unsigned"
        return [
            f"if {size} == 1:",
            f" {value} = SMALL_{name.upper()}[value[position]]",
            " position += 1",
            f"elif {size} == 2:",
            " stop = position + 2",
            f" {value} = {name}[value[position:stop]]",
            " position = stop",
            f"elif {size} >= 0:",
            f" {value} = READ_{name.upper()}[{size}](value, position)",
            f" position += {size}",
            *null,
        ]
    if form in (FLOAT, DOUBLE):
        double = "unpack_double(value, position)[0]"
        number = double if form == DOUBLE else f"unpack_float(pack_float({double}))[0]"
        return [
            f"if {size} == 8:",
            f" {value} = {number}",
            " position += 8",
            f"elif {size} >= 0: raise Irregular",
            *null,
        ]
    if form == NOTHING:
        return [f"if {size} >= 0: raise Irregular", f"{value} = None"]
    decode = "" if form == BYTES else ".decode()"
    lines = [
        f"if {size} >= 0:",
        f" stop = position + {size}",
        f" {value} = value[position:stop]{decode}",
        " position = stop",
    ]
    if form == VECTOR:
        lines.append(f" if not is_vector_text({value}): raise Irregular")
    return [*lines, *null]
