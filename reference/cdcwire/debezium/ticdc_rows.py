"""A row as TiCDC's ``debezium`` protocols write it: its columns, in order, and what defines them.

A row has the columns that the event has. Their order, and the columns that the schema lists in
addition, come from the definition of the table where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.connect.images import check_images
from cdcwire.core.errors import EncodeError
from cdcwire.debezium.ticdc import CLAUSE
from cdcwire.model import kinds
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.kinds import Column, Value

_OPS = {"insert": "c", "update": "u", "delete": "d"}


class TicdcRow:
    """One change of a row as it is written.

    ``op``: of the message. ``key``: the names of the key columns. ``listed``: the columns of the
    schema; it has virtual ones in their places, and all of them again at its end.
    ``image``: the row whose key columns are the key. ``time_zone``: of a TIMESTAMP without one.
    Raises: EncodeError.
    """

    def __init__(self, event: RowChange, known: Table | None, time_zone: str | None = None) -> None:
        if event.half is not None:
            raise EncodeError("an update is one event, never two records", CLAUSE, ("half",))
        if event.op not in _OPS:
            raise EncodeError(f"a row of op {event.op} has no form here", CLAUSE, ("op",))
        check_images(event, "debezium-json: images")
        self.op = _OPS[event.op]
        self.key = event.table.key or ()
        image = event.after if event.after is not None else event.before
        assert image is not None  # check_images has seen to it
        self.image = image
        defined = {column.name: column for column in (known and known.columns) or ()}
        self._defined = defined
        self._time_zone = time_zone
        sent = {column.name: self._filled(column) for column in image.columns}
        order = [name for name in defined if name in sent]
        order += [name for name in sent if name not in defined]
        self._order = order
        virtual = [column for column in defined.values() if "virtual" in column.roles]
        listed = [
            self._filled(defined.get(name) or sent[name])
            for name in (*defined, *order)
            if name in sent or "virtual" in defined[name].roles
        ]
        self.listed = [*{column.name: column for column in listed}.values(), *virtual]

    def pairs(self, image: Image, *, only_key: bool = False) -> Iterator[tuple[Column, Value]]:
        """Yield columns and values of a state of the row, in order. Raises: EncodeError."""
        values = {column.name: (column, value) for column, value in image.pairs}
        if not only_key and values.keys() != set(self._order):
            raise EncodeError("the images before and after have other columns", CLAUSE)
        if only_key and not values.keys() >= set(self.key):
            raise EncodeError("a key column is not in the row", CLAUSE)
        for name in self._order:
            if not only_key or name in self.key:
                column, value = values[name]
                yield self._filled(column), value

    def _filled(self, column: Column) -> Column:
        """Return a column with the parameters that only its definition gives."""
        if isinstance(column.type, kinds.TimestampType) and column.type.zone is None:
            column = replace(column, type=replace(column.type, zone=self._time_zone))
        defined = self._defined.get(column.name)
        if defined is None or type(defined.type) is not type(column.type):
            return column
        return replace(column, type=_completed(column.type, defined.type), source=defined.source)


def _completed(kind: kinds.Type, full: kinds.Type) -> kinds.Type:
    """Return a kind with the parameters of another one of the same class."""
    match kind:
        case kinds.DatetimeType(None) if isinstance(full, kinds.DatetimeType):
            return replace(kind, fraction=full.fraction)
        case kinds.TimestampType(None) if isinstance(full, kinds.TimestampType):
            return replace(kind, fraction=full.fraction)
        case kinds.BitType(None):
            return full
        case kinds.EnumType() if isinstance(full, kinds.EnumType):
            return replace(kind, labels=full.labels)
        case kinds.SetType() if isinstance(full, kinds.SetType):
            return replace(kind, labels=full.labels)
        case _:
            return kind
