"""The fast encoder of the proposal: each group spells out its names, which its plan has ready."""

from __future__ import annotations

from cdcwire.core.caches import BoundedCache
from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.varint_bytes import deltas, uvarint_array, uvarint_bytes, varint_array
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import UINT64_END
from cdcwire.core.rows import Row
from cdcwire.formats.craft.arrays import MAX_NAME_BYTES
from cdcwire.formats.craft.fast_encoder import Part, PartEncoder, RowImage
from cdcwire.formats.craft.images import ImagePlan
from cdcwire.formats.craft.message import EVENT_ROW
from cdcwire.formats.craft.profile import PROPOSAL
from cdcwire.formats.craft.proposal.events import ROW_ID, batch_settings, event_writer
from cdcwire.formats.craft.proposal.message import GROUP_DELETE, Event, Message
from cdcwire.formats.craft.proposal.wire import VERSION, encode
from cdcwire.formats.craft.settings import read_settings
from cdcwire.model.events import RowChange

_MAX_NAMES = 1 << 15  # of all plans together
_VERSION = VERSION.to_bytes(2, "big")
_ROW = bytes((EVENT_ROW,))
_NO_ROW_ID = bytes(1)


class RowEncoder(PartEncoder[Event]):
    """Encodes rows whose columns it has seen. The plain encoder makes everything else."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        settings, tables = batch_settings(read_settings(context)), context.tables
        super().__init__(settings, tables, PROPOSAL, GROUP_DELETE, event_writer(settings, tables))
        self._heads: BoundedCache[ImagePlan, bytes] = BoundedCache(_MAX_NAMES)

    def _part(
        self,
        change: RowChange | Row,
        after: RowImage | None,
        before: RowImage | None,
        ts: int | None,
        partition: int | None,
    ) -> Part:
        if change.extra and ROW_ID in change.extra:
            raise Irregular
        return super()._part(change, after, before, ts, partition)

    def _plainly(self, events: tuple[Event, ...]) -> bytes:
        return encode(Message(events))

    def _joined(self, parts: list[Part]) -> bytes:
        values: list[bytes] = []
        value_sizes: list[int] = []
        group_tables: list[bytes] = []
        for part in parts:
            sizes = []
            for kind, plan, lengths, raw in part.groups:
                head = self._heads.get(plan) or self._head(plan)
                values += (kind, head, lengths, raw)
                sizes.append(1 + len(head) + len(lengths) + len(raw))
            value_sizes.append(sum(sizes))
            group_tables.append(_size_table(sizes))
        keys = b"".join(
            (
                uvarint_array([step % UINT64_END for step in deltas([p.commit_ts for p in parts])]),
                _ROW * len(parts),
                _NO_ROW_ID * len(parts),
                varint_array([part.partition for part in parts]),
                _strings([part.plan.schema for part in parts]),
                _strings([part.plan.table for part in parts]),
            )
        )
        tables = b"".join((_size_table([len(keys)]), _size_table(value_sizes), *group_tables))
        tail = uvarint_bytes(len(tables))[::-1]
        count = len(parts).to_bytes(2, "big")
        return b"".join((_VERSION, count, keys, *values, tables, tail))

    def _head(self, plan: ImagePlan) -> bytes:
        """Return what groups of a plan have between kind and sizes."""
        head = uvarint_bytes(len(plan.names)) + _strings(plan.names) + plan.types_and_flags
        self._heads.keep(plan, head, len(plan.names))
        return head


def _size_table(sizes: list[int]) -> bytes:
    return uvarint_bytes(len(sizes)) + uvarint_array(sizes)


def _strings(names: list[str] | tuple[str, ...]) -> bytes:
    raws = [name.encode() for name in names]
    lengths = [len(raw) for raw in raws]
    if max(lengths) > MAX_NAME_BYTES:
        raise Irregular
    return uvarint_array(lengths) + b"".join(raws)
