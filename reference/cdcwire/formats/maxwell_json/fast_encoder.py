"""The fast encoder: one generated function for the values of an image, and the text around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from cdcwire.connect.scalars import java_float_text
from cdcwire.connect.usual_values import string_text
from cdcwire.core.compiled import FastEncoder, ImagePlans, Irregular, Usual, Writer, texts_of_values
from cdcwire.core.compiled.json_objects import read_objects
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.maxwell_json.definitions import UTC, definitions_of
from cdcwire.formats.maxwell_json.events import TYPES_OF_ROWS, messages_of, seconds_of, xid_of
from cdcwire.formats.maxwell_json.message import (
    SECONDS_END,
    written_text,
    written_texts,
    written_value,
)
from cdcwire.formats.maxwell_json.settings import read_settings
from cdcwire.formats.maxwell_json.values import SPACE, YEAR_END, written
from cdcwire.model import kinds
from cdcwire.model.events import Event, Position, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.usual_texts import (
    base64_writer,
    digits_writer,
    float_writer,
    integer_writer,
    usual_text,
)

_MAX_TEXTS = 256  # of one column
_LONG_JSON = 1 << 16  # characters of a text that may reach the limit on values
_MANY_LEVELS = 32
_NULL = "null"


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the rows of some columns are written.

    ``start``: the members before ``type``. ``names``: of the columns, each with its colon.
    ``texts`` makes the JSON of each value.
    ``key_places``: where the values of the key columns are, -1 for a column that the row lacks;
    None: the key is unknown. ``key_columns``: the member with their names, or nothing.
    ``kafka_key``: a template of the Kafka key; None: messages have no key.
    """

    start: str
    names: tuple[str, ...]
    texts: Callable[[tuple[Value, ...]], tuple[str, ...]]
    key_places: tuple[int, ...] | None
    key_columns: str
    kafka_key: str | None

    def row(self, texts: tuple[str, ...], with_nulls: bool) -> str:
        """Return the object of a row."""
        pairs = zip(self.names, texts, strict=True)
        if with_nulls:
            return ",".join([name + text for name, text in pairs])
        return ",".join([name + text for name, text in pairs if text != _NULL])

    def changed(self, old: tuple[str, ...], new: tuple[str, ...], with_nulls: bool) -> str:
        """Return the object of the old values that differ from the new ones."""
        return ",".join(
            [
                name + before
                for name, before, after in zip(self.names, old, new, strict=True)
                if before != after and (with_nulls or before != _NULL)
            ]
        )

    def key(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the JSON of the values of the key columns."""
        return tuple([texts[place] if place >= 0 else _NULL for place in self.key_places or ()])


class RowEncoder(FastEncoder[KafkaMessage]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._definitions = definitions_of(context.tables)
        self._plans: ImagePlans[_Plan] = ImagePlans(self._plan)

    def _messages(self, events: Iterable[Event]) -> Iterator[KafkaMessage]:
        return messages_of(events, self._settings, self._definitions, self.piece)

    def _piece(self, change: RowChange) -> KafkaMessage:
        settings, table = self._settings, change.table
        with_nulls = settings.output_nulls
        image, other = change.after, change.before
        if change.op == "delete":
            image, other = other, image
        if image is None or (other is not None and change.op != "update"):
            raise Irregular
        if change.extra or change.half is not None or change.sent == "key":
            raise Irregular
        plan = self._plans.of(table, image.columns)
        texts = plan.texts(image.values)
        row = plan.row(texts, with_nulls)
        if not row:
            raise Irregular
        old = ""
        if other is not None:
            if self._plans.of(table, other.columns) is not plan:
                raise Irregular
            old = f',"old":{{{plan.changed(plan.texts(other.values), texts, with_nulls)}}}'
        key = plan.key(texts)
        has_key = settings.output_primary_keys and plan.key_places is not None
        shown = f',"primary_key":[{",".join(key)}]' if has_key else ""
        value = (
            f'{plan.start},"type":"{TYPES_OF_ROWS[change.op]}","ts":{_seconds(change.position)}'
            f'{self._transaction(change.position)}{shown}{plan.key_columns},"data":{{{row}}}{old}}}'
        )
        kafka_key = plan.kafka_key
        return KafkaMessage(
            None if kafka_key is None else (kafka_key % key).encode(), value.encode()
        )

    def _transaction(self, position: Position) -> str:
        """Return the members xid and xoffset."""
        if not self._settings.output_commit_info:
            return ""
        xid = "" if position.tx_id is None else f',"xid":{xid_of(position.tx_id)}'
        offset = position.tx_order
        if offset is None or not self._settings.output_xoffset:
            return xid
        if type(offset) is not int or not INT64_START <= offset < INT64_END:
            raise Irregular
        return f'{xid},"xoffset":{offset}'

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Plan:
        settings, key = self._settings, table.key
        names = [column.name for column in columns]
        if table.schema is None or table.name is None or len(set(names)) < len(names):
            raise Irregular
        definition = self._definitions.table(table.schema, table.name)
        is_named = settings.output_primary_key_columns and key is not None
        if definition is not None and definition.key != key and not is_named:
            raise Irregular
        if key is not None and len({name.lower() for name in key}) < len(key):
            raise Irregular
        schema, name = written_text(table.schema), written_text(table.name)
        return _Plan(
            f'{{"database":{schema},"table":{name}',
            tuple(f"{written_text(each)}:" for each in names),
            texts_of_values(list(map(_writer, columns)), range(len(columns))),
            None if key is None else tuple(names.index(k) if k in names else -1 for k in key),
            f',"primary_key_columns":{written_texts(key)}' if is_named and key is not None else "",
            self._kafka_key(table.schema, table.name, key),
        )

    def _kafka_key(self, schema: str, name: str, key: tuple[str, ...] | None) -> str | None:
        form = self._settings.kafka_key_format
        if form == "none":
            return None
        if not key:
            raise Irregular
        schema, name = (written_text(each).replace("%", "%%") for each in (schema, name))
        prefix = "" if form == "array" else "pk."
        columns = [f"{written_text(prefix + k.lower())}:".replace("%", "%%") + "%s" for k in key]
        if form == "array":
            return f"[{schema},{name},[{','.join(f'{{{column}}}' for column in columns)}]]"
        return f'{{"database":{schema},"table":{name},{",".join(columns)}}}'


def _seconds(position: Position) -> int:
    seconds = seconds_of(position)
    if type(seconds) is not int or not -SECONDS_END <= seconds < SECONDS_END:
        raise Irregular
    return seconds


def _writer(column: Column) -> Writer:
    """Return what writes the values of a column that are not NULL."""
    kind = column.type

    def plainly(value: Any) -> str:
        return written_value(written(column, value))

    def document(value: Any) -> str:
        if type(value) is str and len(value) < _LONG_JSON and "\\u" not in value:
            levels = value.count("{") + value.count("[")
            if 0 < levels < _MANY_LEVELS and isinstance(read_objects(value.encode()), (dict, list)):
                return value.strip(SPACE)
        return plainly(value)

    match kind:
        case kinds.JsonType():
            return document
        case kinds.YearType():
            return integer_writer(0, YEAR_END)
        case kinds.FloatType(bits):
            return float_writer(bits, partial(java_float_text, bits=bits), plainly)
        case kinds.DecimalType():
            return digits_writer(plainly)
        case kinds.TextType():
            return Usual("type($v) is str", "$text($v)", plainly, {"text": string_text})
        case kinds.BytesType():
            return base64_writer(plainly)
        case kinds.EnumType() | kinds.SetType():
            return lru_cache(_MAX_TEXTS, typed=True)(plainly)
        case kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return usual_text(replace(kind, fraction=None), UTC, '"') or plainly
        case _:
            return usual_text(kind, UTC, '"' if isinstance(kind, kinds.DateType) else "") or plainly
