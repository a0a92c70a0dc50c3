"""The generators' facts about maxwell-json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from cdcwire.model import kinds
from cdcwire.model.events import NO_EXTRA, Extra, Image, Position, RowChange, Table
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, Value
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.value_texts import read_value
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError, RoundTrip
from cdcwire_generators.samples import Sample, has_kinds, has_options, never

_UTC = "+00:00"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_SECONDS = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?")
_TEXTS = ("binlog_position", "comment", "gtid", "query")
_NUMBERS = ("schema_id", "server_id", "thread_id")


class MaxwellRoundTrip(RoundTrip):
    """Maxwell JSON: rows, read by the definitions of their tables."""

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        if event.op == "upsert" or event.half is not None or event.sent == "key":
            raise NotCarriedError("op")
        if event.table.name is None or event.table.schema is None:
            raise NotCarriedError("table")
        row, other = event.after, event.before
        if event.op == "delete":
            row, other = other, row
        if row is None or (other is not None and event.op != "update"):
            raise NotCarriedError("op")
        if other is not None:
            self._check(row, other, is_partial=event.sent == "changed")
        row = self._read(row)
        if not row.columns:
            raise NotCarriedError("columns")
        old = None if other is None else self._changed(self._read(other), row)
        before, after = (row, None) if event.op == "delete" else (old, row)
        is_changed = old is not None and bool(self.options["output_nulls"])
        yield RowChange(
            Table(event.table.name, event.table.schema, key=self._key(event.table)),
            event.op,
            before,
            after,
            self._place(event.position),
            sent="changed" if is_changed else None,
            extra=self._kept_extra(event.extra),
        )

    def _check(self, row: Image, other: Image, *, is_partial: bool) -> None:
        types = {column.name: column.type for column in row.columns}
        if any(types.get(column.name) != column.type for column in other.columns):
            raise NotCarriedError("columns")
        is_whole = len(other.columns) >= len(row.columns)
        if self.options["output_nulls"] and not is_partial and not is_whole:
            raise NotCarriedError("columns")

    def _read(self, image: Image) -> Image:
        if len(set(image.names)) < len(image.names):
            raise NotCarriedError("columns")
        pairs = [
            (_as_read(column), self._value(column, value))
            for column, value in zip(image.columns, image.values, strict=True)
        ]
        if not self.options["output_nulls"]:
            pairs = [pair for pair in pairs if pair[1] is not None]
        return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))

    def _changed(self, old: Image, row: Image) -> Image:
        new = {
            column.name: _form(value) for column, value in zip(row.columns, row.values, strict=True)
        }
        pairs = [
            (column, value)
            for column, value in zip(old.columns, old.values, strict=True)
            if column.name not in new or new[column.name] != _form(value)
        ]
        return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))

    def _value(self, column: Column, value: Value) -> Value:
        if isinstance(column.type, kinds.JsonType) and isinstance(value, str):
            return _json(value)
        found = super()._value(column, value)
        match column.type:
            case kinds.DecimalType() if isinstance(found, str):
                raise NotCarriedError("decimal")
            case _:
                return found

    def _converted(self, kind: object, value: Value) -> Value:
        match kind:
            case kinds.EnumType(form="index") if value == 0:
                return ""
            case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
                zone = _UTC if isinstance(kind, kinds.TimestampType) and kind.zone else None
                plain = kind if isinstance(kind, kinds.DateType) else replace(kind, fraction=None)
                try:
                    return read_value(replace(plain, form="text"), _text(kind, value, zone))
                except ValueError as error:
                    raise NotCarriedError(kind_text(kind)) from error
            case _:
                return super()._converted(kind, value)  # type: ignore[arg-type]  # a kind

    def _key(self, table: Table) -> tuple[str, ...] | None:
        form = self.options["kafka_key_format"]
        if table.key is None:
            if form != "none":
                raise NotCarriedError("key")
            return None
        names = [name.lower() for name in table.key] if form != "none" else list(table.key)
        if len(set(names)) < len(names) and (
            form != "none" or self.options["output_primary_key_columns"]
        ):
            raise NotCarriedError("key")
        return table.key

    def _place(self, position: Position) -> Position:
        ms = position.commit_ms
        if ms is None:
            if position.commit_ts is None:
                raise NotCarriedError("commit_ms")
            ms = ms_of_tso(position.commit_ts)
        commit_ms = ms // 1000 * 1000
        if not self.options["output_commit_info"]:
            return Position(commit_ms=commit_ms)
        tx_order = position.tx_order if self.options["output_xoffset"] else None
        if position.tx_id is not None and not _is_integer(position.tx_id):
            raise NotCarriedError("tx_id")
        return Position(tx_id=position.tx_id, tx_order=tx_order, commit_ms=commit_ms)

    def _kept_extra(self, extra: Extra) -> Extra:
        kept: dict[str, str | bytes | None] = {}
        for name in (*_TEXTS, *_NUMBERS, "push_ts"):
            value = extra.get(name)
            if value is None:
                continue
            is_right = isinstance(value, str) and (
                _is_integer(value)
                if name in _NUMBERS
                else name in _TEXTS or bool(_SECONDS.fullmatch(value))
            )
            if not is_right:
                raise NotCarriedError(name)
            kept[name] = value
        if self.options["output_commit_info"] and extra.get("commit") is not None:
            if extra["commit"] != "true":
                raise NotCarriedError("commit")
            kept["commit"] = "true"
        return kept or NO_EXTRA


def _text(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
    value: Value,
    zone: str | None,
) -> str:
    text = temporal_text(kind, value, zone)
    if text is None:
        raise ValueError("not a value of its kind")
    return text


def _is_integer(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text)) and -(1 << 63) <= int(text) < 1 << 63


def _as_read(column: Column) -> Column:
    match column.type:
        case kinds.BoolType():
            return replace(column, type=kinds.IntType(8))
        case kinds.EnumType() | kinds.SetType():
            return replace(column, type=replace(column.type, form="label"))
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType():
            return replace(column, type=replace(column.type, form="text"))
        case kinds.TimestampType():
            return replace(column, type=replace(column.type, form="text", zone=_UTC))
        case _:
            return column


def _form(value: Value) -> tuple[type, str]:
    """Return a value so that 1.0 differs from 1.00, and 0.0 from -0.0."""
    return type(value), repr(value)


def _json(text: str) -> str | None:
    """Return JSON as it comes back: without white space around it, strings as Jackson writes them.

    A null comes back as NULL.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NotCarriedError("json") from error
    if found is None:
        return None
    text = text.strip(" \t\r\n")
    if not isinstance(found, str):
        return text
    if text == json.dumps(found, ensure_ascii=False) and all(ord(c) < 0x10000 for c in found):
        return text
    escaped = json.dumps(found, ensure_ascii=False)
    return "".join(c if ord(c) < 0x10000 else json.dumps(c)[1:-1] for c in escaped)


def _has_update_without_old(sample: Sample) -> bool:
    return any(row.op == "update" and row.before is None for row in sample.rows())


GENERATORS = FormatGenerators(
    feed=FeedTraits(
        family="mysql declared",
        position_fields=("tx_id", "commit_ms"),
        has_reads=True,
        has_statements=False,
        is_plausible=True,
    ),
    round_trip=MaxwellRoundTrip,
    option_values=MappingProxyType({}),
    features=MappingProxyType(
        {
            "geometry": never,
            "bootstrap": lambda sample: any(row.op == "read" for row in sample.rows()),
            "kafka key": has_options("kafka_key_format", ("hash", "array")),
            "definitions": lambda sample: bool(sample.tables),
            "tombstone": never,
        }
    ),
    choices=MappingProxyType(
        {"json-value": has_kinds("json"), "update-without-old": _has_update_without_old}
    ),
)
