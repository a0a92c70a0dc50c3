"""One pattern for the records of a table, and a generated function for the values it finds.

A file is matched as Latin-1, where each character is one byte. So places in it are offsets, and it
takes no more memory than the bytes; texts that are not ASCII are decoded again. Patterns say all
that the plain decoder checks about numbers, dates and times. Where a value says more than a pattern
can, the generated function looks. It raises one of ``IRREGULARITIES`` and says no more: the plain
decoder then finds the error, or reads what is rare.

The source of a function is made of column numbers and of the forms of this module. Nothing of a
file or a table becomes source.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular, compile_function, indented
from cdcwire.formats.csv.escapes import double, escape
from cdcwire.formats.csv.message import Field
from cdcwire.formats.csv.records import text_of
from cdcwire.formats.csv.settings import Settings
from cdcwire.formats.csv.values import ColumnCodec
from cdcwire.model import kinds
from cdcwire.model.floats import read_float32
from cdcwire.model.kinds import Value
from cdcwire.mysql.value_texts import integer_range, pattern, reader
from cdcwire.mysql.values import is_vector_text

ENCODING = "latin-1"

Groups: TypeAlias = "tuple[str | None, ...]"
RowFunction: TypeAlias = Callable[
    [Groups], "tuple[str, str | None, str | None, str | None, tuple[Any, ...]]"
]
"""Takes the groups of a match; returns operation, commit-ts, is-update, handle key, and values."""

# Characters that numbers, dates, times and base64 are made of. A quote or a delimiter that begins
# with one of them is not usual.
_VALUE_CHARACTERS = frozenset(b"-:. +/=[]")
_LINE_ENDS = frozenset(b"\r\n")
_MAX_PAIRS = 1 << 12  # of quotes, or escapes, in one field: each takes some 200 bytes
_SMALL_BITS = 12  # of numbers of which all are remembered
# Branches with nothing in them, since an optional group is slow to enter. A FLOAT has no exponent
# of three digits, so its text is a finite double.
_DIGITS = r"-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,30}|)"
_FLOAT = rf"{_DIGITS}(?:e[+-][0-9]{{2}}|)"
_DOUBLE = rf"{_DIGITS}(?:e[+-][0-9]{{2,3}}|)"
_BASE64 = "[A-Za-z0-9+/]*(?:=(?:(?<=[AEIMQUYcgkosw048]=)|(?<=[AQgw]=)=)|)"
_HEX = "[0-9a-f]*"

_pack: Callable[[float, float], bytes] = struct.Struct("<df").pack
_unpack: Callable[[bytes], tuple[int, float]] = struct.Struct("<Qf").unpack
_TIE_BITS = (1 << 29) - 1  # of a double, after those that a float32 has
_TIE = 1 << 28


def is_usual(settings: Settings) -> bool:
    """Return whether files of these settings are read by patterns."""
    signs = (settings.quote or settings.delimiter)[:1]
    is_plain = not signs.isalnum() and not set(signs) & _VALUE_CHARACTERS
    return is_plain and _LINE_ENDS.issuperset(settings.terminator)


def pattern_of(
    schema: str,
    table: str,
    codecs: Sequence[ColumnCodec | None],
    settings: Settings,
) -> re.Pattern[str]:
    """Return the pattern of a record with its terminator.

    Its first groups: operation, commit-ts, is-update and handle key, as far as the settings have
    them. The wanted columns follow, those of ``codecs`` that are not None.
    """
    string = _String(settings)
    parts = [
        string.of("([IUD])"),
        string.literal(table),
        string.literal(schema),
    ]
    if settings.include_commit_ts:
        parts.append("(0|[1-9][0-9]{0,19})")
    if settings.output_old_value:
        parts.append("(true|false)")
    if settings.output_handle_key:
        parts.append(string.of("(0|-?[1-9][0-9]{0,18})"))
    parts += (string.skipped if codec is None else _field(codec, string) for codec in codecs)
    delimiter = re.escape(settings.delimiter.decode("ascii"))
    return re.compile(delimiter.join(parts) + re.escape(settings.terminator.decode("ascii")))


class _String:
    """The patterns of strings in a file."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.quote = re.escape(settings.quote.decode("ascii"))
        self.null = re.escape(settings.null.decode(ENCODING))
        sign = re.escape(settings.delimiter[:1].decode("ascii"))
        if self.quote:
            inner = f"[^{self.quote}]*"
            pair = self.quote * 2 + inner
            # A branch, since a repeat is slow to enter even where there is nothing to repeat.
            self.any = f"{inner}(?:{pair}(?:{pair}){{0,{_MAX_PAIRS}}}|)"
        else:
            inner = rf"[^\\\r\n{sign}]*"
            self.any = rf"{inner}(?:\\[^\r\n]{inner}){{0,{_MAX_PAIRS}}}"
        bare = rf"[^\\\r\n{sign}{self.quote}]*" if self.quote else self.any
        self.skipped = self.or_null(bare)
        if self.quote:
            self.skipped = f"(?:{self.of(self.any)}|{self.skipped})"

    def of(self, inner: str) -> str:
        return f"{self.quote}{inner}{self.quote}"

    def or_null(self, inner: str) -> str:
        """Return a pattern that also matches NULL, in one way only.

        With two ways to match each of n fields, a record that is refused at its end would be tried
        in 2**n ways.
        """
        if re.fullmatch(inner, self.settings.null.decode(ENCODING)):
            return inner
        return f"(?:{inner}|{self.null})"

    def literal(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")  # no file has a name with surrogates
        if self.settings.quote:
            raw = double(raw, self.settings.quote)
        else:
            raw = escape(raw, self.settings.delimiter)
        return self.of(re.escape(raw.decode(ENCODING)))


def _field(codec: ColumnCodec, string: _String) -> str:
    match codec.kind:
        case kinds.FloatType(bits):
            return f"(?:({_FLOAT if bits == 32 else _DOUBLE})|{string.null})"
        case kinds.UnknownType():
            return f"({string.null})"
        case kinds.IntType() | kinds.BitType() | kinds.YearType() as kind:
            return f"(?:({pattern(kind)})|{string.null})"
        case (
            kinds.DecimalType()
            | kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType() as kind
        ):
            inner = pattern(kind)
        case kinds.BytesType():
            inner = _HEX if codec.settings.binary_encoding == "hex" else _BASE64
        case _:
            inner = string.any
    if string.quote:
        return f"(?:{string.of(f'({inner})')}|{string.null})"
    # NULL may look like a text, so the function decides it.
    return f"({string.or_null(inner)})"


def make_row_function(
    codecs: Sequence[ColumnCodec | None], settings: Settings, is_ascii: bool
) -> RowFunction:
    """Return the function that reads what ``pattern_of`` found. ``is_ascii``: in files that are.

    Raises (the function): one of IRREGULARITIES.
    """
    has = (True, settings.include_commit_ts, settings.output_old_value, settings.output_handle_key)
    wanted = [codec for codec in codecs if codec is not None]
    quote = settings.quote.decode("ascii")
    names: dict[str, Any] = {
        "Irregular": Irregular,
        "pack": _pack,
        "unpack": _unpack,
        "read_float32": read_float32,
        "a2b": binascii.a2b_base64,
        "fromhex": bytes.fromhex,
        "NULL": settings.null.decode(ENCODING),
        "QUOTE": quote,
        "QUOTES": quote * 2,
        "unescaped": _unescaped,
        "utf8": _utf8,
        "ENCODING": ENCODING,
        "is_vector_text": is_vector_text,
    }
    values = [f"v{index}" for index in range(len(wanted))]
    heads = [f"m{index}" for index in range(len(has)) if has[index]]
    lines = [f"{''.join(f'{name}, ' for name in (*heads, *values))}= groups"]
    for name, codec in zip(values, wanted, strict=True):
        body = _body(name, codec, names, is_ascii)
        if _needs_function(codec, settings):
            null = "raise Irregular" if codec.null_is_ambiguous else f"{name} = None"
            if codec.null_is_text:
                lines += body
                continue
            lines += (f"if {name} == NULL: {null}", "else:", *indented(body or ["pass"]))
        elif body:
            lines += (f"if {name} is not None:", *indented(body))
    given = (f"m{index}" if has[index] else "None" for index in range(len(has)))
    lines.append(f"return {', '.join(given)}, ({''.join(f'{name}, ' for name in values)})")
    return compile_function("read_row", "groups", lines, names)


def _needs_function(codec: ColumnCodec, settings: Settings) -> bool:
    return not codec.is_bare and (not settings.quote or isinstance(codec.kind, kinds.UnknownType))


def _body(name: str, codec: ColumnCodec, names: dict[str, Any], is_ascii: bool) -> list[str]:
    """Return what is done with the text of a value that is not NULL."""
    if codec.settings.quote:
        text = [f"if QUOTE in {name}: {name} = {name}.replace(QUOTES, QUOTE)"]
    else:
        text = [f"if '\\\\' in {name}: {name} = unescaped({name})"]
    match codec.kind:
        case (kinds.IntType() | kinds.BitType() | kinds.YearType()) as kind:
            low, high = (0, 1 << 12) if isinstance(kind, kinds.YearType) else integer_range(kind)
            if high - low <= 1 << _SMALL_BITS:
                names[f"known_{name}"] = Memo(reader(kind))
                return [f"{name} = known_{name}[{name}]"]
            return [f"{name} = int({name})", f"if not {low} <= {name} < {high}: raise Irregular"]
        case kinds.FloatType(bits):
            if bits == 64:  # the difference of two infinities is NaN
                return [f"{name} = float({name})", f"if {name} - {name}: raise Irregular"]
            return [
                f"wide = float({name})",
                "bits, near = unpack(pack(wide, wide))",
                # Just between two float32, or nothing at all: the digits decide.
                f"is_near = near and bits & {_TIE_BITS} != {_TIE}",
                f"{name} = near if is_near else read_float32({name})",
            ]
        case kinds.BytesType(length):
            if codec.settings.binary_encoding == "hex":
                return [f"if len({name}) & 1: raise Irregular", f"{name} = fromhex({name})"]
            found = [f"if len({name}) & 3: raise Irregular", f"{name} = a2b({name})"]
            if length is None:
                return found
            return [*found, f"if len({name}) > {length}: raise Irregular"]
        case kinds.TextType():
            if is_ascii:
                return text
            return [
                *text,
                f"if not {name}.isascii():",
                f" raw = {name}.encode(ENCODING)",
                " try:",
                f"  {name} = raw.decode()",
                " except UnicodeDecodeError:",
                f"  {name} = raw",
            ]
        case kinds.JsonType():
            found = [*text, f"if not {name}: raise Irregular"]
            if is_ascii:
                return found
            return [*found, f"if not {name}.isascii(): {name} = utf8({name})"]
        case kinds.VectorType():
            return [*text, f"if not is_vector_text({name}): raise Irregular"]
        case kinds.EnumType() | kinds.SetType():
            names[f"known_{name}"] = Memo(_label_reader(codec))
            return [f"{name} = known_{name}[{name}]"]
        case kinds.UnknownType():
            return ["raise Irregular"]
        case _:
            return []


def _label_reader(codec: ColumnCodec) -> Callable[[str], Value]:
    is_quoted = bool(codec.settings.quote)

    def read(raw: str) -> Value:
        return codec.read_text(text_of(Field(raw.encode(ENCODING), is_quoted), codec.settings))

    return read


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r"}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _LETTERS.get(found[1], found[1]), text)


def _utf8(text: str) -> str:
    try:
        return text.encode(ENCODING).decode()
    except UnicodeDecodeError:
        raise Irregular from None
