"""Payloads without their schema, read by plans of the schemas that they would have.

The types of a table's columns come from its definition, those of other columns from their values.
The other members are the same in all messages. A definition may leave the form of a value open; a
plan is for one form of each column, and its pattern takes no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from cdcwire.connect import ConnectValue, Field, Schema, types
from cdcwire.connect.cdl import OPTIONAL_INT64, OPTIONAL_STRING, Row
from cdcwire.connect.image_code import ImageCode
from cdcwire.connect.logical import DECIMAL_TEXT_PATTERN
from cdcwire.connect.payload_patterns import Part
from cdcwire.connect.schemaless import inferred_schema
from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.strict_json import JsonObject, JsonValue, Member
from cdcwire.debezium.connectors import GENERAL
from cdcwire.debezium.message import Change
from cdcwire.debezium.plans import ChangePlan, Feed, KeyFacts, change_plan
from cdcwire.debezium.schemas import block_schema
from cdcwire.debezium.shapes import OLDEST_SHAPE

_MAX_WEIGHT = 1 << 19  # of all plans: characters of names
_WEIGHT_OF_A_MEMBER = 1 << 4  # in addition to its name
_MAX_PLANS = 8  # of one table and key
_PRICE_OF_A_MEMBER = 1 << 9  # see ``Credit``
_ROWS = ("before", "after")
_MOMENTS = ("ts_ms", "ts_us", "ts_ns")
_TEXTS = ("version", "connector", "name", "snapshot", "db", "sequence")
_KNOWN: dict[str, Schema] = {
    **dict.fromkeys(_MOMENTS, OPTIONAL_INT64),
    "transaction": block_schema(OLDEST_SHAPE),
    **dict.fromkeys(
        ("op", "message_version", "message_type", "LOB_COLUMNS", "HEARTBEAT_IDENTIFIER"),
        OPTIONAL_STRING,
    ),
}
_OF_SOURCE = {*_TEXTS, *_MOMENTS, *(member.name for member in GENERAL.members)}
_NUMBERS = {*_MOMENTS, *(m.name for m in GENERAL.members if m.type != "string")}
_NULL = inferred_schema(None)
_SCALARS = ("string", "int64", "double", "boolean")
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
_SOURCE = b'"source":{'
_CONNECTOR, _DB, _TABLE = b'"connector":"', b'"db":"', b'"table":"'
_MOMENT = r'"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"'
_DECIMAL = f'"{DECIMAL_TEXT_PATTERN}"'
_FOUR_DIGITS = r'"(?:[0-9]{4})+"'  # may be base64

Names = tuple[bytes, bytes, bytes, KeyFacts]
Forms = dict[str, Schema]


@dataclass(slots=True, eq=False)
class _Table:
    """The plans of a table, and the forms that its columns were seen to have."""

    plans: list[tuple[Schema, ChangePlan | None]] = field(default_factory=list)
    forms: Forms = field(default_factory=dict)
    misses: int = 0


class PayloadsAlone:
    """Plans for payloads of changes, learned from those that the plain decoder has read."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self.tables: BoundedCache[Names, _Table] = BoundedCache(_MAX_WEIGHT)
        self._credit = Credit()

    def plans(self, value: bytes, key: KeyFacts) -> list[tuple[Schema, ChangePlan | None]]:
        """Return the plans for payloads like this one."""
        table = self.tables.get(_names(value, key))
        return [] if table is None else table.plans

    def learn(
        self, value: bytes, key: KeyFacts, change: Change, rows: Mapping[str, Schema]
    ) -> None:
        """Learn the form of a good payload. ``rows``: what definitions say of its rows."""
        self._credit.earn(len(value))
        names, payload = _names(value, key), change.envelope.payload
        if not isinstance(payload, JsonObject):
            return
        table = self.tables.get(names)
        if table is None:
            table = _Table()
            self.tables.keep(names, table, sum(map(len, names[:3])) + _WEIGHT_OF_A_MEMBER)
        table.misses += 1
        inside = [len(each.name) for each in _members(payload)]
        price = len(inside) * _PRICE_OF_A_MEMBER
        if table.misses & (table.misses - 1) or price > self._credit.left:
            return  # it tries at the first, second, fourth, eighth miss
        self.tables.grow(sum(inside) + len(inside) * _WEIGHT_OF_A_MEMBER)
        forms = _Forms(payload, change, rows, table.forms)
        schema = forms.schema()
        if schema is None or any(schema == known for known, _ in table.plans):
            return
        self._credit.spend(price)
        plan = None
        try:
            plan = change_plan(
                schema, forms.usual(), key, self._feed, partial(_AloneCode, schema, forms.bases)
            )
        except IRREGULARITIES:
            pass  # the schema is kept without a plan, so that it is not tried again
        else:
            table.misses = 0
        table.plans.insert(0, (schema, plan))
        del table.plans[_MAX_PLANS:]


def _members(value: JsonValue) -> Iterator[Member]:
    """Yield the members of an object, and those of the objects in it."""
    if isinstance(value, JsonObject):
        for member in value.members:
            yield member
            yield from _members(member.value)


def _names(value: bytes, key: KeyFacts) -> Names:
    """Return what is most likely the names of connector, database and table, as they are written.

    The connector decides the unit of times.
    """
    source = value.rfind(_SOURCE)
    connector, db, table = (_text_after(value, name, source) for name in (_CONNECTOR, _DB, _TABLE))
    return connector, db, table, key


def _text_after(value: bytes, name: bytes, start: int) -> bytes:
    begin = value.find(name, start) + len(name)
    return value[begin : value.find(b'"', begin)]


