"""Bytes for people: offset, bytes, field, value and clause, one line a field.

Offsets are decimal, as in every error and in ``@cut:17``. A long field takes several lines and is
cut after a few; so is its text. Bytes of no field have their ASCII characters as value. The lines
are plain ASCII except for the sign of a cut, so they are the same on every Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import Span
from cdcwire.model.events import path_text

BYTES_A_LINE = 12
LINES_A_FIELD = 6
MAX_VALUE_TEXT = 64
MAX_FIELD_TEXT = 48
ERROR_MARK = ">"
MEASURED_LINES = 1024  # from which the widths of the columns follow

_GUTTER = 8  # the column of offsets, with the mark
_CUT = "…"


@dataclass(slots=True)
class _Line:
    """One line of the dump, before the widths of its columns are known."""

    start: int
    raw: bytes
    field: str = ""
    value: str = ""
    clause: str = ""
    is_marked: bool = False
    cut: int = 0  # bytes left out, in place of ``raw``
    error: DecodeError | None = None

    @property
    def hex(self) -> str:
        return f"{_CUT} {self.cut} bytes more" if self.cut else self.raw.hex(" ")


@dataclass(frozen=True, slots=True)
class _Focus:
    """The byte that is flagged, and the error that it has."""

    part: str
    offset: int
    error: DecodeError | None = None


_FindFocus: TypeAlias = "Callable[[], _Focus | None]"
_Dump: TypeAlias = "Iterable[tuple[str, Iterable[_Line]]]"


class _ByPart:
    """The spans of a message, part by part."""

    def __init__(self, spans: Iterator[Span]) -> None:
        self._spans = spans
        self._next = next(spans, None)

    def of(self, part: str) -> Iterator[Span]:
        while (span := self._next) is not None and span.part == part:
            self._next = next(self._spans, None)
            yield span


def hexdump_lines(
    explanation: Explanation,
    message: Message,
    focus_offset: int | None = None,
    context: int = 5,
    focus_part: str = "value",
    most_lines: int | None = None,
) -> Iterator[str]:
    """Yield the lines of the annotated dump of a message.

    The lines are made while the spans are read, unless a part of them is asked for. The columns
    are as wide as the first lines need; a later line that needs more is longer.
    A ``>`` flags the byte of ``explanation.error``, with the error on the line below. With
    ``focus_offset`` it flags the byte at this offset of ``focus_part`` instead, and only
    ``context`` lines before and after it are shown. ``most_lines``: a part with more lines is cut
    in its middle, but not at the flagged line.
    """
    names = tuple(message_parts(message))
    dump: _Dump
    if focus_offset is not None:
        dump = _dump(explanation, message, _Focus(focus_part, focus_offset))
        every = [(part, list(lines)) for part, lines in dump]
        dump = [(part, _around_mark(lines, context)) for part, lines in every if part == focus_part]
        names = (focus_part,)
    else:
        dump = _dump(explanation, message, None)
    if focus_offset is None and most_lines is not None:
        dump = ((part, _abridged(list(lines), most_lines, context)) for part, lines in dump)
    return _with_headings(dump, has_parts=names not in ((), ("value",)))


def message_parts(message: Message) -> dict[str, bytes]:
    """Return the bytes of a message by part: ``key`` and ``value``, if present."""
    if isinstance(message, StoredFile):
        return {"value": message.value}
    parts = {"key": message.key, "value": message.value}
    return {name: raw for name, raw in parts.items() if raw is not None}


def error_part(error: DecodeError, message: Message) -> str:
    """Return the part of the message that the offset of ``error`` counts in."""
    parts = message_parts(message)
    if error.path and error.path[0] in parts:
        return str(error.path[0])
    return "value" if "value" in parts or not parts else next(iter(parts))


def _dump(
    explanation: Explanation, message: Message, focus: _Focus | None
) -> Iterator[tuple[str, Iterable[_Line]]]:
    """Yield the lines of each part, with the focus flagged; by default the error's byte."""

    def flagged() -> _Focus | None:
        error = explanation.error_so_far
        if focus is not None or error is None:
            return focus
        return _Focus(error_part(error, message), error.offset, error)

    spans = _ByPart(explanation.each())
    for part, raw in message_parts(message).items():

        def in_this_part(part: str = part) -> _Focus | None:
            found = flagged()
            return found if found is not None and found.part == part else None

        lines = _lines_of_part(spans.of(part), raw, in_this_part)
        yield part, _mark(lines, in_this_part, len(raw))


def _lines_of_part(spans: Iterable[Span], raw: bytes, focus: _FindFocus) -> Iterator[_Line]:
    cursor = 0
    for span, following in _pairs(spans, len(raw)):
        if span.start > cursor:
            yield from _wrapped(_gap(raw, cursor, span.start), raw, span.start, focus)
            cursor = span.start
        line = _Line(
            span.start,
            b"",
            _short(_ascii(path_text(span.path)), MAX_FIELD_TEXT),
            value_text(span, raw),
            span.clause,
        )
        has_inner = following is not None and following.start < span.end
        if span.start < cursor or has_inner:
            yield line  # its bytes stand with the fields inside it
            continue
        yield from _wrapped(line, raw, span.end, focus)
        cursor = span.end
    if cursor < len(raw):
        yield from _wrapped(_gap(raw, cursor, len(raw)), raw, len(raw), focus)


