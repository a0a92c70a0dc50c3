"""Rows of known columns as JSON, for fast encoders: one generated function per table.

A template is the text of an object with a hole for each value: ``{"id":%s,"name":%s}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cdcwire.connect.columns import plan_column
from cdcwire.connect.images import schemas_of
from cdcwire.connect.scalars import quoted
from cdcwire.connect.schema import PRIMITIVES, Schema
from cdcwire.connect.schema_json import schema_text
from cdcwire.connect.style import Style
from cdcwire.connect.usual_values import usual_writer
from cdcwire.core.compiled import ImagePlans, Irregular, refuse, texts_of_values
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.kinds import Column, Value

Made = TypeVar("Made")

NOTHING_KNOWN: Mapping[str, str] = {}
_MAX_MADE = 64
_KEY_TYPES = PRIMITIVES - {"float", "double"}  # equal values have equal texts


def struct_template(schema: Schema, known: Mapping[str, str] = NOTHING_KNOWN) -> str:
    """Return the text of a struct with a hole for each field, except those whose JSON is known."""
    members = (
        f"{quoted(name)}:{known.get(name, '')}".replace("%", "%%") + ("" if name in known else "%s")
        for name in (field.name for field in schema.fields)
    )
    return f"{{{','.join(members)}}}"


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """The bytes of a key or value around its payload."""

    head: bytes
    tail: bytes

    def message(self, payload: str) -> bytes:
        """Return the bytes of a message. Raises: ValueError for a lone surrogate."""
        return b"%b%b%b" % (self.head, payload.encode(), self.tail)


def message_template(schema: Schema, wrapped: bool) -> MessageTemplate:
    """Return the envelope of messages of a schema; ``wrapped``: they have the schema."""
    if not wrapped:
        return MessageTemplate(b"", b"")
    return MessageTemplate(f'{{"schema":{schema_text(schema)},"payload":'.encode(), b"}")


@dataclass(frozen=True, slots=True)
class RowPlan(Generic[Made]):
    """How the rows of some columns are written.

    ``struct`` and ``key`` are the schemas of rows and keys. ``texts`` makes the JSON of each value.
    ``made``: what a format made of the plan, by a name.
    """

    struct: Schema
    key: Schema
    template: str
    texts: Callable[[tuple[Value, ...]], tuple[str, ...]]
    key_template: str
    key_places: tuple[int, ...]
    made: dict[str, Made] = field(default_factory=dict)

    def row(self, image: Image) -> tuple[str, str | None]:
        """Return the JSON of a row and of its key; None if the table has no key."""
        texts = self.texts(image.values)
        text = self.template % texts
        if not self.key_places:
            return text, None
        return text, self.key_template % tuple([texts[place] for place in self.key_places])

    def made_by(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what ``make`` makes for a name, made once."""
        found = self.made.get(name)
        if found is None:
            if len(self.made) >= _MAX_MADE:
                self.made.clear()
            self.made[name] = found = make()
        return found


class UsualRows(Generic[Made]):
    """Writes rows of regular changes with plans that are made once per table."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._plans: ImagePlans[RowPlan[Made]] = ImagePlans(self._plan)

    def row(self, change: RowChange) -> tuple[RowPlan[Made], str, str, str | None]:
        """Return plan, before, after and key of a change that leaves its key as it is.

        A missing image is ``null``. Returns None as key of a table without one.
        Raises: one of ENCODE_IRREGULARITIES for any other.
        """
        table, op, before, after = change.table, change.op, change.before, change.after
        if change.half is not None or (after is None) != (op == "delete"):
            raise Irregular
        if after is None:
            if before is None:
                raise Irregular
            plan = self._plans.of(table, before.columns)
            old, old_key = plan.row(before)
            return plan, old, "null", old_key
        plan = self._plans.of(table, after.columns)
        new, new_key = plan.row(after)
        if before is None:
            return plan, "null", new, new_key
        if op != "update" or self._plans.of(table, before.columns) is not plan:
            raise Irregular
        old, old_key = plan.row(before)
        if old_key != new_key:
            raise Irregular
        return plan, old, new, new_key

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> RowPlan[Made]:
        struct, key, places = schemas_of(table, columns, self._style)
        if any(field.schema.type not in _KEY_TYPES for field in key.fields):
            raise Irregular
        plans = [plan_column(column, self._style) for column in columns]
        return RowPlan(
            struct,
            key,
            struct_template(struct),
            texts_of_values(
                list(map(usual_writer, columns, plans)),
                range(len(plans)),
                nulls={
                    place: refuse
                    for place, plan in enumerate(plans)
                    if place in places or not plan.schema.optional
                },
            ),
            struct_template(key),
            tuple(places),
        )
