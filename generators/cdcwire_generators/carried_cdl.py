"""What comes back from CDL JSON and from Debezium JSON, each message of which has one event.

Both tell a row's key apart from its columns. Of a delete Debezium tells the key alone, unless the
producer is known to send whole rows; an update that changes a key is a delete, a tombstone and an
insert there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.format import Format
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
    Value,
)
from cdcwire.model.tso import ms_of_tso
from cdcwire_generators.carried import NotCarriedError, Options, Passage
from cdcwire_generators.carried_connect import Way, renamed, sent_column, sent_row

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64 = (-(1 << 63), (1 << 63) - 1)
_OPS: frozenset[Op] = frozenset({"insert", "update", "delete", "read"})
_Texts = dict[str, "str | bytes | None"]


class _ConnectPassage(Passage):
    """What both share: rows of one struct, and their key."""

    way: Way

    def _checked(self, event: RowChange) -> None:
        if event.op not in _OPS or event.half is not None:
            raise NotCarriedError("op")
        has = event.before is not None, event.after is not None
        wanted = (event.op in ("update", "delete"), event.op != "delete")
        if has != wanted and not (event.op == "update" and has == (False, True)):
            raise NotCarriedError("op")

    def _images(self, event: RowChange) -> tuple[Image | None, Image | None]:
        """Return both images, of one layout. Raises: NotCarriedError."""
        shown = event.after if event.after is not None else event.before
        assert shown is not None  # it was checked
        if len(set(shown.names)) < len(shown.names):
            raise NotCarriedError("names")
        told = tuple(sent_column(column, self.way) for column in shown.columns)
        before, after = (
            None if image is None else sent_row(renamed(image, shown.columns), told, self.way)
            for image in (event.before, event.after)
        )
        for name in event.table.key or ():
            if name not in shown.names:
                raise NotCarriedError("key")
            for image in (before, after):
                if image is not None and image[name] is None:
                    raise NotCarriedError("key")
        return before, after

    def _time(self, position: Position) -> int:
        if position.commit_ms is not None:
            return _number(position.commit_ms)
        if position.commit_ts is None:
            raise NotCarriedError("commit_ms")
        return ms_of_tso(position.commit_ts)

    def _transaction(self, position: Position) -> Position:
        """Return what both tell of a transaction."""
        tx_id = position.tx_id
        if tx_id is not None and _INTEGER.fullmatch(tx_id) is None:
            raise NotCarriedError("tx_id")
        _number(int(tx_id or 0))
        lsn = None if position.lsn is None else _number(position.lsn)
        return Position(lsn=lsn, tx_id=tx_id, commit_ms=self._time(position))


class CdlPassage(_ConnectPassage):
    """CDL JSON 1.0, which has rows and nothing else."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
        self.way = Way("cdl 1.0", str(self.options["name-prefix"]))

    def events(self, event: Event) -> list[Event]:
        return [_tombstone(event)] if _is_tombstone(event) else super().events(event)

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        self._checked(event)
        if event.table.name is None or event.table.schema is None:
            raise NotCarriedError("table")
        before, after = self._images(event)
        table = Table(event.table.name, event.table.schema, key=event.table.key or ())
        op: Op = "insert" if event.op == "read" else event.op
        position = self._transaction(event.position)
        yield RowChange(table, op, before, after, position, extra=self._told(event.extra))

    def _told(self, extra: Extra) -> Extra:
        store = _text(extra, "connector")
        told: _Texts = {"connector": str(self.options["data-store"])}
        if store is not None:
            told["connector"] = store.upper()
        for name in ("heartbeat_identifier", "lob_columns"):
            if (value := _text(extra, name)) is not None:
                told[name] = value
        told.update(_message_type(extra))
        others = _text(extra, "transaction_properties")
        if others is not None and (pairs := _properties(others)):
            told["transaction_properties"] = json.dumps(pairs, separators=(",", ":"))
        return told


