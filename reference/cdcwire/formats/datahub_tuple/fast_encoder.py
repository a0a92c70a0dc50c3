"""The fast encoder: one generated function for the fields of the topic, for bodies in JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from json import JSONEncoder
from typing import Any

from cdcwire.core.compiled import (
    FastEncoder,
    ImagePlans,
    Irregular,
    Usual,
    Writer,
    refuse,
    texts_of_values,
)
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.json_strings import write_base64
from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.fields import Field, integer_end, write_text
from cdcwire.datahub.message import ReadyRecord, Record
from cdcwire.formats.datahub_tuple.events import check_table, messages_of
from cdcwire.formats.datahub_tuple.topic import topic_in
from cdcwire.formats.datahub_tuple.values import to_field
from cdcwire.formats.datahub_tuple.wire import MAX_SEQUENCE_DIGITS, MAX_TIME
from cdcwire.golang import usual_text32
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.usual_texts import digits_writer, float_writer, integer_writer

_SEQUENCE_END = 10**MAX_SEQUENCE_DIGITS
_MAX_LABELS = 256  # of one column
_LONG_TEXT = 1 << 16  # characters of a text that may be too long for a field
_RECORD_BYTES, _VALUE_BYTES, _CHARACTER_BYTES = 64, 24, 3  # as `write_records` estimates them
_list_text = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the rows of some columns are written.

    ``texts`` makes the texts of the data fields, without NULL where the topic has none. ``order``:
    of each field of the topic its place among the texts of metadata and data. ``strings``: those
    of ``order`` whose fields are STRING.
    """

    texts: Callable[[tuple[Value, ...]], tuple[str | None, ...]]
    order: tuple[int, ...]
    strings: tuple[int, ...]


class RowEncoder(FastEncoder["tuple[Record, ...]"]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings, self._topic = topic_in(context)
        self._is_json = self._settings.encoding in ("auto", "json")
        self._plans: ImagePlans[_Plan] = ImagePlans(self._plan)

    def _messages(self, events: Iterable[Event]) -> Iterator[KafkaMessage]:
        return messages_of(events, self._topic, self._settings, self.piece)

    def _piece(self, change: RowChange) -> tuple[Record, ...]:
        before, after = change.before, change.after
        if change.half is not None:
            raise Irregular
        if change.op == "insert" and before is None and after is not None:
            return (self._record("I", change, after, is_after=True),)
        if change.op == "delete" and before is not None and after is None:
            return (self._record("D", change, before, is_after=False),)
        if change.op != "update" or before is None or after is None:
            raise Irregular
        return (
            self._record("U", change, before, is_after=False),
            self._record("U", change, after, is_after=True),
        )

    def _record(
        self, operation: str, change: RowChange, image: Image, *, is_after: bool
    ) -> ReadyRecord:
        plan = self._plans.of(change.table, image.columns)
        number, time = change.position.sequence_id, change.position.commit_ms
        if type(number) is not int or not 0 <= number < _SEQUENCE_END:
            raise Irregular
        if type(time) is not int or not 0 <= time <= MAX_TIME:
            raise Irregular
        texts = plan.texts(image.values)
        flags = ("N", "Y") if is_after else ("Y", "N")
        metadata = [str(number), operation, *flags, change.table.name or ""]
        given = [*metadata, str(time), *texts]
        strings = [text for place in plan.strings if (text := given[place]) is not None]
        others = len(plan.order) - len(strings)
        weight = _CHARACTER_BYTES * len("".join(strings)) + _VALUE_BYTES * others + _RECORD_BYTES
        data = _list_text([given[place] for place in plan.order])
        data.encode()  # a ValueError for a lone surrogate
        return ReadyRecord(text=f'{{"Data":{data}}}', weight=weight)

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Plan:
        topic, names = self._topic, [column.name for column in columns]
        fields = [topic.fields[index] for index in topic.data]
        is_whole = sorted(names) == sorted(field.name for field in fields)
        if not self._is_json or not is_whole or len(set(names)) < len(names):
            raise Irregular
        check_table(table, topic)
        if topic.source_table is not None and not table.name:
            raise Irregular
        places, order = [names.index(field.name) for field in fields], self._order()
        writers = {
            place: _writer(field, columns[place])
            for field, place in zip(fields, places, strict=True)
        }
        return _Plan(
            texts_of_values(
                [writers[place] for place in range(len(columns))],
                places,
                None,
                {
                    place: refuse
                    for field, place in zip(fields, places, strict=True)
                    if not field.nullable
                },
            ),
            order,
            tuple(
                place
                for place, field in zip(order, topic.fields, strict=True)
                if field.type == "STRING"
            ),
        )

    def _order(self) -> tuple[int, ...]:
        """Return which of the texts that `_record` puts together each field has."""
        topic = self._topic
        metadata = (
            *(topic.sequence_id, topic.operation_type, topic.before_image, topic.after_image),
            *(topic.source_table, topic.execute_time),
        )
        order = [*metadata, *topic.data]
        return tuple(order.index(index) for index in range(len(topic.fields)))


def _writer(field: Field, column: Column) -> Writer:
    """Return what writes the values of a column that are not NULL, as texts."""
    kind = column.type

    def plainly(value: Any) -> str:
        return write_text(field.type, to_field(field, column, value))

    def single(value: float) -> str:
        usual = usual_text32(value)
        return usual if "." in usual else plainly(value)

    names = {"end": _LONG_TEXT, "base64": write_base64}
    text = Usual("type($v) is str and len($v) < $end", "$v", plainly, names)
    binary = Usual("type($v) is bytes and len($v) < $end", "$base64($v)", plainly, names)

    match field.type, kind:
        case (
            "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT",
            kinds.IntType() | kinds.YearType() | kinds.BitType(),
        ):
            end = integer_end(field.type)
            return integer_writer(-end, end)
        case "DOUBLE", kinds.FloatType():
            return float_writer(64, repr, plainly)
        case "FLOAT", kinds.FloatType():
            return float_writer(32, single, plainly)
        case "DECIMAL", kinds.DecimalType():
            return digits_writer(plainly)
        case "STRING", kinds.TextType() | kinds.JsonType():
            return text
        case "STRING", kinds.BytesType():
            return binary
        case "STRING", kinds.EnumType() | kinds.SetType() | kinds.YearType():
            return lru_cache(_MAX_LABELS, typed=True)(plainly)
        case "STRING", kinds.DateType() | kinds.DatetimeType() if kind.form == "text":
            return text
        case "STRING", kinds.TimeType(zone=None) | kinds.TimestampType(zone=None) if (
            kind.form == "text"
        ):
            return text
        case _:
            return plainly
