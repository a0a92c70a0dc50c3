r"""JSON as Go's encoding/json writes it: string escapes, and small values without white space.

Text that came from ill-formed UTF-8 is given here with Python's ``surrogateescape``: one lone
surrogate for each bad byte. Go writes each such byte as ``\ufffd``, an escape. It writes a real
U+FFFD unchanged. ``golang.numbers`` writes floats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import TypeAlias

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
