r"""Go's ways of writing numbers and strings, as its standard library does for TiCDC.

In JSON, text that came from ill-formed UTF-8 is given with Python's ``surrogateescape``: one lone
surrogate for each bad byte. Go writes each such byte as ``\ufffd``, an escape. It writes a real
U+FFFD unchanged.

``quote`` is ``strconv.Quote`` without its outer quotes, and ``unquote`` the way back: any bytes
become printable text and come back equal. Quoting reads the bytes as UTF-8. Each invalid byte
becomes ``\xHH``; printable characters are unchanged. These follow Unicode 15.0.0, as a frozen
table, because Python's own functions differ between releases. They are letters, combining signs
(category M), numbers, punctuation and symbols, and of all spaces only ASCII's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from json.encoder import encode_basestring
from math import ulp
from typing import Literal, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.model.floats import narrow_float32, shortest_digits

SmallValue: TypeAlias = (
    "bool | int | str | list[SmallValue] | tuple[SmallValue, ...] | Mapping[str, SmallValue] | None"
)

_SHORT = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}
_CONTROLS = {chr(code): f"\\u{code:04x}" for code in range(0x20)}
_LINE_ENDS = {"\u2028": r"\u2028", "\u2029": r"\u2029"}
_HTML = {char: f"\\u{ord(char):04x}" for char in "<>&"}
_BAD_BYTES = {chr(0xDC00 + byte): r"\ufffd" for byte in range(0x80, 0x100)}

_ESCAPES = {**_CONTROLS, **_LINE_ENDS, **_BAD_BYTES, **_SHORT}
_HTML_ESCAPES = {**_ESCAPES, **_HTML}
_EASY_ESCAPES = {**_HTML_ESCAPES, "\b": r"\u0008", "\f": r"\u000c"}
_EASY_INSTEAD = {r"\b": r"\u0008", r"\f": r"\u000c", r"\\": r"\\"}
_EASY_DIFFERS = re.compile(r"\\[\\bf]")  # with escaped backslashes, after which b and f are letters
_SPECIAL = re.compile('[\x00-\x1f"\\\\\u2028\u2029\udc80-\udcff]')
_ITER_SPECIAL = re.compile('[\x00-\x1f"\\\\\udc80-\udcff]')
_RAW_SPECIAL = re.compile('[\x00-\x1f"\\\\]')
_HTML_SPECIAL = re.compile('[\x00-\x1f"\\\\\u2028\u2029\udc80-\udcff<>&]')


def json_string(text: str, *, escape_html: bool = True) -> str:
    """Return ``text`` as a JSON string with its quotes.

    ``escape_html``: Go's default, which writes ``<``, ``>`` and ``&`` as escapes too. U+2028 and
    U+2029 are escaped in both cases, DEL and ``/`` in none.
    Source: open-protocol, "json strings".
    """
    if text.isascii():
        return finished_json(encode_basestring(text), escape_html=escape_html)
    special, escapes = (_HTML_SPECIAL, _HTML_ESCAPES) if escape_html else (_SPECIAL, _ESCAPES)
    return f'"{special.sub(lambda found: escapes[found.group()], text)}"'


def finished_json(text: str, *, escape_html: bool = True) -> str:
    """Return JSON with the escapes that Go has in addition to those of Python's ``json``.

    ``text`` is JSON whose strings are as ``json.encoder.encode_basestring`` writes them. It has no
    lone surrogates.
    """
    if escape_html:
        text = text.replace("<", _HTML["<"]).replace(">", _HTML[">"]).replace("&", _HTML["&"])
    if text.isascii():
        return text
    for char, escape in _LINE_ENDS.items():
        text = text.replace(char, escape)
    return text


def easyjson_string(text: str) -> str:
    """Return ``text`` as a JSON string as the library easyjson writes it.

    It differs from ``json_string`` in U+0008 and U+000C, for which it has no short escapes.
    Source: canal-json, "json strings".
    """
    return f'"{_HTML_SPECIAL.sub(lambda found: _EASY_ESCAPES[found.group()], text)}"'


def finished_easyjson(text: str) -> str:
    """Return JSON with the escapes that easyjson has instead of those of Python's ``json``.

    ``text`` is as ``finished_json`` takes it.
    """
    return finished_jsoniter(finished_json(text))


def jsoniter_string(text: str, *, is_raw: bool = False) -> str:
    """Return ``text`` as a JSON string as the library jsoniter writes it, without HTML escapes.

    It differs from ``json_string``: U+0008 and U+000C have no short escapes, and U+2028 and U+2029
    stay. ``is_raw``: the lone surrogates of bad bytes stay too, so that the bytes can be sent.
    Source: open-protocol, "json strings".
    """
    if is_raw:
        return f'"{_RAW_SPECIAL.sub(lambda found: _EASY_ESCAPES[found.group()], text)}"'
    return f'"{_ITER_SPECIAL.sub(lambda found: _EASY_ESCAPES[found.group()], text)}"'


def finished_jsoniter(text: str) -> str:
    """Return JSON with the escapes that jsoniter has instead of those of Python's ``json``.

    ``text`` is as ``finished_json`` takes it.
    """
    if r"\b" in text or r"\f" in text:
        text = _EASY_DIFFERS.sub(lambda found: _EASY_INSTEAD[found.group()], text)
    return text


def compact_json(value: SmallValue, *, escape_html: bool = True) -> str:
    """Return a value without white space, members in the order given.

    Raises: TypeError for a float or anything else that JSON text can't be made of here.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return json_string(value, escape_html=escape_html)
        case Mapping():
            members = (
                f"{json_string(name, escape_html=escape_html)}:"
                f"{compact_json(item, escape_html=escape_html)}"
                for name, item in value.items()
            )
            return f"{{{','.join(members)}}}"
        case list() | tuple():
            items = (compact_json(item, escape_html=escape_html) for item in value)
            return f"[{','.join(items)}]"
        case _:
            raise TypeError(f"{type(value).__name__} is not written as JSON here")


