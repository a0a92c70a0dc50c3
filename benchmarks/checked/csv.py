"""CSV by one pattern for all fields, and a checked plan for each table.

``csv.reader`` does not say which fields were quoted, so that NULL and a text would be the same. The
plan reads files of the default separators; decimals stay text, as in the rows of the fast decoder.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any, TypeAlias

from benchmarks.checked import irregular
from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.errors import step
from cdcwire.core.limits import UINT64_END
from cdcwire.core.rows import NOTHING_ELSE, Row, new_row
from cdcwire.formats.csv.fast import RowDecoder, RowPlan
from cdcwire.formats.csv.row_patterns import _BASE64, _FLOAT
from cdcwire.formats.csv.settings import Settings
from cdcwire.formats.csv.values import ColumnCodec
from cdcwire.model.events import Event
from cdcwire.model.floats import read_float32
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    JsonType,
    TextType,
    TimestampType,
    TimeType,
    YearType,
)
from cdcwire.mysql.value_texts import integer_range, pattern
from cdcwire.mysql.values import read_text

_Reading: TypeAlias = "tuple[bool, Callable[[str], object] | None, Callable[[str], Any] | None]"

# Quote, text, separator: every field has its own two characters at the end or one comma.
_FIELD = re.compile(r'("?)((?:(?<=")(?:[^"]|"")*(?="))|[^",\r\n]*)\1(,|\r\n)')
_DIGITS = re.compile("0|[1-9][0-9]{0,19}").fullmatch
_OPS = {"I": "insert", "U": "update", "D": "delete"}


class PlanDecoder(RowDecoder):
    """Decodes files as the fast decoder does, except how it reads a record."""

    _readings: dict[int, tuple[RowPlan, list[_Reading]]]

    def _usual_rows(
        self,
        plan: RowPlan,
        value: bytes,
        offset: int,
        partition: int | None,
        rows: list[Row | Event],
    ) -> None:
        self._readings = getattr(self, "_readings", {})
        if id(plan) not in self._readings:
            codecs = [codec for codec in plan.plan.codecs if codec is not None]
            self._readings[id(plan)] = (plan, [reading_of(codec) for codec in codecs])
        _, readings = self._readings[id(plan)]
        is_default = self.settings == Settings(include_commit_ts=True, layout=self.settings.layout)
        text = value.decode("latin-1")
        meta, size = 4, 4 + len(plan.plan.codecs)
        heads = ('"', plan.plan.table.name or "", ",", '"', plan.plan.table.schema or "", ",")
        match, layout, table = _FIELD.match, plan.layout, plan.plan.table
        while offset < len(value):
            try:
                if not is_default or len(readings) != len(plan.plan.codecs):
                    raise Irregular
                fields = []
                end = offset
                for _ in range(size):
                    found = match(text, end)
                    if found is None:
                        raise Irregular
                    fields.append(found.groups())
                    end = found.end()
                op, *_, commit_ts = fields[:meta]
                if (*fields[1], *fields[2]) != heads or commit_ts[::2] != ("", ","):
                    raise Irregular
                if fields[-1][2] != "\r\n" or op[::2] != ('"', ",") or op[1] not in _OPS:
                    raise Irregular
                if _DIGITS(commit_ts[1]) is None or int(commit_ts[1]) >= UINT64_END:
                    raise Irregular
                values = tuple(
                    [
                        None
                        if raw == "\\N" and not quote
                        else irregular()
                        if bool(quote) is not is_quoted
                        or (separator == "\r\n" and index != size - 1)
                        or (check is not None and check(raw) is None)
                        else raw
                        if read is None
                        else read(raw)
                        for index, ((quote, raw, separator), (is_quoted, check, read)) in enumerate(
                            zip(fields[meta:], readings, strict=True), meta
                        )
                    ]
                )
                images: tuple[object, ...] = (layout, values, None, None)
                if op[1] == "D":
                    images = (None, None, layout, values)
                head = (table, _OPS[op[1]], int(commit_ts[1]), partition)
                rows.append(new_row((*head, *images, None, *NOTHING_ELSE)))
                offset = end
                continue
            except IRREGULARITIES:
                pass  # see ``FastDecoder.decode``
            with step("records", len(rows)):
                change, offset = self._plain_row(plan.plan, value, offset, partition)
            rows.append(change)


def reading_of(codec: ColumnCodec) -> _Reading:
    """Return whether a kind is quoted, what matches its texts, and what converts them."""
    match codec.kind:
        case IntType() | BitType() | YearType() as kind:
            low, high = (0, 1 << 12) if isinstance(kind, YearType) else integer_range(kind)

            def integer(text: str) -> int:
                number = int(text)
                if not low <= number < high:
                    raise Irregular
                return number

            return False, re.compile(pattern(kind)).fullmatch, integer
        case FloatType(bits):
            return False, re.compile(_FLOAT).fullmatch, _float if bits == 32 else _double
        case DecimalType() | DateType() | TimeType() | DatetimeType() | TimestampType() as kind:
            return True, re.compile(pattern(kind)).fullmatch, None
        case BytesType():
            return True, re.compile(_BASE64).fullmatch, _bytes
        case TextType():
            return True, None, _text
        case JsonType():
            return True, None, _json
        case _:
            read = codec.read_text
            return True, None, lambda text: read(text.replace('""', '"').encode("latin-1"))


def _finite(number: float) -> float:
    if number - number:  # an infinity less itself is not a number
        raise Irregular
    return number


def _float(text: str) -> float:
    return _finite(read_float32(text))


def _double(text: str) -> float:
    return _finite(float(text))


def _bytes(text: str) -> bytes:
    if len(text) & 3:
        raise Irregular
    return a2b_base64(text)


def _text(text: str) -> str | bytes:
    text = text.replace('""', '"')
    return text if text.isascii() else read_text(text.encode("latin-1"))


def _json(text: str) -> str:
    text = text.replace('""', '"')
    if not text:
        raise Irregular
    return text if text.isascii() else text.encode("latin-1").decode()
