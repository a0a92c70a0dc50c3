"""Bytes for people: offset, bytes, field, value and clause, one line a field.

Offsets are decimal, as in every error and in ``@cut:17``. A long field takes several lines and is
cut after a few; so is its text. Bytes of no field have their ASCII characters as value. The lines
are plain ASCII except for the sign of a cut, so they are the same on every Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cdcwire.core.errors import DecodeError, path_text
from cdcwire.core.format import Explanation
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import Span

BYTES_A_LINE = 12
LINES_A_FIELD = 6
MAX_VALUE_TEXT = 64
MAX_FIELD_TEXT = 48
ERROR_MARK = ">"

_GUTTER = 8  # the column of offsets, with the mark
_CUT = "…"


@dataclass(frozen=True, slots=True)
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


def hexdump_lines(
    explanation: Explanation,
    message: Message,
    focus_offset: int | None = None,
    context: int = 5,
    focus_part: str = "value",
    most_lines: int | None = None,
) -> list[str]:
    """Return the annotated dump of a message.

    A ``>`` flags the byte of ``explanation.error``, with the error on the line below. With
    ``focus_offset`` it flags the byte at this offset of ``focus_part`` instead, and only
    ``context`` lines before and after it are shown. ``most_lines``: a part with more lines is cut
    in its middle, but not at the flagged line.
    """
    error = explanation.error
    if focus_offset is None:
        if error is None:
            dump = _dump(explanation, message, None, "", None)
        else:
            part = error_part(error, message)
            dump = _dump(explanation, message, error.offset, part, error)
        if most_lines is not None:
            dump = [(part, _abridged(lines, most_lines, context)) for part, lines in dump]
        return _with_headings(dump)
    dump = _dump(explanation, message, focus_offset, focus_part, None)
    focused = [(part, lines) for part, lines in dump if part == focus_part]
    return _with_headings([(part, _around_mark(lines, context)) for part, lines in focused])


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
    explanation: Explanation,
    message: Message,
    focus: int | None,
    focus_part: str,
    error: DecodeError | None,
) -> list[tuple[str, list[_Line]]]:
    dump = []
    for part, raw in message_parts(message).items():
        spans = [span for span in explanation.spans if span.part == part]
        lines = list(_lines_of_part(spans, raw, focus if part == focus_part else None))
        if focus is not None and part == focus_part:
            lines = _mark(lines, focus, len(raw), error)
        dump.append((part, lines))
    return dump


def _lines_of_part(spans: list[Span], raw: bytes, focus: int | None) -> Iterator[_Line]:
    ordered = sorted(
        (span for span in spans if span.start <= span.end <= len(raw)),
        key=lambda span: (span.start, -span.end),
    )
    cursor = 0
    for index, span in enumerate(ordered):
        if span.start > cursor:
            yield from _wrapped(_gap(raw, cursor, span.start), focus)
            cursor = span.start
        line = _Line(
            span.start,
            b"",
            _short(_ascii(path_text(span.path)), MAX_FIELD_TEXT),
            value_text(span, raw),
            span.clause,
        )
        has_inner = index + 1 < len(ordered) and ordered[index + 1].start < span.end
        if span.start < cursor or has_inner:
            yield line  # its bytes stand with the fields inside it
            continue
        yield from _wrapped(replace(line, raw=raw[span.start : span.end]), focus)
        cursor = span.end
    if cursor < len(raw):
        yield from _wrapped(_gap(raw, cursor, len(raw)), focus)


def _gap(raw: bytes, start: int, end: int) -> _Line:
    shown = raw[start : min(end, start + MAX_VALUE_TEXT + 1)]
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in shown)
    return _Line(start, raw[start:end], "", _short(text, MAX_VALUE_TEXT))


def value_text(span: Span, raw: bytes) -> str:
    """Return the value of a span for people, with its note."""
    own = raw[span.start : span.end]
    # The bytes are in a column of their own: their characters say more.
    text = repr(own[: MAX_VALUE_TEXT + 1]) if own and span.value == own else span.text
    shown = _short(_ascii(text), MAX_VALUE_TEXT)
    return f"{shown} ({_ascii(span.note)})" if span.note else shown


def _ascii(text: str) -> str:
    """Return text without what a terminal or another Python's tables may show differently."""
    printable = "".join(
        sign if " " <= sign <= "~" or sign > "\x7f" else repr(sign)[1:-1] for sign in text
    )
    return printable.encode("ascii", "backslashreplace").decode()


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + _CUT


def _wrapped(line: _Line, focus: int | None) -> Iterator[_Line]:
    """Yield a field's line, and those that its further bytes need."""
    pieces = [
        _Line(line.start + begin, line.raw[begin : begin + BYTES_A_LINE])
        for begin in range(0, len(line.raw), BYTES_A_LINE)
    ] or [line]
    pieces[0] = replace(line, raw=pieces[0].raw)
    if len(pieces) <= LINES_A_FIELD:
        yield from pieces
        return
    shown = pieces[: LINES_A_FIELD - 1]
    hidden = pieces[LINES_A_FIELD - 1 :]
    yield from shown
    at_focus = [piece for piece in hidden if _holds(piece, focus)]
    yield from _runs(hidden, at_focus)


def _runs(hidden: list[_Line], kept: list[_Line]) -> Iterator[_Line]:
    """Yield ``hidden`` with all but the ``kept`` lines drawn together."""
    start, cut = hidden[0].start, 0
    for line in hidden:
        if line in kept:
            if cut:
                yield _Line(start, b"", cut=cut)
            yield line
            start, cut = line.start + len(line.raw), 0
        else:
            cut += len(line.raw)
    if cut:
        yield _Line(start, b"", cut=cut)


def _holds(line: _Line, focus: int | None) -> bool:
    return focus is not None and line.start <= focus < line.start + len(line.raw)


def _mark(lines: list[_Line], focus: int, size: int, error: DecodeError | None) -> list[_Line]:
    marked = []
    for line in lines:
        is_marked = _holds(line, focus)
        marked.append(replace(line, is_marked=is_marked, error=error if is_marked else None))
    if not any(line.is_marked for line in marked):
        marked.append(_Line(size, b"", "(end)", is_marked=True, error=error))
    return marked


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


def _with_headings(dump: list[tuple[str, list[_Line]]]) -> list[str]:
    everything = [line for _, lines in dump for line in lines]
    widths = [
        max((len(getattr(line, name)) for line in everything), default=0)
        for name in ("hex", "field", "value")
    ]
    widths = [max(width, len(name)) for width, name in zip(widths, _HEADINGS[1:], strict=False)]
    heading = "  ".join(
        [_HEADINGS[0].ljust(_GUTTER - 2), *map(str.ljust, _HEADINGS[1:4], widths), _HEADINGS[4]]
    )
    shown = [heading]
    for part, lines in dump:
        if len(dump) > 1 or part != "value":
            shown.append(f"{part}:")
        for line in lines:
            shown.append(_text(line, widths))
            if line.error is not None:
                shown.append(f"{'':{_GUTTER}}^ {_ascii(str(line.error))}")
    return shown


_HEADINGS = ["offset", "bytes", "field", "value", "clause"]


def _text(line: _Line, widths: list[int]) -> str:
    mark = f" {ERROR_MARK}" if line.is_marked else ""
    columns = [
        f"{line.start:04}{mark}".ljust(_GUTTER - 2),
        *map(str.ljust, (line.hex, line.field, line.value), widths),
        line.clause,
    ]
    return "  ".join(columns).rstrip()
