"""The fast encoder: rows in parts, and messages put together from these.

Column names are numbers of a message's term dictionary, which depends on the other rows of the
message. So the part of a row has all but these numbers. Messages with the same names in the same
order share one dictionary, which is made once.
"""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.caches import BoundedCache
from cdcwire.core.compiled.varint_bytes import (
    deltas,
    uvarint_array,
    uvarint_bytes,
    varint_array,
)
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.formats.craft.events import event_writer
from cdcwire.formats.craft.headers import Terms
from cdcwire.formats.craft.image_plan import ImagePlan
from cdcwire.formats.craft.message import EVENT_ROW, GROUP_OLD, Event, Message
from cdcwire.formats.craft.profile import CRAFT
from cdcwire.formats.craft.row_parts import Part, PartEncoder
from cdcwire.formats.craft.settings import read_settings
from cdcwire.formats.craft.wire import VERSION, encode
from cdcwire.mysql.json_members import INT64_END, UINT64_END

_MAX_TERMS = 1 << 15  # of all dictionaries together
_VERSION = uvarint_bytes(VERSION)
_ROW = bytes((EVENT_ROW,))


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """The terms of a message. ``heads``: what groups of a plan have between kind and sizes."""

    ids: dict[str, int]
    raw: bytes
    heads: dict[ImagePlan, bytes]


class RowEncoder(PartEncoder[Event]):
    """Encodes rows whose columns it has seen. The plain encoder makes everything else."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        settings, tables = read_settings(context), context.tables
        super().__init__(settings, tables, CRAFT, GROUP_OLD, event_writer(settings, tables))
        self._dictionaries: BoundedCache[tuple[object, ...], _Dictionary]
        self._dictionaries = BoundedCache(_MAX_TERMS)

    def _plainly(self, events: tuple[Event, ...]) -> bytes:
        return encode(Message(events))

    def _joined(self, parts: list[Part]) -> bytes:
        dictionary = self._dictionary(parts)
        ids, heads = dictionary.ids, dictionary.heads
        bodies: list[bytes] = []
        body_sizes: list[int] = []
        group_tables: list[bytes] = []
        for part in parts:
            sizes = []
            for kind, plan, value_sizes, values in part.groups:
                head = heads[plan]
                bodies += (kind, head, value_sizes, values)
                sizes.append(1 + len(head) + len(value_sizes) + len(values))
            body_sizes.append(sum(sizes))
            group_tables.append(_size_table(sizes))
        headers = b"".join(
            (
                uvarint_array([step % UINT64_END for step in deltas([p.commit_ts for p in parts])]),
                _ROW * len(parts),
                _signed_deltas([part.partition for part in parts]),
                _signed_deltas([ids[part.plan.schema] for part in parts]),
                _signed_deltas([ids[part.plan.table] for part in parts]),
            )
        )
        meta = _size_table([len(headers), len(dictionary.raw)])
        tables = b"".join((meta, _size_table(body_sizes), *group_tables))
        tail = uvarint_bytes(len(tables))[::-1]
        return b"".join((_VERSION, headers, *bodies, dictionary.raw, tables, tail))

    def _dictionary(self, parts: list[Part]) -> _Dictionary:
        schemas = dict.fromkeys([part.plan.schema for part in parts])
        tables = dict.fromkeys([part.plan.table for part in parts])
        plans = dict.fromkeys([group.plan for part in parts for group in part.groups])
        shape = (*schemas, None, *tables, None, *plans)
        found = self._dictionaries.get(shape)
        if found is None:
            terms = Terms()
            for name in (*schemas, *tables):
                terms.id_of(name)
            heads = {}
            for plan in plans:
                names = [terms.id_of(name) for name in plan.names]
                count = uvarint_bytes(len(names))
                heads[plan] = count + _signed_deltas(names) + plan.types_and_flags
            raw = bytearray()
            terms.write(raw)
            found = _Dictionary(terms.ids, bytes(raw), heads)
            self._dictionaries.keep(shape, found, len(terms.ids) + len(shape))
        return found


def _size_table(sizes: list[int]) -> bytes:
    return uvarint_bytes(len(sizes)) + varint_array(deltas(sizes))


def _signed_deltas(values: list[int]) -> bytes:
    return varint_array([(step + INT64_END) % UINT64_END - INT64_END for step in deltas(values)])