class DebeziumPassage(_ConnectPassage):
    """Debezium JSON of one version, or CDL's 2.0, by the option ``dialect``."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
        dialect = str(self.options["dialect"])
        self.is_cdl = dialect == "cdl"
        self.is_new = dialect in ("debezium-2.7", "debezium-3.2")
        self.version = "1.4.0.Final"
        if self.is_new:
            self.version = f"{dialect[-3:]}.{'4' if dialect.endswith('2.7') else '0'}.Final"
        self.is_whole = self.options["replica-identity"] == "full"
        prefix = str(self.options["name-prefix"])
        self.way = Way("cdl 2.0", prefix)
        if not self.is_cdl:
            self.way = Way(
                "debezium",
                prefix,
                str(self.options["decimal-handling-mode"]),
                str(self.options["time-precision-mode"]),
                str(self.options["binary-handling-mode"]),
                str(self.options["interval-handling-mode"]),
                str(self.options["hstore-handling-mode"]),
                str(self.options["unavailable-value-placeholder"]),
            )

    def events(self, event: Event) -> list[Event]:
        return [_tombstone(event)] if _is_tombstone(event) else super().events(event)

    def _rows(self, event: RowChange) -> Iterable[Event]:
        self._checked(event)
        before, after = self._images(event)
        names = event.table.key or ()
        if not self.is_cdl and before is not None and after is not None and names:
            old, new = ([image[name] for name in names] for image in (before, after))
            if old != new:
                yield self._row(event, "delete", before, None)
                yield Marker("tombstone", extra={"message_key": None})
                yield self._row(event, "insert", None, after)
                return
        yield self._row(event, event.op, before, after)

    def _row(
        self, event: RowChange, op: Op, before: Image | None, after: Image | None
    ) -> RowChange:
        table = self._table(event.table)
        extra = self._told(event.extra, event.position, is_read=op == "read")
        if op == "read" and (self.is_cdl or self.options["read-r-as-c"]):
            op = "insert"
        sent: Sent | None = None
        if op == "delete" and before is not None and table.key and not self.is_whole:
            before, sent = _picked(before, table.key), "key"
        position = self._place(event.position, extra)
        return replace(
            event,
            table=table,
            op=op,
            before=before,
            after=after,
            position=position,
            sent=sent,
            extra={**extra, **self._of_cdl(event.extra)},
        )

    def _table(self, table: Table) -> Table:
        """Return a table as ``source`` has it; without a schema its database is the schema."""
        if table.name is None:
            raise NotCarriedError("table")
        database = table.database or str(self.options["database"]) or None
        key = table.key or ()
        if table.schema:
            return Table(table.name, table.schema, database, key=key)
        return Table(table.name, database, key=key)

    def _place(self, position: Position, extra: Extra) -> Position:
        found = self._transaction(position)
        sent_ms = None if position.sent_ms is None else _number(position.sent_ms)
        if self.is_cdl:
            return replace(found, sent_ms=found.commit_ms if sent_ms is None else sent_ms)
        order = position.tx_order if "transaction_id" in extra else None
        return replace(found, sent_ms=sent_ms, tx_order=order)

    def _told(self, extra: Extra, position: Position, *, is_read: bool = False) -> _Texts:
        """Return the names of ``extra`` that say where a change comes from."""
        connector = _text(extra, "connector")
        snapshot: str | bytes | None = "true" if is_read else "false"
        if "snapshot" in extra:
            snapshot = _text(extra, "snapshot")
        told: _Texts = {
            "connector": "postgresql" if connector is None else connector.lower(),
            "connector_version": _text(extra, "connector_version") or self.version,
            "source_name": _text(extra, "source_name") or str(self.options["topic-prefix"]),
            "snapshot": snapshot,
        }
        if self.is_new:
            names: tuple[str, ...] = ("xmin", "source_ts_us", "source_ts_ns", "ts_us", "ts_ns")
            told.update(_kept(extra, ("sequence",)))
        else:
            names = () if self.is_cdl else ("xmin",)
        told.update(_kept(extra, names, is_number=True))
        if self.is_cdl:
            return told
        block = _text(extra, "transaction_id")
        if block is not None:
            order = _kept(extra, ("data_collection_order",), is_number=True)
            if position.tx_order is None or not order:
                raise NotCarriedError("transaction_id")
            _number(position.tx_order)
            told.update({"transaction_id": block, **order})
        return told

    def _of_cdl(self, extra: Extra) -> _Texts:
        if not self.is_cdl:
            return {}
        names = ["lob_columns"]
        if self.options["heartbeat-identifier"] == "append":
            names.append("heartbeat_identifier")
        return {**_message_type(extra), **_kept(extra, names)}

    def _schema_change(self, event: SchemaChange) -> SchemaChange:
        if event.what != "truncate" or event.table is None or self.is_cdl:
            raise NotCarriedError("schema change")
        extra = self._told(event.extra, event.position)
        table = replace(self._table(event.table), key=())
        position = self._place(event.position, extra)
        return SchemaChange("truncate", None, None, table, position, extra)

    def _progress(self, event: Progress) -> Progress:
        if self.is_cdl or event.position.sent_ms is None:
            raise NotCarriedError("progress")
        name = _text(event.extra, "source_name") or str(self.options["topic-prefix"])
        position = Position(sent_ms=_number(event.position.sent_ms))
        return Progress(event.what, position, {"source_name": name})

    def _marker(self, event: Marker) -> Marker:
        if self.is_cdl:
            raise NotCarriedError("markers")
        if event.what != "logical_message":
            return self._boundary(event)
        extra = self._told(event.extra, event.position)
        position = self._place(event.position, extra)
        extra["content"] = event.extra.get("content")
        return Marker(event.what, event.id, position, extra)

    def _boundary(self, event: Marker) -> Marker:
        sent_ms = event.position.sent_ms
        if event.id is None or (sent_ms is None and self.is_new):
            raise NotCarriedError("markers")
        extra = _kept(event.extra, ("event_count",), is_number=True)
        counts = _text(event.extra, "data_collections")
        if counts is not None:
            extra["data_collections"] = json.dumps(_pairs(counts), separators=(",", ":"))
        # The older version has no time there.
        position = Position(sent_ms=_number(sent_ms)) if self.is_new else Position()
        return Marker(event.what, event.id, position, extra)


def _is_tombstone(event: Event) -> bool:
    return isinstance(event, Marker) and event.what == "tombstone"


def _tombstone(event: Event) -> Marker:
    """Return what is left of a tombstone: the key of its message."""
    key = event.extra.get("message_key")
    return Marker("tombstone", extra={"message_key": key if isinstance(key, bytes) else None})


def _picked(image: Image, names: Iterable[str]) -> Image:
    pairs = [p for p in zip(image.columns, image.values, strict=True) if p[0].name in names]
    return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))


def _number(value: Value) -> int:
    if not _INT64[0] <= value <= _INT64[1]:
        raise NotCarriedError("a number of more than 64 bits")
    return int(value)


def _text(extra: Extra, name: str) -> str | None:
    value = extra.get(name)
    if value is not None and not isinstance(value, str):
        raise NotCarriedError(name)
    return value


def _kept(extra: Extra, names: Iterable[str], *, is_number: bool = False) -> _Texts:
    """Return the names that are told, numbers only where they are written as such."""
    told: _Texts = {}
    for name in names:
        value = _text(extra, name)
        if value is None:
            continue
        if is_number and _INTEGER.fullmatch(value) is None:
            raise NotCarriedError(name)
        told[name] = value
    return told


def _message_type(extra: Extra) -> _Texts:
    """Return the type of a message where it is not that of a row."""
    told = _text(extra, "message_type")
    return {} if told in (None, "", "0") else {"message_type": told}


def _properties(text: str) -> dict[str, int]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NotCarriedError("transaction_properties") from error
    is_told = isinstance(found, dict) and not found.keys() & {"lsn", "txId"}
    if not is_told or any(isinstance(v, bool) or not isinstance(v, int) for v in found.values()):
        raise NotCarriedError("transaction_properties")
    return {name: _number(value) for name, value in found.items()}


def _pairs(text: str) -> list[list[str | int]]:
    try:
        return [[str(name), _number(count)] for name, count in json.loads(text)]
    except (TypeError, ValueError) as error:
        raise NotCarriedError("data_collections") from error