_ULPS32 = 1 << 28  # steps of a double in half a step of a float32


def float_text(value: float, bits: Literal[32, 64]) -> str:
    """Return a finite number as Go's JSON writes it.

    Shape: plain digits without a needless ``.0``; below 1e-6 and from 1e21 ``d.ddde±x`` with the
    exponent ``e-07`` shortened to ``e-7``. The limits are compared at the width of ``bits``.
    Source: open-protocol, "number text".
    """
    magnitude = abs(value)
    if bits == 32:
        usual = usual_text32(value)
        if usual:
            return usual
    elif 1e-3 <= magnitude < 1e16:  # Python writes these as Go does
        return repr(value).removesuffix(".0")
    sign, digits, exponent = shortest_digits(value, bits)
    low = narrow_float32(1e-6) if bits == 32 else 1e-6
    if magnitude != 0 and (magnitude < low or magnitude >= 1e21):
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent:+d}"
    return sign + plain_digits(digits, exponent)


def padded_float_text(value: float, bits: Literal[32, 64]) -> str:
    """Return a finite number as ``strconv.FormatFloat`` writes it, and jsoniter: ``1e-07``.

    Its exponents have at least two digits; all else is as in ``float_text``.
    """
    text = float_text(value, bits)
    if text[-2:-1] in "+-" and text[-3:-2] == "e":
        return f"{text[:-1]}0{text[-1]}"
    return text


def usual_text32(value: float) -> str:
    """Return the shortest digits of a float32 from 1e-3 up to 1e6, as plain digits.

    The text is empty for other values, and where only exact arithmetic shows what reads back. Every
    decimal number of 6 digits comes back from a float32, so fewer than 7 digits need no look.
    """
    if not (1e-3 <= value < 1e6 or -1e6 < value <= -1e-3):
        return ""
    half = ulp(value) * _ULPS32  # of the gap between two float32 values
    near, far = half * 0.999, half * 1.001
    text = f"{value:.8g}"
    distance = abs(float(text) - value)
    if far < distance:
        return f"{value:.9g}"
    shorter = f"{value:.7g}"
    if distance < near:
        distance = abs(float(shorter) - value)
        if far < distance:
            return text
        if distance < near:
            return shorter
    return ""


def plain_digits(digits: str, exponent: int) -> str:
    """Return digits times a power of ten without an exponent: ``("15", -2)`` is ``0.015``."""
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


_NAMED = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_NAMED_BACK = {letter: char for char, letter in _NAMED.items()} | {'"': '"', "\\": "\\"}


def _quoted(char: str) -> str:
    """Return a character as Go quotes it; a lone surrogate stands for a byte."""
    code = ord(char)
    if char in _NAMED:
        return f"\\{_NAMED[char]}"
    if char in '"\\':
        return f"\\{char}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xDC80 <= code < 0xDD00:
        return f"\\x{code - 0xDC00:02x}"
    if is_printable(code):
        return char
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_QUOTED = Memo(_quoted)

_ESCAPE = re.compile(
    r"\\(?:"
    r"[abfnrtv\\\"]|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r")?|[\"\n]"
)


class QuoteError(ValueError):
    """The text is not the inside of a Go string. ``index``: the character where that shows."""

    def __init__(self, problem: str, index: int) -> None:
        super().__init__(problem, index)
        self.problem = problem
        self.index = index

    def __str__(self) -> str:
        return f"character {self.index}: {self.problem}"


