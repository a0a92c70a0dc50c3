"""The values that decoders get wrong: borders of each kind, and what looks like something else.

Simplest first in every list. Used by the strategies, which draw them often, and free for others.
"""

from __future__ import annotations

import struct
from decimal import Decimal

_MIN_SUBNORMAL = 5e-324
_MAX_DOUBLE = 1.7976931348623157e308


def _float32(bits: int) -> float:
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def integers(bits: int, *, is_unsigned: bool) -> tuple[int, ...]:
    """Return the border values of an integer type: of its width, of varints, of doubles."""
    low, high = (0, (1 << bits) - 1) if is_unsigned else (-1 << bits - 1, (1 << bits - 1) - 1)
    borders = [0, 1, -1, low, high, low + 1, high - 1, 1 << bits - 1, (1 << bits - 1) - 1]
    borders += [63, 64, -64, -65, 127, 128, 8191, 8192, -8192, -8193, 16383, 16384]  # varints
    borders += [(1 << 53) - 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, 1 << 63, (1 << 63) - 1]
    return tuple(dict.fromkeys(value for value in borders if low <= value <= high))


UINT64 = integers(64, is_unsigned=True)
INT64 = integers(64, is_unsigned=False)

FLOAT64 = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e-6,
    9.9e-7,
    1e-7,
    1e20,
    1e21,
    9007199254740993.0,
    1.2345678901234567e19,
    2.2250738585072014e-308,
    _MIN_SUBNORMAL,
    -_MAX_DOUBLE,
    _MAX_DOUBLE,
)

FLOAT32 = (
    0.0,
    -0.0,
    1.5,
    *map(
        _float32,
        (
            0x3DCCCCCD,  # 0.1, which is 0.10000000149 as a double
            0x40B3851F,  # 5.61
            0x358637BD,  # the one nearest to 1e-6
            0x358637BC,
            0x60AD78EC,  # the one nearest to 1e20
            0x6258D727,  # the one nearest to 1e21
            0x4B800000,  # 2**24
            0x00000001,
            0x00800000,
            0x7F7FFFFF,
            0xFF7FFFFF,
            0x0F800000,  # these six have other shortest digits in Go than the first C form
            0x15AE43FD,
            0x15AE43FE,
            0x39800000,
            0x6B000000,
            0x6C800000,
        ),
    ),
)

NOT_FINITE = (float("inf"), float("-inf"), float("nan"))

DECIMALS = tuple(
    map(
        Decimal,
        (
            "0",
            "1",
            "-0.001",
            "12.10",
            "0.000",
            "-0",
            "100",
            "9007199254740993",
            "18446744073709551616",
            "9" * 38,
            "9" * 65,
            "-" + "9" * 35 + "." + "9" * 30,
            "0." + "0" * 29 + "1",
            "0." + "1" * 30,
        ),
    )
)
DECIMALS_NOT_FINITE = tuple(map(Decimal, ("NaN", "Infinity", "-Infinity")))
DECIMAL_TEXTS = ("", "1e5", "+1", "007", ".5", "5.", "NaN", "1,5", "-", "1" * 5000, "\u0661")

DATES = (
    "1970-01-01",
    "0000-00-00",
    "1000-01-01",
    "9999-12-31",
    "2024-02-29",
    "2024-00-00",
    "0001-01-01",
    "1582-10-10",
)
TIMES = (
    "00:00:00",
    "12:34:56",
    "-00:00:01",
    "838:59:59",
    "-838:59:59.000000",
    "838:59:58.999999",
    "23:59:59.999999",
    "24:00:00",
    "-00:00:00.000001",
    "01:02:03.400",
    "99:00:00",
    "100:00:00",
)
TIMES_BEYOND = ("838:59:59.999999", "-838:59:59.999999", "839:00:00")
DATETIMES = (
    "1970-01-01 00:00:00",
    "0000-00-00 00:00:00",
    "9999-12-31 23:59:59.999999",
    "1000-01-01 00:00:00",
    "2024-02-29 12:00:00.5",
    "2024-02-29 12:00:00.500000",
    "0000-00-00 00:00:00.000000",
    "2038-01-19 03:14:08",
)
TIMESTAMPS = (
    "1970-01-01 00:00:01",
    "0000-00-00 00:00:00",
    "2038-01-19 03:14:07.999999",
    "2023-10-29 02:30:00",  # twice in the zones of Europe
    "2023-03-26 02:30:00",  # and never there
    "1970-01-01 00:00:00",
)
# Of a known zone: beyond the years of MySQL, the year 1 BC, and no end.
INSTANTS = (
    "1900-01-01 00:00:00",
    "infinity",
    "-infinity",
    "0000-02-29 00:00:00",
    "-0043-03-15 12:00:00.000000",
    "+294276-12-31 23:59:59.999999",
)
YEARS = (0, 1901, 2024, 2155, 1970)
TEMPORAL_TEXTS = ("", " ", "0", "not a date", "2024-02-30", "99999-01-01", "\u0662\u0660", "null")

