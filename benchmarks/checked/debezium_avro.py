"""Debezium's Avro by fastavro's pure reader and a checked plan for each pair of schemas.

fastavro checks less than the plain decoder: a boolean may be any byte, and a varint may be longer
than its type. The plan does not see these bytes. It checks all else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Any

from benchmarks.checked import irregular
from cdcwire.connect.logical import columns_of, model_converter
from cdcwire.connect.schema import Schema
from cdcwire.connect.style import as_it_is
from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Reader
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.events import OPS, source_extra
from cdcwire.debezium.message import Source
from cdcwire.debezium.shapes import other_schema_name
from cdcwire.debezium.source import Place, places_of, table_named
from cdcwire.formats.debezium_avro.connect_schema import DatumPlan, plan_of_text
from cdcwire.formats.debezium_avro.conversions import integer_bounds
from cdcwire.formats.debezium_avro.fast import RowDecoder
from cdcwire.formats.debezium_avro.framing import read_framing
from cdcwire.formats.debezium_avro.settings import DEFAULT_SETTINGS
from cdcwire.model.events import Event, Image, Position, RowChange, Table

_REQUIRED = ("version", "connector", "name", "db", "table")


class Read:
    """Reads the datums of one schema by fastavro. ``suffix``: of its pure or compiled modules."""

    def __init__(self, plan: DatumPlan, suffix: str = "_py") -> None:
        parse = import_module(f"fastavro._schema{suffix}").parse_schema
        self.plan = plan
        self._schema = parse(json.loads(plan.text))
        self._read = import_module(f"fastavro._read{suffix}").schemaless_reader

    def read(self, data: bytes) -> dict[str, Any]:
        """Return a record. Raises: one of IRREGULARITIES, or an error of fastavro."""
        stream = BytesIO(data)
        found: dict[str, Any] = self._read(stream, self._schema, None)
        if stream.tell() != len(data):
            raise Irregular
        return found


@dataclass(frozen=True)
class Plan:
    """How the values of one pair of schemas become an event."""

    key: Read
    value: Read
    connector: str
    names: tuple[str, ...]
    rows: Rows
    places: tuple[Place, ...]
    known: dict[tuple[Any, ...], tuple[Table, dict[str, str]]]

    def event(self, key: bytes, value: bytes) -> RowChange:
        """Return the event of a key and a value."""
        self.key.read(key)
        found = self.value.read(value)
        source = found["source"]
        op = OPS[found["op"]]
        texts = tuple([source.get(name) for name in (*_REQUIRED, "schema", "snapshot")])
        known = self.known.get(texts)
        table, base = self._learn(texts) if known is None else known
        extra = dict(base)
        place: dict[str, Any] = {}
        for each in self.places:
            member = source[each.name]
            if member is None:
                continue
            if type(member) not in each.types:
                raise Irregular
            if not each.in_position:
                extra[each.place] = str(member)
            else:
                place[each.place] = str(member) if each.is_text else member
        block = found["transaction"]
        if block is not None:
            raise Irregular  # the workloads have none
        for name in ("ts_us", "ts_ns"):
            moment = found.get(name)
            if moment is not None:
                extra[name] = str(moment)
        before, after = self.rows.image(found["before"]), self.rows.image(found["after"])
        has = (before is not None, after is not None)
        if has != (op == "delete", op != "delete") and (op, has) != ("update", (True, True)):
            raise Irregular
        position = Position(commit_ms=source["ts_ms"], sent_ms=found["ts_ms"], **place)
        return RowChange(table, op, before, after, position, None, None, extra)

    def _learn(self, texts: tuple[Any, ...]) -> tuple[Table, dict[str, str]]:
        version, connector, name, db, table, schema, snapshot = texts
        if connector != self.connector:
            raise Irregular
        source = Source(version, connector, name, None, snapshot, db, schema or "", table, {}, {})
        found = table_named(source, self.names), source_extra(source, None)
        row = self.value.plan.schema.field("after")
        if row is None or other_schema_name(row, *found, DEFAULT_SETTINGS) is not None:
            raise Irregular  # of another topic than the source says
        self.known[texts] = found  # type: ignore[assignment]  # texts only
        return self.known[texts]


class Rows:
    """Makes images of the rows of one schema: one conversion for each column."""

    def __init__(self, schema: Schema, placeholder: str) -> None:
        self.columns = columns_of(schema)
        self.converters = [_converter(field.schema, placeholder) for field in schema.fields]

    def image(self, row: dict[str, Any] | None) -> Image | None:
        """Return the image of a row."""
        if row is None:
            return None
        pairs = zip(row.values(), self.converters, strict=True)
        return Image(
            self.columns,
            tuple(
                [
                    value if value is None or convert is None else convert(value)
                    for value, convert in pairs
                ]
            ),
        )


def _converter(schema: Schema, placeholder: str) -> Callable[[Any], Any] | None:
    convert = model_converter(schema, placeholder)
    bounds = integer_bounds(schema)
    if bounds is not None:
        low, high = bounds
        return lambda value: convert(value) if low <= value <= high else irregular()
    return None if convert is as_it_is else convert


class PlanDecoder(RowDecoder):
    """Decodes as the fast decoder does, except how it reads a regular message."""

    suffix = "_py"
    _plans: dict[tuple[bytes, bytes], Plan]

    def _usual(self, message: Message) -> list[Event]:
        if not isinstance(message, KafkaMessage) or not message.key or not message.value:
            raise Irregular
        plans = self._plans = getattr(self, "_plans", {})
        key, value, head = message.key, message.value, self._head
        heads = key[:head], value[:head]
        plan = plans.get(heads)
        if plan is None:
            plan = plans[heads] = self._plan(key, value)
        try:
            return [plan.event(key[head:], value[head:])]
        except IRREGULARITIES:
            raise
        except (EOFError, TypeError) as error:  # of fastavro
            raise Irregular from error

    def _plan(self, key: bytes, value: bytes) -> Plan:
        plans = []
        for data, part in ((key, "key"), (value, "value")):
            text = self.source.get(read_framing(Reader(data), self.settings.framing, {}, part))
            if text is None:
                raise Irregular
            plans.append(Read(plan_of_text(text), self.suffix))
        of_key, of_value = plans
        [event] = self._plain(KafkaMessage(key, value))
        schema = of_value.plan.schema
        rows, source = schema.field("before"), schema.field("source")
        if not isinstance(event, RowChange) or rows is None or source is None:
            raise Irregular
        connector = event.extra["connector"]
        declared = source_of(str(connector))
        placeholder = self.settings.placeholder if declared.has_placeholder else ""
        return Plan(
            of_key,
            of_value,
            str(connector),
            tuple(field.name for field in of_key.plan.schema.fields),
            Rows(rows, placeholder),
            places_of(source, str(connector)),
            {},
        )


class CompiledPlanDecoder(PlanDecoder):
    """The same plan on fastavro's compiled reader."""

    suffix = ""