class _Forms:
    """The schema of a payload: the form of each member. ``bases``: of columns, those of NULL."""

    def __init__(
        self, payload: JsonObject, change: Change, rows: Mapping[str, Schema], seen: Forms
    ) -> None:
        self.payload = payload
        self.change = change
        self.rows = rows
        self.seen = seen
        self.bases: dict[str, dict[str, Schema]] = {}

    def schema(self) -> Schema | None:
        """Return the schema; None if it has members that are not known, or a column twice."""
        for name in _ROWS:
            self._see(name)
        fields = []
        for member in self.payload.members:
            schema = self._member(member)
            if schema is None or len({each.name for each in schema.fields}) < len(schema.fields):
                return None
            fields.append(Field(member.name, schema))
        return Schema("struct", fields=tuple(fields))

    def usual(self) -> ConnectValue:
        """Return the texts of the payload's source."""
        return tuple(
            tuple(part.value for part in member.value.members)
            if member.name == "source" and isinstance(member.value, JsonObject)
            else None
            for member in self.payload.members
        )

    def _row(self, name: str) -> Row:
        return self.change.before if name == "before" else self.change.after

    def _see(self, name: str) -> None:
        """Remember the forms of the columns in a row that are not NULL."""
        row = self._row(name)
        for column, value in zip(
            row.schema.fields, row.values or (), strict=row.values is not None
        ):
            if value is not None:
                self.seen[column.name] = column.schema

    def _member(self, member: Member) -> Schema | None:
        if member.name in _ROWS:
            return self._struct(member.name)
        if member.name == "unique":  # where it is null, it has no columns
            return replace(inferred_schema(member.value), optional=False)
        if member.name != "source" or not isinstance(member.value, JsonObject):
            return _KNOWN.get(member.name)
        inner = [(part.name, _of_source(part)) for part in member.value.members]
        if any(known is None for _, known in inner):
            return None
        return Schema(
            "struct",
            fields=tuple(Field(name, known) for name, known in inner if known is not None),
        )

    def _struct(self, name: str) -> Schema | None:
        """Return the struct of a row; that of the other one, where it has no columns itself."""
        sent = name if self._row(name).values is not None else _ROWS[name == "before"]
        member = self.payload.get(sent)
        if member is None or not isinstance(member.value, JsonObject):
            return None
        struct = self._row(sent).schema
        if [each.name for each in struct.fields] != [each.name for each in member.value.members]:
            return None
        defined = self.rows.get(name)
        bases: dict[str, Schema] = {}
        fields = []
        for each in struct.fields:
            base = defined.field(each.name) if defined is not None else None
            bases[each.name] = base = base or _NULL
            form = self.seen.get(each.name, base)
            if form.optional and not base.optional:
                return None
            fields.append(Field(each.name, form))
        self.bases[name] = bases
        return replace(struct, optional=True, fields=tuple(fields))


class _AloneCode(ImageCode):
    """Writes the code of images of payloads alone: each column has one of its forms."""

    def __init__(
        self,
        payload: Schema,
        bases: Mapping[str, Mapping[str, Schema]],
        names: dict[str, Any],
        placeholder: str,
    ) -> None:
        nulls = {
            row: {
                place: of_row[column.name]
                for place, column in enumerate((payload.field(row) or _NULL).fields)
                if column.schema != of_row[column.name]
            }
            for row, of_row in bases.items()
        }
        super().__init__(payload, names, placeholder, nulls)
        self.bases = bases
        names["numbers_too"] = _BOOLEANS

    def column(self, row: str, column: Field, part: Part) -> None:
        """Restrict the pattern of a column to values that have its form."""
        schema, base = column.schema, self.bases[row][column.name]
        if schema == base and schema.type == "boolean":
            part.pattern = "(true|false|[01])"
            part.lines = [f"{part.name} = numbers_too[{part.name}]"]
        part.pattern = f"{_condition(schema, base)}{part.pattern}"
        super().column(row, column, part)


def _condition(schema: Schema, base: Schema) -> str:
    """Return a pattern that values have, and values of other forms have not.

    See ``definitions.sent_form``. Raises: Irregular, for a form that values do not show.
    """
    is_base = schema == base
    match base.name:
        case types.UNTYPED if is_base:
            return "(?!)"
        case types.UNTYPED if schema.type in _SCALARS:
            return ""
        case types.ZONED_TIMESTAMP if base.version is None:
            if is_base:
                return f"(?!{_MOMENT})"
            if schema.type == "string":
                return f"(?={_MOMENT})"
        case types.CONNECT_DECIMAL if base.parameter(types.AMBIGUOUS) is not None:
            if is_base:
                return f"(?!{_DECIMAL})"
            if schema.name == types.DECIMAL_TEXT:
                return f"(?={_DECIMAL})(?!{_FOUR_DIGITS})"
        case types.UNSIGNED_64 if schema.type == "bytes":
            return ""
        case types.TINY_BOOLEAN if schema.type == "int8":
            return "(?![01][,}])"
        case types.TINY_BOOLEAN if schema.type == "boolean":
            return "(?=[01])" if is_base else "(?=[tf])"
    if is_base:
        return ""
    raise Irregular


def _of_source(member: Member) -> Schema | None:
    """Return the schema of a member of ``source``; None if no connector has it."""
    if member.name not in _OF_SOURCE:
        return None
    if member.value is None:
        return OPTIONAL_INT64 if member.name in _NUMBERS else OPTIONAL_STRING
    # Some members are text with one connector, and a number with another.
    return OPTIONAL_STRING if isinstance(member.value, str) else OPTIONAL_INT64