TEXTS = (
    "",
    "a",
    "null",
    "NULL",
    "\\N",
    " ",
    "\x00",
    "a\x00b",
    "😀",
    "é",
    "e\u0301",
    '"',
    "'",
    "\\",
    '\\"',
    "\\x41",
    "\\u0041",
    ",",
    "\n",
    "\r\n",
    "\t",
    "\x1b",
    "\x7f",
    "\x80",
    "\u00a0",
    "\u00ad",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\ufffd",
    "\uffff",
    "\U0010ffff",
    "</script>&",
    "<!--",
    "%s",
    "{}",
    "[1]",
    "true",
    "0",
    "-1",
    "1e5",
    "עברית",
    "中文",
    "  both ends  ",
    "x" * 63,
    "x" * 64,
    "x" * 127,
    "x" * 128,
    "é" * 200,
)

ALL_BYTES = bytes(range(256))
BYTES = (
    b"",
    b"\x00",
    b"\xff",
    b"a",
    ALL_BYTES,
    bytes(20),
    b"\x89PNG\r\n\x1a\n",
    b'"',
    b"\\",
    b"\\x89",
    b"'",
    b"\n",
    b"\x07\x08\x0b\x0c\x7f",
    b"\xed\xa0\x80",  # a surrogate, as UTF-8 would code it
    b"\xc0\x80",
    b"\xe2\x82",
    b"\xf4\x90\x80\x80",
    "é".encode(),
    "\u00a0\u00ad".encode(),
    "\u2028\u2029".encode(),
    "\ufeff\ufffd".encode(),
    "\U0001f600".encode(),
    "\U000e0001".encode(),
    b"</script>&",
    b"null",
    b"\\N",
    bytes(64),
    b"\xf0" * 128,
)

ILL_FORMED_TEXTS = (
    b"\xff",
    b"ok\xff",
    b"\x80",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xe2\x82",
    b"\xf4\x90\x80\x80",
    "中文".encode("gbk"),
    ALL_BYTES,
)

JSON_TEXTS = (
    "null",
    "{}",
    "[]",
    '""',
    '{"a": 1}',
    "true",
    "-0.0",
    "9007199254740993",
    "18446744073709551616",
    '"null"',
    '{"a": "\\"q\\""}',
    '{"a": {"b": [1, 2.50, null]}}',
    '"</script>&"',
    '"\u2028"',
    '"\\u0000"',
    '{"": 1e400}',
)

VECTORS = (
    (),
    (0.0,),
    (-0.0,),
    (1.0, -2.5, _float32(0x3DCCCCCD)),
    (_float32(0x7F7FFFFF), _float32(0x00000001)),
    (_float32(0x15AE43FD),),
)

INTERVALS = ("P0Y0M0DT0H0M0S", "P1Y2M3DT4H5M6.789S", "-P1D")
LABELS = ("a", "b", "", "it's", 'quote"', "back\\slash", "comma;", "é", "c c")

NAMES = (
    "id",
    "c1",
    "Id",
    "c10",
    "a b",
    "a.b",
    "naïve",
    "姓名",
    "😀",
    'quo"te',
    "it's",
    "back`tick",
    "back\\slash",
    "<b>&",
    "null",
    "\\N",
    " ",
    "\u2028",
    "\x00",
    "\x7f",
    "%s",
    "a/b",
    "$#",
    "e\u0301",
    "x" * 64,
    "x" * 128,
    "é" * 512,  # 1024 bytes
)
