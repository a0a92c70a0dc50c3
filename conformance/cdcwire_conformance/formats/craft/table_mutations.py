"""Another number in a Craft message, with the size tables and the tail put right around it.

Shared by both Craft formats. A changed number may take more bytes than the old one. A decoder that
adds up the sizes first would then never reach the number itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.reader import Span, write_uvarint, write_varint
from cdcwire.model.events import Path
from cdcwire_conformance.corpus.mutations.rules import Rewrite, Site, number_of


@dataclass(frozen=True, slots=True)
class TablesLayout:
    """The differences between the two formats.

    ``headers`` and ``bodies``: the tables of the event headers and of the event bodies. ``fixed``:
    fields of two bytes, big-endian. ``has_deltas``: sizes are written as differences.
    """

    headers: str
    bodies: str
    fixed: tuple[Path, ...]
    has_deltas: bool


@dataclass(slots=True)
class _Table:
    count: int
    sizes: list[int] = field(default_factory=list)


def rewriter(layout: TablesLayout) -> Rewrite:
    """Return what rewrites a number of this format."""

    def rewrite(site: Site, number: int) -> bytes | None:
        raw, span = site.raw, site.span
        if span.path in layout.fixed:
            if not 0 <= number < 1 << 16:
                return None
            return raw[: span.start] + number.to_bytes(2, "big") + raw[span.end :]
        if span.path == ("tail",):
            coded = _uvarint(number)
            return None if coded is None else raw[: span.start] + coded[::-1]
        tables, surplus = _tables(site, raw)
        if span.path[0] == "size_tables":
            _set(tables, span.path, number)
            return _joined(raw[: _tables_start(site)], tables, surplus, layout)
        coded = _varint(number) if _is_signed(span.path) else _uvarint(number)
        if coded is None:
            return None
        body = raw[: span.start] + coded + raw[span.end : _tables_start(site)]
        _grow(tables, span, len(coded) - (span.end - span.start), layout)
        return _joined(body, tables, surplus, layout)

    return rewrite


def _is_signed(path: Path) -> bool:
    """Return whether this is the length of a column's value, which may be -1."""
    return path[-3:-2] == ("columns",) and path[-1] == "length"


def _tables_start(site: Site) -> int:
    return min(span.start for path, span in site.spans.items() if path[:1] == ("size_tables",))


def _tables(site: Site, raw: bytes) -> tuple[dict[Path, _Table], bytes]:
    """Return the size tables by name, in their order, and what follows the last one."""
    tables: dict[Path, _Table] = {}
    surplus = b""
    found = [item for item in site.spans.items() if item[0][:1] == ("size_tables",)]
    for path, span in sorted(found, key=lambda item: item[1].start):
        number = number_of(span)
        if path[-1] == "surplus" or number is None:
            surplus += raw[span.start : span.end]
        elif path[-1] == "count":
            tables[path[1:-1]] = _Table(number)
        else:
            tables[path[1:-1]].sizes.append(number)
    return tables, surplus


def _set(tables: dict[Path, _Table], path: Path, number: int) -> None:
    table, last = tables[path[1:-1]], path[-1]
    if isinstance(last, int):
        table.sizes[last] = number
    else:
        table.count = number


def _grow(tables: dict[Path, _Table], span: Span, growth: int, layout: TablesLayout) -> None:
    """Add the growth of a field to the sizes of everything around it."""
    match span.path:
        case ("dictionary", *_):
            tables[layout.headers,].sizes[1] += growth
        case ("events", int(event), "groups", int(group), *_):
            tables[layout.bodies,].sizes[event] += growth
            tables["groups", event].sizes[group] += growth
        case ("events", int(event), *_) if span.path[2] == "query" or "ddl" in span.clause:
            tables[layout.bodies,].sizes[event] += growth
        case ("events", *_):
            tables[layout.headers,].sizes[0] += growth
        case _:
            pass  # the version is in no table


def _joined(
    body: bytes, tables: dict[Path, _Table], surplus: bytes, layout: TablesLayout
) -> bytes | None:
    coded = bytearray()
    for table in tables.values():
        numbers: list[bytes | None] = [_uvarint(table.count)]
        last = 0
        for size in table.sizes:
            numbers.append(_varint(size - last) if layout.has_deltas else _uvarint(size))
            last = size
        for number in numbers:
            if number is None:
                return None
            coded += number
    coded += surplus
    tail = _uvarint(len(coded)) or b""
    return body + bytes(coded) + tail[::-1]


def _uvarint(number: int) -> bytes | None:
    if not 0 <= number < UINT64_END:
        return None
    out = bytearray()
    write_uvarint(out, number, "")
    return bytes(out)


def _varint(number: int) -> bytes | None:
    if not INT64_START <= number < INT64_END:
        return None
    out = bytearray()
    write_varint(out, number, "")
    return bytes(out)
