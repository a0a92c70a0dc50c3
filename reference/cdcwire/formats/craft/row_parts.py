"""Rows as the fast encoders of both Craft formats keep them: plans, and the bytes of values.

Each format joins these parts to messages. The plain encoder makes messages with any other event.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeAlias

from cdcwire.core.compiled import (
    ENCODE_IRREGULARITIES,
    IRREGULARITIES,
    FastEncoder,
    ImagePlans,
    Irregular,
)
from cdcwire.core.message import KafkaMessage
from cdcwire.core.message import Message as OutMessage
from cdcwire.core.rows import Row, event_of
from cdcwire.formats.craft.events import AnyEvent, batches
from cdcwire.formats.craft.headers import NO_PARTITION
from cdcwire.formats.craft.image_plan import ImagePlan, PlanMaker
from cdcwire.formats.craft.message import GROUP_NEW, GROUP_OLD
from cdcwire.formats.craft.profile import Profile
from cdcwire.formats.craft.settings import Settings
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.json_members import UINT64_END

_NEW = bytes((GROUP_NEW,))
_OLD = bytes((GROUP_OLD,))

RowImage: TypeAlias = "tuple[tuple[Column, ...], tuple[Value, ...]]"
_WireEvent: TypeAlias = "Callable[[Event], tuple[AnyEvent, int | None]]"


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
