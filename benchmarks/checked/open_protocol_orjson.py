"""Open Protocol by orjson and a checked plan: the plan of ``open_protocol`` over dictionaries.

orjson keeps the last of repeated members and rounds long integers, silently. So a row is read only
if orjson writes the same text again, with the escapes of Go. Then nothing was lost.
"""

from __future__ import annotations

from typing import Any

import orjson

from benchmarks.checked.open_protocol import PlanDecoder, RowPlan
from cdcwire.core.compiled import Irregular
from cdcwire.core.rows import Layout, Values
from cdcwire.formats.open_protocol.message import Columns


class OrjsonPlanDecoder(PlanDecoder):
    """Decodes Kafka messages as the fast decoder does, except how it reads a row."""

    def _members(self, text: bytes) -> Any:
        found = orjson.loads(text)
        written = orjson.dumps(found)
        if written != text and _as_go(written) != text:
            raise Irregular
        return found.items()

    def _names(self, columns: Any) -> tuple[object, ...]:
        return tuple(columns)

    def _row_plan(self, columns: Columns, wanted: tuple[int, ...], layout: Layout) -> RowPlan:
        return OrjsonRowPlan(columns, wanted, layout)


class OrjsonRowPlan(RowPlan):
    """How the columns of one layout are read. All except the values is compared as one text."""

    def __init__(self, columns: Columns, wanted: tuple[int, ...], layout: Layout) -> None:
        super().__init__(columns, wanted, layout)
        self._heads_text = orjson.dumps([dict(head) for head in self._heads])

    def read(self, columns: Any) -> Values:
        found = [cell.pop("v") for cell in columns.values()]
        if orjson.dumps(list(columns.values())) != self._heads_text:
            raise Irregular
        return self._converted(found)


def _as_go(text: bytes) -> bytes:
    """Return JSON with the escapes of Go."""
    for raw, escape in ((b"&", b"\\u0026"), (b"<", b"\\u003c"), (b">", b"\\u003e")):
        text = text.replace(raw, escape)
    return text