def quote(raw: bytes) -> str:
    """Return bytes as the inside of a Go string. Source: open-protocol, "binary quoting"."""
    return "".join([_QUOTED[char] for char in raw.decode("utf-8", "surrogateescape")])


def unquote(text: str) -> bytes:
    """Return the bytes that the inside of a Go string stands for.

    ``text`` is well-formed: it has no lone surrogates. Octal escapes and hex digits of either case
    are read too, although ``quote`` never writes them.
    Raises: QuoteError for a bare quote or newline, and for an escape that Go does not have.
    """
    return _ESCAPE.sub(_unescape, text).encode("utf-8", "surrogateescape")


def _unescape(found: re.Match[str]) -> str:
    usual = _USUAL.get(found[0])
    if usual is not None:
        return usual
    byte, octal, short, long = found.groups()
    if byte is not None:
        return _raw(int(byte, 16))
    if octal is not None:
        code = int(octal, 8)
        if code > 0xFF:
            raise QuoteError(f"\\{octal} is more than a byte", found.start())
        return _raw(code)
    if short is not None or long is not None:
        code = int(short or long, 16)
        if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
            raise QuoteError(f"{found.group()} is not a character", found.start())
        return chr(code)
    if found.group() == "\\":
        raise QuoteError("a backslash begins no escape that Go has", found.start())
    raise QuoteError("a quote or newline is not escaped", found.start())


def _raw(byte: int) -> str:
    return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)


# The escapes that ``quote`` writes for bytes.
_USUAL = {f"\\{letter}": char for letter, char in _NAMED_BACK.items()} | {
    f"\\x{byte:02x}": _raw(byte) for byte in range(256)
}


