"""The rules of Craft as shipped, and the change of a number, which both Craft formats share.

Every region of a message is consumed exactly and all sizes add up, so a number that says where
something ends has one right value. A changed number may take more bytes than the old one, so the
size tables and the tail are put right around it. A decoder that adds up the sizes first would
otherwise never reach the number itself. The exceptions, which are legal or may be:

* An empty value and NULL differ in the length alone, so 0 is never changed to -1, nor -1 to 0.
* One column more or fewer shifts the arrays of a group; only a group of no columns is surely wrong.
* An unknown version, column type or DDL code has a reading: the bytes are as before.
* A tail one larger is not made where the byte before the size tables would be a valid count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.reader import Span, write_uvarint, write_varint
from cdcwire.formats.craft.profile import CRAFT, PROPOSAL
from cdcwire.model.events import Path
from cdcwire_conformance.mutations import (
    BOMB_COUNT,
    BOMB_SIZE,
    FormatRules,
    NumberRule,
    Rewrite,
    Site,
    number_of,
)


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


_META_COUNT = 2  # the elements of the first size table

_EVENT = r"events\[\d+\]"
GROUP = _EVENT + r"\.groups\[\d+\]"
COLUMN = GROUP + r"\.columns\[\d+\]"


def is_one(site: Site) -> bool:
    """Return whether the number is 1."""
    return site.number == 1


def is_more_than_one(site: Site) -> bool:
    """Return whether the number is larger than 1."""
    return site.number > 1


def is_null(site: Site) -> bool:
    """Return whether the length is -1, the length of NULL."""
    return site.number == -1


def is_empty(site: Site) -> bool:
    """Return whether the length is 0."""
    return site.number == 0


def has_bytes(site: Site) -> bool:
    """Return whether the length is larger than 0."""
    return site.number > 0


def _is_no_table_before(site: Site) -> bool:
    before = min(span.start for path, span in site.spans.items() if path[0] == "size_tables") - 1
    return site.raw[before] != _META_COUNT


_EVENT_TYPES = frozenset({CRAFT.event_types, PROPOSAL.event_types})
RULES = FormatRules(
    parts=("value",),
    rewrite=rewriter(TablesLayout("meta", "bodies", fixed=(), has_deltas=True)),
    numbers=(
        NumberRule(_EVENT + r"\.type", "tag", values=(0, 4), clauses=_EVENT_TYPES),
        NumberRule(_EVENT + r"\.query\.length", "length", steps=(-1, 1), bomb=BOMB_SIZE),
        NumberRule(GROUP + r"\.type", "tag", values=(0, 3)),
        NumberRule(GROUP + r"\.count", "count", steps=(-1,), bomb=BOMB_COUNT, applies=is_one),
        NumberRule(GROUP + r"\.count", "count", bomb=BOMB_COUNT, applies=is_more_than_one),
        NumberRule(
            GROUP + r"\.count", "count", steps=(-1,), applies=is_more_than_one, is_certain=False
        ),
        NumberRule(GROUP + r"\.count", "count", steps=(1,), is_certain=False),
        NumberRule(
            COLUMN + r"\.length", "length", steps=(-1, 1), bomb=BOMB_SIZE - 1, applies=has_bytes
        ),
        NumberRule(COLUMN + r"\.length", "length", steps=(1,), applies=is_empty),
        NumberRule(COLUMN + r"\.length", "length", steps=(-1,), applies=is_null),
        NumberRule(r"dictionary\.count", "count", steps=(-1, 1), bomb=BOMB_COUNT),
        NumberRule(r"dictionary\[\d+\]\.length", "length", steps=(-1, 1), bomb=BOMB_SIZE),
        NumberRule(r"size_tables\..*\.count", "count", steps=(-1, 1), bomb=BOMB_COUNT),
        NumberRule(r"size_tables\..*\[\d+\]", "size", steps=(-1, 1), bomb=BOMB_SIZE - 1),
        NumberRule("tail", "size", steps=(-1,), bomb=BOMB_SIZE),
        NumberRule("tail", "size", steps=(1,), applies=_is_no_table_before),
    ),
)
