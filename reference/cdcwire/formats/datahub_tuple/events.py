"""Rows of a Tuple topic to and from the neutral model.

The table's schema and key are the definition's: the rows have the name alone.
Source: datahub-tuple, "updates", "what is not carried".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.carrying import read_records, write_records
from cdcwire.datahub.fields import FieldValue
from cdcwire.datahub.message import Record
from cdcwire.datahub.ops import HEARTBEAT, op_of_change, op_of_marker
from cdcwire.datahub.tuple_topic import (
    Operation,
    SchemaMismatchError,
    Topic,
    TupleRow,
    UnsupportedInTupleError,
)
from cdcwire.formats.datahub_tuple.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.datahub_tuple.values import to_field, to_model
from cdcwire.formats.datahub_tuple.wire import CLAUSE_SEQUENCE, CLAUSE_TIME, record_of, row_of
from cdcwire.model.events import (
    Event,
    Half,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    Table,
)
from cdcwire.model.events import Op as RowOp

CLAUSE_UPDATES = "datahub-tuple: updates"
UsualRecords: TypeAlias = "Callable[[Event], Sequence[Record] | None]"

ROW_OPS: dict[tuple[str, bool], tuple[RowOp, Half | None]] = {
    ("I", True): ("insert", None),
    ("U", False): ("update", "before"),
    ("U", True): ("update", "after"),
    ("D", False): ("delete", None),
}


def events_of(
    message: KafkaMessage,
    topic: Topic,
    settings: Settings = DEFAULT_SETTINGS,
    selection: Selection = EVERYTHING,
) -> Iterator[RowChange]:
    """Yield the neutral events of a body, updates as two records. Raises: DecodeError.

    ``steps.join_halves`` joins the before and after record of an update.
    """
    for path, record in read_records(message, topic.fields, settings.body):
        with step(*path):
            row = row_of(record, topic)
            own = topic.table
            if not selection.wants(own.schema, row.table or own.name or "", own.database):
                continue
            event = to_event(row, topic, selection, record.offset)
        yield event


def to_event(
    row: TupleRow, topic: Topic, selection: Selection = EVERYTHING, offset: int = 0
) -> RowChange:
    """Return the neutral event of a row. Raises: DecodeError for BYTES that are not in base64."""
    columns, values = topic.columns[: len(row.values)], []
    for column, value in zip(columns, row.values, strict=True):
        with step(column.name):
            values.append(to_model(column, value, offset))
    wanted = selection.columns
    if wanted is not None:
        kept = [index for index, column in enumerate(columns) if column.name in wanted]
        columns = tuple(columns[index] for index in kept)
        values = [values[index] for index in kept]
    image = Image(columns, tuple(values))
    op, half = ROW_OPS[row.operation, row.has_after]
    table = topic.table
    return RowChange(
        Table(row.table or table.name, table.schema, table.database, key=table.key),
        op,
        image if row.has_before else None,
        image if row.has_after else None,
        Position(sequence_id=int(row.sequence_id), commit_ms=row.execute_time),
        half,
    )


# ---- writing ---------------------------------------------------------------------------------


def messages_of(
    events: Iterable[Event],
    topic: Topic,
    settings: Settings = DEFAULT_SETTINGS,
    usual: UsualRecords = lambda event: None,
) -> Iterator[KafkaMessage]:
    """Yield bodies. The two rows of an update stay side by side, in one body.

    ``usual``: the fast encoder's; records that it does not make are made here.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    yield from write_records(
        _records(events, topic, usual), topic.fields, settings.body, settings.max_batch_size
    )


def _records(
    events: Iterable[Event], topic: Topic, usual: UsualRecords
) -> Iterator[Sequence[Record]]:
    for index, event in enumerate(events):
        ready = usual(event)
        if ready is not None:
            yield ready
            continue
        with step("events", index):
            group = [record_of(row, topic) for row in from_event(event, topic)]
        yield group


def from_event(event: Event, topic: Topic) -> tuple[TupleRow, ...]:
    """Return the row of an event, or the two of an update. Raises: EncodeError."""
    if not isinstance(event, RowChange):
        raise UnsupportedInTupleError(_name_of(event), ("what",))
    if event.op not in ("insert", "update", "delete"):
        raise UnsupportedInTupleError(event.op, ("op",))
    wants_before = event.op == "delete" or (event.op == "update" and event.half != "after")
    wants_after = event.op == "insert" or (event.op == "update" and event.half != "before")
    if event.half is not None and event.op != "update":
        raise EncodeError("only an update has before and after records", CLAUSE_UPDATES, ("half",))
    for name, image, is_wanted in (
        ("before", event.before, wants_before),
        ("after", event.after, wants_after),
    ):
        if (image is not None) != is_wanted:
            problem = f"{event.op} {'needs' if is_wanted else 'has no'} {name}"
            raise EncodeError(problem, CLAUSE_UPDATES, (name,))
    check_table(event.table, topic)
    sequence_id, time = event.position.sequence_id, event.position.commit_ms
    if sequence_id is None or sequence_id < 0:
        problem = "a row needs a sequence id"
        raise EncodeError(problem, CLAUSE_SEQUENCE, ("position", "sequence_id"))
    if time is None:
        problem = "a row needs the time of its change, commit_ms"
        raise EncodeError(problem, CLAUSE_TIME, ("position", "commit_ms"))
    operation: Operation = "I" if event.op == "insert" else "U" if event.op == "update" else "D"
    rows = []
    for name, image in (("before", event.before), ("after", event.after)):
        if image is not None:
            with step(name):
                values = _values(image, topic)
            is_after = name == "after"
            rows.append(
                TupleRow(
                    operation,
                    not is_after,
                    is_after,
                    str(sequence_id),
                    time,
                    event.table.name,
                    values,
                )
            )
    return tuple(rows)


def _values(image: Image, topic: Topic) -> tuple[FieldValue, ...]:
    """Return the values in the order of the topic, which must have just these columns."""
    given = {
        column.name: (column, value)
        for column, value in zip(image.columns, image.values, strict=True)
    }
    values = []
    for index in topic.data:
        field = topic.fields[index]
        found = given.pop(field.name, None)
        if found is None:
            if field.may_be_absent and not given:
                break
            raise SchemaMismatchError(field.name, "is not in the row; absent is not NULL")
        with step(field.name):
            values.append(to_field(field, *found))
    for name in given:
        raise SchemaMismatchError(name, "is not in the topic")
    if len(values) < len(image.columns):
        twice = next(name for name in image.names if image.names.count(name) > 1)
        raise SchemaMismatchError(twice, "appears twice in the row")
    return tuple(values)


def check_table(table: Table, topic: Topic) -> None:
    """Check that a topic has a table. Raises: EncodeError."""
    wanted = topic.table
    if (table.name, table.schema) != (wanted.name or table.name, wanted.schema or table.schema):
        problem = (
            f"a row of {table.schema}.{table.name}; the topic belongs to "
            f"{wanted.schema}.{wanted.name}, and one topic has one table"
        )
        raise EncodeError(problem, "datahub: topics", ("table",))


def _name_of(event: Event) -> str:
    """Return what a Blob message of the event is called, for the error."""
    match event:
        case Marker(what=what):
            op = op_of_marker(what)
            return what if op is None else op.name
        case Progress(what=progress):
            return HEARTBEAT.name if progress == "heartbeat" else progress
        case RowChange(op=row_op):
            return row_op
        case _:
            return op_of_change(event.what).name