def _pairs(spans: Iterable[Span], size: int) -> Iterator[tuple[Span, Span | None]]:
    """Yield each span within the part with the one after it; outer spans before inner ones."""
    inside = (span for span in spans if span.start <= span.end <= size)
    previous = None
    for _, together in groupby(inside, key=attrgetter("start")):
        for span in sorted(together, key=attrgetter("end"), reverse=True):
            if previous is not None:
                yield previous, span
            previous = span
    if previous is not None:
        yield previous, None


def _gap(raw: bytes, start: int, end: int) -> _Line:
    shown = raw[start : min(end, start + MAX_VALUE_TEXT + 1)]
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in shown)
    return _Line(start, b"", "", _short(text, MAX_VALUE_TEXT))


def value_text(span: Span, raw: bytes) -> str:
    """Return the value of a span for people, with its note."""
    size, value, text = span.end - span.start, span.value, span.text
    if isinstance(value, bytes) and len(value) == size > 0 and raw.startswith(value, span.start):
        # The bytes are in a column of their own: their characters say more.
        text = repr(value[: MAX_VALUE_TEXT + 1])
    shown = _short(_ascii(text), MAX_VALUE_TEXT)
    return f"{shown} ({_ascii(span.note)})" if span.note else shown


def _ascii(text: str) -> str:
    """Return text without what a terminal or another Python's tables may show differently."""
    if text.isascii() and text.isprintable():
        return text
    printable = "".join(
        sign if " " <= sign <= "~" or sign > "\x7f" else repr(sign)[1:-1] for sign in text
    )
    return printable.encode("ascii", "backslashreplace").decode()


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + _CUT


def _wrapped(line: _Line, raw: bytes, end: int, focus: _FindFocus) -> Iterator[_Line]:
    """Yield a field's line, and those that its further bytes need, up to ``end``."""
    start = line.start
    all_shown = end - start <= BYTES_A_LINE * LINES_A_FIELD
    shown = end if all_shown else start + BYTES_A_LINE * (LINES_A_FIELD - 1)
    line.raw = raw[start : min(start + BYTES_A_LINE, end)]
    yield line
    for begin in range(start + BYTES_A_LINE, shown, BYTES_A_LINE):
        yield _piece(raw, begin, end)
    found = focus()
    if found is not None and shown <= found.offset < end:
        begin = found.offset - (found.offset - start) % BYTES_A_LINE
        yield from _left_out(shown, begin)
        yield _piece(raw, begin, end)
        shown = min(begin + BYTES_A_LINE, end)
    yield from _left_out(shown, end)


def _piece(raw: bytes, begin: int, end: int) -> _Line:
    return _Line(begin, raw[begin : min(begin + BYTES_A_LINE, end)])


def _left_out(begin: int, end: int) -> Iterator[_Line]:
    if begin < end:
        yield _Line(begin, b"", cut=end - begin)


def _mark(lines: Iterable[_Line], focus: _FindFocus, size: int) -> Iterator[_Line]:
    is_found = False
    for line in lines:
        found = focus()
        if found is not None and line.start <= found.offset < line.start + len(line.raw):
            is_found = line.is_marked = True
            line.error = found.error
        yield line
    last = focus()
    if last is not None and not is_found:
        yield _Line(size, b"", "(end)", is_marked=True, error=last.error)


def _around_mark(lines: list[_Line], context: int) -> list[_Line]:
    at = next(index for index, line in enumerate(lines) if line.is_marked)
    return lines[max(0, at - context) : at + context + 1]


def _abridged(lines: list[_Line], most_lines: int, context: int) -> list[_Line]:
    """Return the beginning, the end and the lines around the flagged one."""
    if len(lines) <= most_lines:
        return lines
    end = most_lines // 4
    kept = {*range(most_lines - end), *range(len(lines) - end, len(lines))}
    for at, line in enumerate(lines):
        if line.is_marked:
            kept.update(range(max(0, at - context), min(len(lines), at + context + 1)))
    shown: list[_Line] = []
    left_out = 0
    for at, line in enumerate(lines):
        if at not in kept:
            left_out += 1
            continue
        if left_out:
            shown.append(_Line(line.start, b"", f"{_CUT} {left_out} lines more"))
            left_out = 0
        shown.append(line)
    return shown


def _with_headings(dump: _Dump, *, has_parts: bool) -> Iterator[str]:
    rows = _rows(dump, has_parts=has_parts)
    first = list(islice(rows, MEASURED_LINES))
    widths = [
        max([len(heading), *(len(getattr(row, name)) for row in first if isinstance(row, _Line))])
        for heading, name in zip(_HEADINGS[1:4], ("hex", "field", "value"), strict=True)
    ]
    yield "  ".join(
        [_HEADINGS[0].ljust(_GUTTER - 2), *map(str.ljust, _HEADINGS[1:4], widths), _HEADINGS[4]]
    )
    for row in chain(first, rows):
        if isinstance(row, str):
            yield row
            continue
        yield _text(row, widths)
        if row.error is not None:
            yield f"{'':{_GUTTER}}^ {_ascii(str(row.error))}"


def _rows(dump: _Dump, *, has_parts: bool) -> Iterator[str | _Line]:
    for part, lines in dump:
        if has_parts:
            yield f"{part}:"
        yield from lines


_HEADINGS = ["offset", "bytes", "field", "value", "clause"]


def _text(line: _Line, widths: list[int]) -> str:
    mark = f" {ERROR_MARK}" if line.is_marked else ""
    columns = [
        f"{line.start:04}{mark}".ljust(_GUTTER - 2),
        *map(str.ljust, (line.hex, line.field, line.value), widths),
        line.clause,
    ]
    return "  ".join(columns).rstrip()
