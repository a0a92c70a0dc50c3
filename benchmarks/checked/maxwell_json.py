"""Maxwell JSON by ``json`` and a checked plan for each table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.json_objects import Real, read_pairs
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import Layout, Row, new_row
from cdcwire.formats.maxwell_json.events import OPS
from cdcwire.formats.maxwell_json.fast import RowDecoder
from cdcwire.formats.maxwell_json.message import MS_PER_SECOND, SECONDS_END
from cdcwire.formats.maxwell_json.row_patterns import layout_of
from cdcwire.formats.maxwell_json.values import as_read
from cdcwire.model import kinds
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column
from cdcwire.mysql.value_texts import integer_range, pattern

_MAX_DIGITS = 60
_ALL = ("database", "table", "type", "ts", "data")


class Plan:
    """How the rows of a table are read."""

    def __init__(self, table: Table) -> None:
        columns = [as_read(column) for column in table.columns or ()]
        self.table = Table(table.name, table.schema, key=table.key)
        self.names = tuple(column.name for column in columns)
        self.layout = layout_of(columns)
        self.columns = {column.name: column for column in columns}
        self.reads = {column.name: _reader(column) for column in columns}
        self.layouts: dict[tuple[str, ...], Layout] = {}

    def read(self, pairs: Any) -> tuple[Layout, tuple[Any, ...]]:
        reads = self.reads
        names = tuple([name for name, _ in pairs])
        layout = self.layout
        if names != self.names:
            found = self.layouts.get(names)
            if found is None:
                if len({*names}) < len(names):
                    raise Irregular
                found = layout_of([self.columns[name] for name in names])
                self.layouts[names] = found
            layout = found
        return layout, tuple(
            [None if value is None else reads[name](value) for name, value in pairs]
        )


class PlanDecoder(RowDecoder):
    """Decodes messages of defined tables as the fast decoder does, except how it reads one."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        super().__init__(context)
        self._plans: dict[tuple[str, str], Plan] = {}

    def _usual(self, message: Message) -> tuple[Row, ...]:
        if not isinstance(message, KafkaMessage) or message.key is not None:
            raise Irregular
        try:
            return (self._planned(message.value or b""),)
        except TypeError:
            raise Irregular from None

    def _planned(self, value: bytes) -> Row:
        pairs = read_pairs(value)
        found = dict(pairs)
        if len(found) != len(pairs) or type(pairs) is not tuple:
            raise Irregular
        schema, name, kind, ts, data = [found[member] for member in _ALL]
        op = OPS[kind]
        plan = self._plan(schema, name)
        if type(ts) is not int or not -SECONDS_END <= ts < SECONDS_END or type(data) is not tuple:
            raise Irregular
        layout, values = plan.read(data)
        if not values:
            raise Irregular
        images: tuple[object, ...] = (layout, values, None, None)
        sent = None
        if op == "delete":
            images = (None, None, layout, values)
        if len(found) != len(_ALL):
            if len(found) != len(_ALL) + 1 or op != "update" or type(found["old"]) is not tuple:
                raise Irregular
            images = (layout, values, *plan.read(found["old"]))
            sent = self._sent
        times = (ts * MS_PER_SECOND, None, None, None)
        return new_row((plan.table, op, None, None, *images, sent, None, *times))

    def _plan(self, schema: str, name: str) -> Plan:
        plan = self._plans.get((schema, name))
        if plan is None:
            table = self._definitions.table(schema, name)
            if table is None or self._selection.columns is not None:
                raise Irregular
            plan = self._plans[schema, name] = Plan(table)
        return plan


def _reader(column: Column) -> Callable[[Any], Any]:
    match column.type:
        case kinds.IntType() as kind:
            return _integer_reader(*integer_range(kind))
        case kinds.FloatType(64):
            return _double
        case kinds.DecimalType():
            return _decimal
        case kinds.TextType():
            return _text
        case kinds.DateType() | kinds.DatetimeType() | kinds.TimestampType() as kind:
            plain = kind if isinstance(kind, kinds.DateType) else type(kind)()
            return _matching(re.compile(pattern(plain)))
        case _:
            raise Irregular


def _integer_reader(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value < high:
            raise Irregular
        return value

    return read


def _double(value: Any) -> float:
    if type(value) is not Real or len(value) > _MAX_DIGITS:
        raise Irregular
    number = float(value)
    if number - number:
        raise Irregular
    return number


def _decimal(value: Any) -> str:
    if type(value) is int and value:
        value = str(value)
    elif type(value) is not Real or "e" in value or "E" in value:
        raise Irregular
    if len(value) > _MAX_DIGITS:
        raise Irregular
    return str(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Irregular
    if not value.isascii():
        value.encode()  # a lone surrogate is a ValueError
    return value


def _matching(texts: re.Pattern[str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if type(value) is not str or texts.fullmatch(value) is None:
            raise Irregular
        return value

    return read
