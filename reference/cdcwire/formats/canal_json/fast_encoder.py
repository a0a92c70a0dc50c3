"""The fast encoder: templates for the kinds of messages, generated functions for rows.

The plain encoder makes the templates. It encodes a message with a placeholder for each part that
differs between rows. Strings of a row are escaped in two steps: by Python's
``json``, and once for the whole row as the dialect does in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import (
    FastEncoder,
    ImagePlans,
    Irregular,
    Usual,
    Writer,
    text_of_image,
    texts_of_values,
)
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.message import Message as OutMessage
from cdcwire.formats.canal_json.batching import messages_of
from cdcwire.formats.canal_json.columns import sql_type_of
from cdcwire.formats.canal_json.events import TYPES, commit_ts_of, pk_names_of, times_of
from cdcwire.formats.canal_json.files import to_files
from cdcwire.formats.canal_json.images import ImageWriter, Prepared
from cdcwire.formats.canal_json.members import WRITE_STRING
from cdcwire.formats.canal_json.message import Extension, Message
from cdcwire.formats.canal_json.settings import Settings, read_settings
from cdcwire.formats.canal_json.values import write_value, write_value_text
from cdcwire.formats.canal_json.wire import write_object
from cdcwire.golang import finished_easyjson, finished_json
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.usual_texts import float_writer, usual_text
from cdcwire.mysql.value_texts import float_text

_Frame: TypeAlias = "tuple[str, bool]"  # type of the message; whether it has an old row

_MAX_LABELS = 256  # of one column
_ES, _TS, _COMMIT_TS = INT64_END - 1, INT64_END - 2, INT64_END - 3
_SQL, _DATA, _OLD = "\x01sql", "\x01data", "\x01old"  # no table has columns with these names


@dataclass(frozen=True, slots=True)
class _Plan:
    """How an image is written.

    ``members``: the names of the columns as JSON, with a colon. ``texts``, ``row``: its values as
    JSON, and with their names. ``codes``: those of ``sqlType``
    that follow from the columns alone; None for a column of unsigned integers.
    """

    members: tuple[str, ...]
    texts: Callable[[tuple[Value, ...]], tuple[str, ...]]
    row: Callable[[tuple[Value, ...]], str]
    codes: str | None
    prepared: tuple[Prepared, ...]
    types: dict[str, str]
    frames: Memo[_Frame, str]

    def sql_types(self, values: tuple[Value, ...]) -> str:
        """Return the members of ``sqlType``."""
        if self.codes is not None:
            return self.codes
        return ",".join(
            f"{member}{sql_type_of(declared, value if declared.is_unsigned else None)}"
            for member, (_, _, declared), value in zip(
                self.members, self.prepared, values, strict=True
            )
        )


class RowEncoder(FastEncoder[bytes]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = settings = read_settings(context)
        self._tables = context.tables
        self._images = ImageWriter(settings, context.tables)
        self._plans: ImagePlans[_Plan] = ImagePlans(self._plan)
        self._is_canal = settings.dialect == "canal"
        self._finish: Callable[[str], str] = (
            partial(finished_json, escape_html=False) if self._is_canal else finished_easyjson
        )

    def _messages(self, events: Iterable[Event]) -> Iterator[OutMessage]:
        make = to_files if self._settings.transport == "storage" else messages_of
        return make(events, self._settings, self._tables, self.piece)

    def _piece(self, change: RowChange) -> bytes:
        settings, before, after = self._settings, change.before, change.after
        if change.half or change.sent == "key" or change.extra:
            raise Irregular
        image, other = (before, after) if change.op == "delete" else (after, before)
        if image is None or (other is not None and change.op != "update"):
            raise Irregular
        if change.op == "delete" and settings.delete_only_handle_key:
            raise Irregular
        plan = self._plans.of(change.table, image.columns)
        found: dict[str, object] = {
            "sql": plan.sql_types(image.values),
            "data": self._finish(plan.row(image.values)),
        }
        if other is not None:
            found["old"] = self._finish(self._old(change, other, plan, image))
        es, ts = times_of(change.position, settings)
        if type(es) is not int or type(ts) is not int or not (_is_int64(es) and _is_int64(ts)):
            raise Irregular
        found["es"], found["ts"] = es, ts
        if settings.tidb_extension:
            found["commit_ts"] = commit_ts = commit_ts_of(change.position)
            if type(commit_ts) is not int or not 0 <= commit_ts < UINT64_END:
                raise Irregular
        return (plan.frames[TYPES[change.op], other is not None] % found).encode()

    def _old(self, change: RowChange, other: Image, plan: _Plan, image: Image) -> str:
        """Return the members of ``old``."""
        old = self._plans.of(change.table, other.columns)
        if old is not plan and not old.types.items() <= plan.types.items():
            raise Irregular
        if not self._settings.tells_changed_columns:
            return old.row(other.values)
        written = zip(old.members, old.texts(other.values), strict=True)
        new = dict(zip(plan.members, image.values, strict=True))
        return ",".join(
            [
                member + text
                for (member, text), value in zip(written, other.values, strict=True)
                if type(value) is not type(new[member]) or value != new[member]
            ]
        )

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Plan:
        prepared = self._images.prepared(table, columns)
        string = WRITE_STRING[self._settings.dialect]
        types = {column.name: mysql_type for column, mysql_type, _ in prepared}
        members = tuple(f"{string(column.name)}:" for column in columns)
        if not columns or len(types) != len(columns):
            raise Irregular
        codes = None
        if not any(declared.is_unsigned for _, _, declared in prepared):
            pairs = zip(members, prepared, strict=True)
            codes = ",".join(f"{name}{sql_type_of(each[2], None)}" for name, each in pairs)
        names = pk_names_of(self._images.pk_names(table, Image(columns, ())), self._settings)
        message = Message(
            type="",
            database=table.schema or "",
            table=table.name or "",
            is_ddl=False,
            es=_ES,
            ts=_TS,
            pk_names=names,
            sql_type=((_SQL, 0),),
            mysql_type=tuple(types.items()),
            data=(((_DATA, None),),),
            tidb=Extension(_COMMIT_TS) if self._settings.tidb_extension else None,
            gtid="" if self._is_canal else None,
        )
        writers = [_writer(column, self._settings) for column, _, _ in prepared]
        order = range(len(columns))
        pieces = [members[0], *[f",{member}" for member in members[1:]], ""]
        return _Plan(
            members,
            texts_of_values(writers, order),
            text_of_image(pieces, writers, order),
            codes,
            prepared,
            types,
            Memo(lambda frame: self._frame(message, *frame)),
        )

    def _frame(self, message: Message, kind: str, has_old: bool) -> str:
        """Return the template of messages of a kind; ``message``: one with placeholders."""
        if not message.database or not message.table:
            raise Irregular
        old = (((_OLD, None),),) if has_old else None
        dialect = self._settings.dialect
        text = write_object(replace(message, type=kind, old=old), dialect).decode()
        text = text.replace("%", "%%")
        string = WRITE_STRING[dialect]
        placeholders = {
            "es": str(_ES),
            "ts": str(_TS),
            "sql": f"{string(_SQL)}:0",
            "data": f"{string(_DATA)}:null",
        }
        if has_old:
            placeholders["old"] = f"{string(_OLD)}:null"
        if message.tidb is not None:
            placeholders["commit_ts"] = str(_COMMIT_TS)
        for name, placeholder in placeholders.items():
            if text.count(placeholder) != 1:
                raise Irregular
            text = text.replace(placeholder, f"%({name})s")
        return text


def _writer(column: Column, settings: Settings) -> Writer:
    """Return what writes the values of a column that are not NULL, as JSON."""

    def plainly(value: Any) -> str:
        text = write_value(column, value, settings)
        return "null" if text is None else write_value_text(text, WRITE_STRING[settings.dialect])

    encoded = {"encoded": encode_basestring}
    match column.type:
        case kinds.EnumType() | kinds.SetType() | kinds.YearType():
            return lru_cache(_MAX_LABELS, typed=True)(plainly)
        case kinds.TextType():
            return encode_basestring
        case kinds.JsonType():
            return Usual("$v", "$encoded($v)", plainly, encoded)
        case kinds.BytesType():
            text = "$encoded($v.decode('latin-1'))"
            return Usual("type($v) is bytes", text, plainly, encoded)
        case kinds.FloatType(bits):
            return float_writer(bits, partial(float_text, bits=bits), plainly, '"')
        case _:
            return usual_text(column.type, settings.time_zone, '"') or plainly


def _is_int64(number: int) -> bool:
    return INT64_START <= number < INT64_END
