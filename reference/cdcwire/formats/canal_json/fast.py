"""The fast decoder: Canal-JSON to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. Unusual input, damaged
or just rare, is given to the plain decoder. Usual are messages of TiCDC with one row and without
white space. The text before ``es`` identifies the table and the operation, and by these what was
learned of their messages. See ``row_patterns`` for how the rest is read. The order in which TiCDC
writes ``mysqlType`` varies from message to message, so its members are compared as a set.

Not read in the fast way: compressed messages, the official Canal's, DDL and watermarks, rows that
were cut, updates without their old row. They come as neutral events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.claim_check import is_claim_check
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context
from cdcwire.core.errors import step
from cdcwire.core.limits import UINT64_END
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import Row, new_row
from cdcwire.core.strict_json import JsonObject, read_json
from cdcwire.formats.canal_json.columns import Definitions
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.files import is_of_table, read_file, read_line
from cdcwire.formats.canal_json.members import MYSQL_TYPE, RULES, TEXT, WRITE_STRING
from cdcwire.formats.canal_json.message import DELETE, ROW_TYPES, UPDATE, Message
from cdcwire.formats.canal_json.row_patterns import Images, MessageReader, Shape, name_of
from cdcwire.formats.canal_json.settings import Settings, read_settings
from cdcwire.formats.canal_json.wire import MESSAGE, read_message, read_object
from cdcwire.model.events import Event, Sent, Table
from cdcwire.storage.feeds import path_of
from cdcwire.storage.paths import DataPath

# Limits of what is kept, in characters of text that it was learned from. A column takes some two
# kilobytes with its pattern.
_MAX_WEIGHT = 1 << 20
_WEIGHT_OF_A_COLUMN = 1 << 7
_ENTRY = 64  # what a table weighs in addition to its text
_MAX_READERS = 8  # of one table and operation
_MAX_COLUMNS = 512
_MAX_BYTES = 1 << 20  # of a message: matching takes some memory for each escape
_PRICE_OF_A_COLUMN = 1 << 10  # see ``Credit``

_HEAD = [*MESSAGE.by_name][:6]  # the members before es
_ES = ',"es":'
_OLD = b'"old":'
_TYPE = '":"'  # one for each column, and some more
_LINE_ENDS = frozenset(b"\r\n")
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True, eq=False)
class RowHead:
    """The head of a message, before ``es``: the table, its key, and the operation."""

    kind: str
    table: Table
    is_wanted: bool
    version: int | None
    readers: list[MessageReader] = field(default_factory=list)


class RowDecoder(FastDecoder):
    """Decodes Kafka messages and data files.

    ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        if settings is None:
            settings = read_settings(context)
        self.selection = context.selection
        self.settings = settings
        self.tables = context.tables
        self.blobs = context.blobs
        self._definitions = Definitions(self.tables)
        self._subjects: BoundedCache[tuple[int | None, str], RowHead] = BoundedCache(_MAX_WEIGHT)
        self._credit = Credit()
        self._seen = 0  # characters that the credit does not know of yet
        self._sent_of_delete: Sent | None = "key" if settings.delete_only_handle_key else None
        self._sent_of_update: Sent | None = "changed" if settings.tells_changed_columns else None

    def _usual(self, message: AnyMessage) -> Iterable[Row | Event]:
        if isinstance(message, StoredFile):
            return () if is_claim_check(message, self.blobs) else self._file(message)
        value = message.value
        if not value or self.settings.compression is not None:
            raise Irregular
        usual = value if value.endswith(b"}") else value.rstrip(_SPACE)
        row = self._usual_row(usual, None, None)
        return () if row is None else (row,)

    def _plain(self, message: AnyMessage) -> list[Row | Event]:
        settings = self.settings
        return self._events(
            read_message(message.value, settings.compression, self.selection, self._definitions)
        )

    def _file(self, file: StoredFile) -> Iterator[Row | Event]:
        """Yield the rows and events of a file, those before a fault first. Raises: DecodeError."""
        terminator = self.settings.terminator
        place = path_of(file, self.settings.layout)
        if not isinstance(place, (DataPath, type(None))) or not _LINE_ENDS.issuperset(
            terminator or b"x"
        ):
            yield from read_file(file, self.settings, self.tables, self.selection)
            return
        partition, version = (None, None) if place is None else (place.partition, place.version)
        data, offset, index = file.value, 0, 0
        while offset < len(data):
            end = data.find(terminator, offset)
            row: Row | None = None
            try:
                if end < 0:
                    raise Irregular
                row = self._usual_row(data[offset:end], partition, version)
                if row is not None and place is not None:
                    is_usual = is_of_table(place, row.table.schema, row.table.name)
                else:
                    is_usual = True
            except IRREGULARITIES:
                is_usual = False
            if is_usual:
                offset = end + len(terminator)
                if row is not None:
                    yield row
            else:
                with step("rows", index):
                    message, offset = read_line(
                        data, offset, terminator, self.selection, self._definitions, place
                    )
                yield from self._events(message, partition, version)
            index += 1

    def _events(
        self, message: Message | None, partition: int | None = None, version: int | None = None
    ) -> list[Row | Event]:
        if message is None:
            return []
        return list(
            events_of(
                message,
                self.settings,
                self.blobs,
                self.selection,
                self._definitions,
                partition=partition,
                version=version,
            )
        )

    def _usual_row(self, value: bytes, partition: int | None, version: int | None) -> Row | None:
        """Return the row of a message; None if it is not wanted. Raises: one of IRREGULARITIES."""
        self._seen += len(value)
        old_at = value.find(_OLD)
        if old_at < 0 or len(value) > _MAX_BYTES:
            raise Irregular
        # Decoded by itself, the text before the rows is ASCII most of the time, which is faster.
        text = value[:old_at].decode()
        es_at = text.find(_ES)
        if es_at < 0:
            raise Irregular
        head = text[:es_at]
        subject = self._subjects.get((version, head))
        if subject is None:
            subject = self._new_subject(head, version)
        es, ts, images = self._read(subject, value, text, es_at, value[old_at:].decode())
        layout, values, old_layout, old, digits = images
        commit_ts = None if digits is None else int(digits)
        if commit_ts is not None and commit_ts >= UINT64_END:
            raise Irregular
        if not subject.is_wanted:
            return None
        table, where = subject.table, (commit_ts, partition)
        times = int(es), int(ts), None, None
        row: tuple[object, ...]
        if subject.kind == DELETE:
            sent = self._sent_of_delete
            row = (table, "delete", *where, None, None, layout, values, sent, None, *times)
        else:
            op, sent = ("insert", None) if old is None else ("update", self._sent_of_update)
            row = (table, op, *where, layout, values, old_layout, old, sent, None, *times)
        return new_row(row)

    def _read(
        self, subject: RowHead, value: bytes, text: str, es_at: int, rows: str
    ) -> tuple[str, str, Images]:
        for reader in subject.readers:
            found = reader.read(text, es_at, rows)
            if found is not None:
                return found
        self._credit.earn(self._seen)
        self._seen = 0
        if text.count(_TYPE) * _PRICE_OF_A_COLUMN > self._credit.left:
            raise Irregular
        found = self._learn(subject, value).read(text, es_at, rows)
        if found is None:
            raise Irregular
        return found

    def _new_subject(self, head: str, version: int | None) -> RowHead:
        """Learn the text before the times; it means the same before all others."""
        found = read_json(f"{head}}}".encode(), RULES).value
        if not isinstance(found, JsonObject):
            raise Irregular
        if [member.name for member in found.members] != _HEAD or not head.startswith("{"):
            raise Irregular
        message = read_object(f'{head},"es":0,"ts":0,"data":[]}}'.encode())
        if message is None or message.is_ddl or message.id or message.type not in ROW_TYPES:
            raise Irregular
        table = Table(message.table, message.database or None, key=message.pk_names or ())
        is_wanted = self.selection.wants(message.database or None, message.table)
        subject = RowHead(message.type, table, is_wanted, version)
        self._subjects.keep((version, head), subject, len(head) + _ENTRY)
        return subject

    def _learn(self, subject: RowHead, value: bytes) -> MessageReader:
        """Return a reader of messages like this one. Raises: DecodeError, Irregular."""
        message = read_object(value, EVERYTHING, self._definitions, subject.version)
        if message is None or not message.mysql_type or not message.sql_type:
            raise Irregular
        if not message.data or len(message.data) != 1:
            raise Irregular
        row = message.data[0] or ()
        names = tuple(name for name, _ in row)
        types = dict(message.mysql_type)
        if types.keys() != set(names):
            raise Irregular
        codes = ",".join(f"{name_of(name)}:{code}" for name, code in message.sql_type)
        text_of_types = ",".join(
            f"{name_of(name)}:{TEXT.write(kind, MYSQL_TYPE, WRITE_STRING['ticdc'])}"
            for name, kind in message.mysql_type
        )[1:-1]
        shape = self._shape(subject, message, names, text_of_types)
        if any(reader.shape == shape for reader in subject.readers):
            raise Irregular  # it is known, and this message differs in something else
        size = len(names) * (2 if shape.has_old else 1)
        if size > _MAX_COLUMNS or not self._credit.spend(size * _PRICE_OF_A_COLUMN):
            raise Irregular
        definition = self._definitions.columns(message.database, message.table, subject.version)
        key, zone = subject.table.key or (), self.settings.time_zone
        columns = [definition.column(name, types[name], name in key, zone) for name in names]
        wanted = self.selection.columns
        reader = MessageReader(shape, f"{{{codes}}}", text_of_types, columns, wanted)
        subject.readers.insert(0, reader)
        del subject.readers[_MAX_READERS:]
        self._subjects.grow(2 * len(text_of_types) + _ENTRY + size * _WEIGHT_OF_A_COLUMN)
        return reader

    def _shape(
        self, subject: RowHead, message: Message, names: tuple[str, ...], types: str
    ) -> Shape:
        has_old = subject.kind == UPDATE
        is_part = has_old and self._sent_of_update is not None
        if has_old and not is_part:
            old = message.old[0] if message.old else None
            if old is None or tuple(name for name, _ in old) != names:
                raise Irregular
        # Without an escape in it, quotes tell the members apart in whatever order they are.
        members = types if "\\" in types else frozenset(types.split('","'))
        return Shape(names, members, has_old, is_part)
