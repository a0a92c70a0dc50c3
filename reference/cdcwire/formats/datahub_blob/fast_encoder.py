"""The fast encoder: one generated function for the images of each table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from json.encoder import encode_basestring
from typing import Any

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import FastEncoder, ImagePlans, Irregular, Writer, text_of_image
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.json_strings import write_base64
from cdcwire.core.message import Message
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.streamx import DEFAULT_VERSION, MAX_NUMBER, to_blob, type_of
from cdcwire.formats.datahub_blob.batching import messages_of
from cdcwire.formats.datahub_blob.events import row_message
from cdcwire.formats.datahub_blob.payload import MAX_SEQUENCE_DIGITS, MAX_TIME
from cdcwire.formats.datahub_blob.schema_part import schema_of
from cdcwire.formats.datahub_blob.settings import read_settings
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.usual import decimal_text
from cdcwire.mysql.usual_texts import base64_writer, float_writer, integer_writer
from cdcwire.mysql.value_texts import integer_range

_MAX_LABELS = 256  # of one column
_SEQUENCE_END = 10**MAX_SEQUENCE_DIGITS
_dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How an image is written. ``starts``: of the messages with it, by their op."""

    text: Callable[[tuple[Value, ...]], str]
    starts: Memo[str, str]


class RowEncoder(FastEncoder[tuple[bytes, ...]]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._plans: ImagePlans[_Plan] = ImagePlans(self._plan)

    def _messages(self, events: Iterable[Event]) -> Iterator[Message]:
        return messages_of(events, self._settings, self.piece)

    def _piece(self, change: RowChange) -> tuple[bytes, ...]:
        table, before, after = change.table, change.before, change.after
        if change.half or change.extra:
            raise Irregular
        end = _end(change.position)
        if change.op == "insert" and before is None and after is not None:
            plan = self._plans.of(table, after.columns)
            return (f'{plan.starts["INSERT"]}"after":{plan.text(after.values)}{end}'.encode(),)
        if change.op == "delete" and before is not None and after is None:
            plan = self._plans.of(table, before.columns)
            return (f'{plan.starts["DELETE"]}"before":{plan.text(before.values)}{end}'.encode(),)
        if change.op != "update" or before is None or after is None:
            raise Irregular
        plan = self._plans.of(table, after.columns)
        if self._plans.of(table, before.columns) is not plan:
            raise Irregular
        old, new = f'"before":{plan.text(before.values)}', f'"after":{plan.text(after.values)}'
        if not self._settings.split_updates:
            return (f"{plan.starts['UPDATE']}{old},{new}{end}".encode(),)
        return (
            f"{plan.starts['UPDATE_BEFOR']}{old}{end}".encode(),
            f"{plan.starts['UPDATE_AFTER']}{new}{end}".encode(),
        )

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Plan:
        members = [f",{_dumps(column.name)}:" for column in columns]
        if len(set(members)) != len(members):
            raise Irregular
        image = Image(columns, (None,) * len(columns))
        example = RowChange(table, "insert", None, image, Position(sequence_id=0, commit_ms=0))

        def start(op: str) -> str:
            message = row_message(example, OPS[op], None, image, self._settings)
            schema = _dumps(schema_of(message, OPS[op]))
            return f'{{"schema":{schema},"payload":{{"op":"{op}",'

        pieces = [*members, "}}"]
        pieces[0] = f'{{"dataColumn":{{{pieces[0].removeprefix(",")}'
        text = text_of_image(pieces, list(map(_writer, columns)), range(len(columns)))
        return _Plan(text, Memo(start))


def _end(position: Position) -> str:
    """Return what follows the images of a message."""
    number, event_ms, sent_ms = position.sequence_id, position.commit_ms, position.sent_ms
    if type(number) is not int or not 0 <= number < _SEQUENCE_END:
        raise Irregular
    if type(event_ms) is not int or not 0 <= event_ms <= MAX_TIME:
        raise Irregular
    system = ""
    if sent_ms is not None:
        if type(sent_ms) is not int or not 0 <= sent_ms <= MAX_TIME:
            raise Irregular
        system = f',"systemTime":{sent_ms}'
    times = f'{{"eventTime":{event_ms}{system}}}'
    return f',"sequenceId":"{number}","timestamp":{times}}},"version":"{DEFAULT_VERSION}"}}'


def _writer(column: Column) -> Writer:
    """Return what writes the values of a column that are not NULL, as JSON."""
    kind = column.type

    def plainly(value: Any) -> str:
        found = to_blob(column, value)
        return _dumps(write_base64(found) if isinstance(found, bytes) else found)

    def decimal(value: Any) -> str:
        text = decimal_text(value) if type(value) is Decimal else ""
        return f'"{text}"' if 0 < len(text) < MAX_NUMBER else plainly(value)

    match kind:
        case kinds.IntType() if type_of(kind) == "LONG":
            return integer_writer(*integer_range(kind))
        case kinds.FloatType(bits):
            return float_writer(bits, repr, plainly)
        case kinds.BytesType():
            return base64_writer(plainly)
        case kinds.DecimalType():
            return decimal
        case kinds.TextType() | kinds.JsonType():
            return encode_basestring
        case (
            kinds.DateType()
            | kinds.TimeType(zone=None)
            | kinds.DatetimeType()
            | kinds.TimestampType(zone=None)
        ) if kind.form == "text":
            return encode_basestring
        case kinds.EnumType() | kinds.SetType() | kinds.YearType():
            return lru_cache(_MAX_LABELS, typed=True)(plainly)
        case _:
            return plainly
