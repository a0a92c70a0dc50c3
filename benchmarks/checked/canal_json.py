"""Canal-JSON by ``json`` and a checked plan for each table."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import Any, TypeAlias

from benchmarks.checked import irregular
from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.json_objects import read_pairs
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.core.rows import Layout, Row, new_row
from cdcwire.formats.canal_json.fast import RowDecoder
from cdcwire.formats.canal_json.members import INT32_END
from cdcwire.formats.canal_json.row_patterns import _layout, form_of, value_function
from cdcwire.formats.canal_json.values import value_reader
from cdcwire.formats.canal_json.wire import read_object
from cdcwire.model.events import Table
from cdcwire.model.kinds import BytesType, JsonType, TextType, Type

_Reading: TypeAlias = "tuple[Callable[[str], object] | None, Callable[[str], Any] | None]"

_NAMES = (
    *("id", "database", "table", "pkNames", "isDdl", "type", "es", "ts", "sql", "sqlType"),
    *("mysqlType", "old", "data", "_tidb"),
)
_OPS = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}
_members = itemgetter(*_NAMES)
_INTEGERS = {int}


class Plan:
    """How the messages of a table are read: the types that they declare, and the columns."""

    def __init__(self, table: Table, layout: Layout, types: dict[str, str]) -> None:
        self.table, self.layout, self.types = table, layout, types
        self.readings = [reading_of(column.type) for column in layout.columns]
        self.names = [column.name for column in layout.columns]

    def read(self, rows: Any) -> tuple[Any, ...]:
        (pairs,) = rows
        if [name for name, _ in pairs] != self.names:
            raise Irregular
        return tuple(
            [
                None
                if text is None
                else irregular()
                if type(text) is not str or (match is not None and match(text) is None)
                else text
                if read is None
                else read(text)
                for (_, text), (match, read) in zip(pairs, self.readings, strict=True)
            ]
        )


class PlanDecoder(RowDecoder):
    """Decodes messages as the fast decoder does, except how it reads one."""

    _plans: dict[tuple[object, ...], Plan]

    def _usual_row(self, value: bytes, partition: int | None, version: int | None) -> Row | None:
        try:
            return self._planned_row(value, partition, version)
        except TypeError:
            raise Irregular from None

    def _planned_row(self, value: bytes, partition: int | None, version: int | None) -> Row | None:
        found = _unique(read_pairs(value))
        if len(found) != len(_NAMES):
            raise Irregular
        id_, database, table, keys, is_ddl, kind, es, ts, sql, codes, types, old, data, tidb = (
            _members(found)
        )
        codes, types = _unique(codes), _unique(types)
        names = [name for name, _ in data[0]]
        plan = self._plan((database, table, version, *(keys or ()), *names), value)
        if {type(database), type(table), type(sql), type(kind)} != {str} or sql:
            raise Irregular
        if types != plan.types or is_ddl is not False or type(keys) is not list:
            raise Irregular
        if codes.keys() != types.keys() or {*map(type, codes.values())} != _INTEGERS:
            raise Irregular
        if max(codes.values()) >= INT32_END or min(codes.values()) < -INT32_END:
            raise Irregular
        if type(id_) is not int or type(es) is not int or type(ts) is not int or id_:
            raise Irregular
        if not -INT64_END <= es < INT64_END or not -INT64_END <= ts < INT64_END:
            raise Irregular
        ((name, commit_ts),) = tidb
        if name != "commitTs" or type(commit_ts) is not int or not 0 <= commit_ts < UINT64_END:
            raise Irregular
        op = _OPS[kind]
        values = plan.read(data)
        layout, before = plan.layout, None
        if op == "update":
            before = plan.read(old)
        elif old is not None:
            raise Irregular
        images: tuple[object, ...] = (layout, values, layout if before else None, before)
        if op == "delete":
            images = (None, None, layout, values)
        if not self.selection.wants(database, table):
            return None
        row = (plan.table, op, commit_ts, partition, *images, None, None, es, ts, None, None)
        return new_row(row)

    def _plan(self, key: tuple[object, ...], value: bytes) -> Plan:
        plan = self._plans.get(key) if hasattr(self, "_plans") else None
        if plan is not None:
            return plan
        self._plans = getattr(self, "_plans", {})
        message = read_object(value)
        if message is None or not message.mysql_type or not message.data or not message.data[0]:
            raise Irregular
        types = dict(message.mysql_type)
        names = [name for name, _ in message.data[0]]
        keys, version = message.pk_names or (), key[2]
        if {*names} != types.keys() or version is not None or self.tables:
            raise Irregular
        definition = self._definitions.columns(message.database, message.table, None)
        columns = [
            definition.column(name, types[name], name in keys, self.settings.time_zone)
            for name in names
        ]
        table = Table(message.table, message.database or None, key=keys)
        plan = self._plans[key] = Plan(table, _layout(columns), types)
        return plan


def _unique(pairs: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    members = dict(pairs)
    if type(pairs) is not tuple or len(members) != len(pairs):
        raise Irregular
    return members


def reading_of(kind: Type) -> _Reading:
    """Return what matches the texts of a kind, and what converts them; None where nothing does."""
    form = form_of(kind)
    if isinstance(kind, TextType):
        return None, _text
    if isinstance(kind, JsonType):
        return _is_not_empty, _text
    if isinstance(kind, BytesType):
        return None, value_reader(kind)
    if form.few is None and form.within is None and form.read is None:
        return re.compile(form.pattern).fullmatch, None
    if form.has_escapes:
        return None, _text
    return re.compile(form.pattern).fullmatch, value_function(form)


def _is_not_empty(text: str) -> bool | None:
    return True if text else None


def _text(text: str) -> str:
    if not text.isascii():
        text.encode()  # a lone surrogate is a ValueError
    return text
