"""The fast encoder: rows in parts, and messages put together from these.

Column names are numbers of a message's term dictionary, which depends on the other rows of the
message. So the part of a row has all but these numbers. Messages with the same names in the same
order share one dictionary, which is made once.

``PartEncoder`` is for both Craft formats, which join the parts to messages. The plain encoder makes
messages with any other event.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias

from cdcwire.core.caches import BoundedCache
from cdcwire.core.compiled import (
    ENCODE_IRREGULARITIES,
    IRREGULARITIES,
    FastEncoder,
    ImagePlans,
    Irregular,
)
from cdcwire.core.compiled.varint_bytes import (
    deltas,
    uvarint_array,
    uvarint_bytes,
    varint_array,
)
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.core.message import KafkaMessage
from cdcwire.core.message import Message as OutMessage
from cdcwire.core.rows import Row, event_of
from cdcwire.formats.craft.events import AnyEvent, batches, event_writer
from cdcwire.formats.craft.headers import NO_PARTITION, Terms
from cdcwire.formats.craft.images import ImagePlan, PlanMaker
from cdcwire.formats.craft.message import EVENT_ROW, GROUP_NEW, GROUP_OLD, Message
from cdcwire.formats.craft.message import Event as WireEvent
from cdcwire.formats.craft.profile import CRAFT, Profile
from cdcwire.formats.craft.settings import Settings, read_settings
from cdcwire.formats.craft.wire import VERSION, encode
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import Column, Value

_NEW = bytes((GROUP_NEW,))
_OLD = bytes((GROUP_OLD,))
RowImage: TypeAlias = "tuple[tuple[Column, ...], tuple[Value, ...]]"
_WireEvent: TypeAlias = "Callable[[Event], tuple[AnyEvent, int | None]]"
_MAX_TERMS = 1 << 15  # of all dictionaries together
_VERSION = uvarint_bytes(VERSION)
_ROW = bytes((EVENT_ROW,))


class Group(NamedTuple):
    """A row image: the byte of its type, its plan, and the sizes and bytes of its values."""

    kind: bytes
    plan: ImagePlan
    sizes: bytes
    values: bytes


class Part(NamedTuple):
    """A row. ``size``: the producer's estimate."""

    change: RowChange | Row
    commit_ts: int
    partition: int
    plan: ImagePlan
    groups: tuple[Group, ...]
    size: int


class PartEncoder(FastEncoder[Part], Generic[AnyEvent]):
    """Encodes rows whose columns it has seen. The plain encoder makes everything else.

    ``deleted``: the type of a deleted row's group. ``wire_event``: what makes the plain encoder's
    events.
    """

    def __init__(
        self,
        settings: Settings,
        tables: Iterable[Table],
        profile: Profile,
        deleted: int,
        wire_event: _WireEvent[AnyEvent],
    ) -> None:
        self._limits = settings.max_message_bytes, settings.max_batch_size
        self._wire_event = wire_event
        self._deleted_kind = bytes((deleted,))
        maker = PlanMaker(settings, tables, profile)
        self._plans: ImagePlans[ImagePlan] = ImagePlans(maker.plan)
        self._deleted = self._plans
        if settings.delete_only_handle_key:
            self._deleted = ImagePlans(maker.handle_key_plan)

    def encode(self, events: Iterable[Row | Event]) -> Iterator[OutMessage]:
        """Yield messages, see ``FastEncoder.encode``. Rows need not become events first."""
        return self._messages(events)

    def _messages(self, events: Iterable[Row | Event]) -> Iterator[OutMessage]:
        for batch in batches(events, self._part_or_event, *self._limits):
            yield KafkaMessage(None, self._message(batch))

    def _part_or_event(self, event: Row | Event) -> tuple[Part | AnyEvent, int | None]:
        part = self._part_of_row(event) if isinstance(event, Row) else self.piece(event)
        return self._wire_event(event_of(event)) if part is None else (part, part.size)

    def _message(self, batch: Sequence[Part | AnyEvent]) -> bytes:
        parts = [part for part in batch if isinstance(part, Part)]
        if len(parts) == len(batch):
            try:
                return self._joined(parts)
            except IRREGULARITIES:
                pass  # outside this block, an error of the plain encoder has no context
        return self._plainly(
            tuple(
                self._wire_event(event_of(each.change))[0] if isinstance(each, Part) else each
                for each in batch
            )
        )

    @abstractmethod
    def _joined(self, parts: list[Part]) -> bytes:
        """Return the message of rows. Raises: one of IRREGULARITIES."""

    @abstractmethod
    def _plainly(self, events: tuple[AnyEvent, ...]) -> bytes:
        """Return the message of events as the plain encoder makes it. Raises: EncodeError."""

    def _piece(self, change: RowChange) -> Part:
        before, after = change.before, change.after
        position = change.position
        return self._part(
            change,
            None if after is None else (after.columns, after.values),
            None if before is None else (before.columns, before.values),
            position.commit_ts,
            position.partition,
        )

    def _part_of_row(self, row: Row) -> Part | None:
        new, old = row.new_layout, row.old_layout
        try:
            return self._part(
                row,
                None if new is None else (new.columns, new.model_values(row.new or ())),
                None if old is None else (old.columns, old.model_values(row.old or ())),
                row.commit_ts,
                row.partition,
            )
        except ENCODE_IRREGULARITIES:
            return None

    def _part(
        self,
        change: RowChange | Row,
        after: RowImage | None,
        before: RowImage | None,
        ts: int | None,
        partition: int | None,
    ) -> Part:
        table, op = change.table, change.op
        if change.half or (change.sent and (op != "delete" or change.sent == "changed")):
            raise Irregular
        if op == "delete":
            if before is None or after is not None:
                raise Irregular
            plan = self._deleted.of(table, before[0])
            groups: tuple[Group, ...]
            groups = (Group(self._deleted_kind, plan, *plan.written(before[1])),)
        else:
            if after is None or (before is not None) != (op == "update"):
                raise Irregular
            plan = self._plans.of(table, after[0])
            groups = (Group(_NEW, plan, *plan.written(after[1])),)
            if before is not None:
                old = self._plans.of(table, before[0])
                groups = (*groups, Group(_OLD, old, *old.written(before[1])))
            elif op != "insert":
                raise Irregular
        if type(ts) is not int or not 0 <= ts < UINT64_END:
            raise Irregular
        if partition is None:
            partition = NO_PARTITION
        elif type(partition) is not int or partition == NO_PARTITION:
            raise Irregular
        size = plan.row_size
        for group in groups:
            size += group.plan.image_size + len(group.values)
        return Part(change, ts, partition, plan, groups, size)


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """The terms of a message. ``heads``: what groups of a plan have between kind and sizes."""

    ids: dict[str, int]
    raw: bytes
    heads: dict[ImagePlan, bytes]


class RowEncoder(PartEncoder[WireEvent]):
    """Encodes rows whose columns it has seen. The plain encoder makes everything else."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        settings, tables = read_settings(context), context.tables
        super().__init__(settings, tables, CRAFT, GROUP_OLD, event_writer(settings, tables))
        self._dictionaries: BoundedCache[tuple[object, ...], _Dictionary]
        self._dictionaries = BoundedCache(_MAX_TERMS)

    def _plainly(self, events: tuple[WireEvent, ...]) -> bytes:
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