# Lengths of runs from U+0000 on: not printable, printable, not printable, and so on.
_RUNS = """
32 95 34 12 1 714 2 6 4 7 1 1 1 20 1 397 1 38 2 50 2 3 1 55 8 27 4 6 17 22 1 192 1 48 2 59 2 101
14 59 2 49 2 15 1 28 2 1 1 11 5 31 9 74 1 161 1 8 2 2 2 22 1 7 1 1 3 4 2 9 2 2 2 4 8 1 4 2 1 5 2
25 2 3 1 6 4 2 2 22 1 7 1 2 1 2 1 2 2 1 1 5 4 2 2 3 3 1 7 4 1 1 7 17 10 3 1 9 1 3 1 22 1 7 1 2 1
5 2 10 1 3 1 3 2 1 15 4 2 12 7 7 1 3 1 8 2 2 2 22 1 7 1 2 1 5 2 9 2 2 2 3 7 3 4 2 1 5 2 18 10 2
1 6 3 3 1 4 3 2 1 1 1 2 3 2 3 3 3 12 4 5 3 3 1 4 2 1 6 1 14 21 5 13 1 3 1 23 1 16 2 9 1 3 1 4 7
2 1 3 2 1 2 4 2 10 7 22 1 3 1 23 1 10 1 5 2 9 1 3 1 4 7 2 6 2 1 4 2 10 1 3 12 13 1 3 1 51 1 3 1
6 4 16 2 26 1 3 1 18 3 24 1 9 1 1 2 7 3 1 4 6 1 1 1 8 6 10 2 3 12 58 4 29 37 2 1 1 1 5 1 24 1 1
1 23 2 5 1 1 1 7 1 10 2 4 32 72 1 36 4 39 1 36 1 15 1 13 37 198 1 1 5 1 2 377 1 4 2 7 1 1 1 4 2
41 1 4 2 33 1 4 2 7 1 1 1 4 2 15 1 57 1 4 2 67 2 32 3 26 6 86 2 6 2 640 1 28 3 89 7 22 9 24 9 20
12 13 1 3 1 2 12 94 2 10 6 10 6 14 1 11 6 89 7 43 5 70 10 31 1 12 4 12 4 1 3 42 2 5 11 44 4 26 6
11 3 62 2 65 1 29 2 11 6 10 6 14 2 31 49 77 3 47 1 116 8 60 3 15 3 60 7 43 2 11 8 43 5 534 2 6 2
38 2 6 2 8 1 1 1 1 1 1 1 31 2 53 1 15 1 14 2 6 1 19 2 3 1 9 17 24 8 47 17 2 2 27 1 13 3 33 15 33
15 140 4 663 25 11 21 1812 2 32 1 349 5 45 1 1 5 1 2 56 7 2 14 24 9 7 1 7 1 7 1 7 1 7 1 7 1 7 1
7 1 126 34 26 1 89 12 214 26 12 5 63 1 86 2 103 5 43 1 94 1 84 12 47 1 29293 3 55 9 348 20 184 8
203 5 2 1 1 1 5 24 59 3 10 6 56 8 70 8 12 6 116 11 30 3 78 1 11 4 33 1 55 9 14 2 10 2 103 24 28
10 6 2 6 2 6 9 7 1 7 1 60 4 126 2 10 6 11172 12 23 4 49 8452 366 2 106 38 7 12 5 5 26 1 5 1 1 1
2 1 2 1 125 16 445 2 54 7 1 32 42 6 51 1 19 1 4 4 5 1 135 4 190 3 6 2 6 2 6 2 3 3 7 1 7 13 2 2
12 1 26 1 19 1 2 1 15 2 14 34 123 5 3 4 45 3 88 1 13 3 1 47 46 130 29 3 49 15 28 4 36 9 30 5 43
5 30 1 37 4 14 42 158 2 10 6 36 4 36 4 40 8 52 11 12 1 15 1 7 1 2 1 11 1 15 1 7 1 2 67 311 9 22
10 8 24 6 1 42 1 9 69 6 2 1 1 44 1 2 3 1 2 23 1 72 8 9 48 19 1 2 5 33 3 27 5 1 64 56 4 20 2 50 1
2 5 8 1 3 1 29 2 3 4 10 7 9 7 64 32 39 4 12 9 54 3 29 2 27 5 26 7 4 12 7 80 73 55 51 13 51 7 46
8 10 294 31 1 42 1 3 2 2 75 43 8 42 22 26 38 28 20 23 9 78 4 36 9 62 1 5 13 25 7 10 6 53 1 18 8
39 9 96 1 20 11 18 1 47 62 7 1 1 1 4 1 15 1 11 6 59 5 10 6 4 1 8 2 2 2 22 1 7 1 2 1 5 1 10 2 2 2
3 2 1 6 1 5 7 2 7 3 5 139 92 1 5 30 72 8 10 166 54 2 38 34 69 11 10 6 13 19 58 6 10 54 27 2 15 4
23 185 60 100 83 12 8 2 1 2 8 1 2 1 30 1 2 2 12 9 10 70 8 2 46 2 11 27 72 8 83 13 73 7 10 246 9
1 45 1 14 10 29 3 32 2 22 1 14 73 7 1 2 1 44 3 1 1 2 1 9 8 10 6 6 1 2 1 37 1 2 1 6 7 10 310 25 7
17 1 41 3 28 86 1 15 50 13 923 102 111 1 5 11 196 2636 99 13 1072 16 22 4010 583 8633 569 7 31 1
10 4 81 1 10 6 30 2 6 10 70 10 10 1 7 1 21 5 19 688 91 101 75 4 57 7 17 64 5 11 2 14 6136 8 1238
42 9 8935 4 1 7 1 2 1 291 15 1 29 3 2 1 14 4 8 396 2308 107 5 13 3 9 7 10 2 4 4704 46 2 23 9 116
60 246 10 39 2 74 8 112 21 70 122 20 12 20 12 87 9 25 135 85 1 71 1 2 2 1 2 2 2 4 1 12 1 1 1 7 1
65 1 4 2 8 1 7 1 28 1 4 1 5 1 1 3 7 1 340 2 292 2 702 15 5 1 15 1104 31 6 6 213 7 1 17 2 7 1 2 1
5 5 62 33 1 112 45 3 14 2 10 4 2 320 31 17 58 5 1 464 42 742 7 1 4 1 2 1 15 1 197 2 16 41 76 4
10 4 2 785 68 76 61 194 4 1 27 1 2 1 1 2 1 1 10 1 4 1 1 1 1 6 1 4 1 1 1 1 1 1 3 1 2 1 1 2 1 1 1
1 1 1 1 1 1 1 2 1 1 2 4 1 7 1 4 1 4 1 1 1 10 1 17 5 3 1 5 1 17 52 2 270 44 4 100 12 15 2 15 1 15
1 37 10 174 56 29 13 44 4 9 7 2 14 6 154 984 4 17 3 13 3 119 4 95 6 12 4 1 15 12 4 56 8 10 6 40
8 30 2 2 78 340 12 14 2 13 3 9 7 46 1 7 8 14 4 9 7 9 7 147 1 55 37 10 1030 42720 32 4154 6 222 2
5762 14 7473 3103 542 1506 4939 5 4192 712016 240 196112
"""
_ENDS = tuple(accumulate(map(int, _RUNS.split())))


def is_printable(code: int) -> bool:
    """Return whether ``strconv.IsPrint`` of Go 1.26 is true of a code point."""
    return bisect_right(_ENDS, code) % 2 == 1
