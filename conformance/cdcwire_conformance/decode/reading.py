"""The code that runs in a Spark worker: messages of a piece or of a batch to Arrow batches."""

from __future__ import annotations

import contextlib
import gc
import sys
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal, TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import (
    BatchBuilder,
    Change,
    MessagePlace,
    RowProblem,
    problem_of,
)
from cdcwire.arrow.building import ConversionError
from cdcwire.arrow.column_decoders import Irregular, MessageColumns
from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import Profile, Temporal
from cdcwire.console.problems import json_problem
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.orders import Order
from cdcwire.core.rows import Row
from cdcwire.feed import FeedError as FeedError
from cdcwire.files.messages_io import NotAMessageError, message_from_line
from cdcwire.files.stores import OpenFile, open_here
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange, Table, full_name
from cdcwire_conformance.decode.decoders import partial_rows, place_decoder
from cdcwire_conformance.sources.pieces import Piece, line_number, read_lines
from cdcwire_conformance.suite import get_suite

OnError: TypeAlias = Literal["stop", "stop unquoted", "row"]
"""The effect of an unreadable message: it stops the job, with or without a quote, or is a row."""
Located: TypeAlias = "tuple[MessagePlace, Message | RowProblem]"

CLAUSE_MESSAGES = "dataframes: messages"

ROWS_OF_A_BATCH = 2048
ROWS_OF_COLUMNS = 8192
BYTES_OF_A_BATCH = 16 << 20  # of messages
_RARE = 200_000
_USUAL_FORMS = (
    (b'{"key": null, "value": "', b'{"key": "', b'", "value": "'),
    (b'{"key":null,"value":"', b'{"key":"', b'","value":"'),
)
_USUAL_TAIL = b'"}\n'

KAFKA_COLUMNS = ("key", "value", "topic", "partition", "offset")
HEADERS = "headers"  # which not every frame of records has


@dataclass(frozen=True, slots=True)
class Job:
    """The facts that a worker needs to decode one table's rows."""

    format: Format
    context: Context
    table: CanonicalTable
    temporal: Temporal = "text"
    profile: Profile | None = None
    time_zone: str = "UTC"
    on_error: OnError = "stop"
    has_lines: bool = False  # the messages are JSON lines
    pairs_rows: bool = False  # as in ``BatchBuilder``
    order: Order | None = None  # whose places are a column

    @property
    def builder(self) -> BatchBuilder:
        """A new builder of the table's batches."""
        return BatchBuilder(
            self.table,
            self.temporal,
            self.profile,
            self.time_zone,
            skips_others=self.context.selection.columns is not None,
            pairs_rows=self.pairs_rows,
            order=self.order,
        )


def messages_of_piece(piece: Piece) -> Iterator[Located]:
    """Yield the messages of JSON lines; one that can't be read as its problem.

    Raises: FeedError when the file itself can't be read, which is not a poisoned message.
    """
    for offset, line in _lines_of(piece):
        place = MessagePlace(None, None, offset, piece.file, None)
        yield place, message_of_line(line)


def message_of_line(line: bytes) -> Message | RowProblem:
    """Return the message of a JSON line, or the reason why it is invalid."""
    message = _usual_message(line)
    if message is not None:
        return message
    try:
        return message_from_line(line)
    except NotAMessageError as error:
        return _line_problem(f"the line is not a message: {error}")
    except (ValueError, RecursionError) as error:
        return _line_problem(f"the line is {json_problem(error)}")


def _lines_of(piece: Piece) -> Iterator[tuple[int, bytes]]:
    try:
        yield from read_lines(piece)
    except OSError as error:
        raise FeedError(f"{piece.file}: can't be read: {error.strerror or error}") from error


def _usual_message(line: bytes) -> KafkaMessage | None:
    """Return the message of a line as this project writes it; None for lines of other forms.

    Base64 has no sign that JSON would escape, and being strict about it refuses all others.
    """
    if sys.version_info < (3, 11) or not line.endswith(_USUAL_TAIL):  # 3.10 can't be strict
        return None
    view = memoryview(line)  # its slices are not copies
    for without_key, with_key, border in _USUAL_FORMS:
        try:
            if line.startswith(without_key):
                value = view[len(without_key) : -len(_USUAL_TAIL)]
                return KafkaMessage(None, a2b_base64(value, strict_mode=True))
            end = line.find(border) if line.startswith(with_key) else -1
            if end > 0:
                key, value = view[len(with_key) : end], view[end + len(border) : -len(_USUAL_TAIL)]
                return KafkaMessage(
                    a2b_base64(key, strict_mode=True), a2b_base64(value, strict_mode=True)
                )
        except ValueError:
            return None
    return None


def messages_of_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Located]:
    """Yield the messages of Kafka's records, which have ``KAFKA_COLUMNS`` and ``file``."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in (*KAFKA_COLUMNS, "file")]
        for (key, value, topic, partition, offset, file), headers in zip(
            zip(*columns, strict=True), _headers_of(batch), strict=True
        ):
            yield (
                MessagePlace(topic, partition, offset, file, None),
                KafkaMessage(key, value, headers),
            )


def _headers_of(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, bytes], ...]]:
    """Yield the headers of each record, in their order; a name may occur twice."""
    if HEADERS not in batch.schema.names:
        yield from repeat((), batch.num_rows)
        return
    for headers in batch.column(HEADERS).to_pylist():
        yield tuple((each["key"], each["value"] or b"") for each in headers) if headers else ()


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """Spare a worker the garbage collector.

    Rows that wait for their batch have no cycles. PySpark collects after each task, and would look
    at all that was ever imported, which takes longer than decoding a thousand rows.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_RARE, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _line_problem(text: str) -> RowProblem:
    return RowProblem(None, "", CLAUSE_MESSAGES, text)


def decode_pieces(job: Job, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a table's rows in JSON lines. Raises: as ``decode_messages``."""
    open_file = pieces[0].opener if len(pieces) == 1 else open_here
    messages = chain.from_iterable(map(messages_of_piece, pieces))
    yield from decode_messages(job, messages, open_file)


def decode_messages(
    job: Job, messages: Iterable[Located], open_file: OpenFile = open_here
) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a table's rows. Raises: FeedError if errors are to stop.

    ``open_file``: opens the files of lines; errors give their line numbers.
    """
    rows = RowBatches(job, open_file)
    with few_collections():
        columns = columns_of(job, rows)
        if columns is None:
            yield from rows.batches(messages)
            return
        for place, message in messages:
            if columns.add(place, message):
                yield from columns.full()
        yield from columns.waiting()


def columns_of(job: Job, rows: RowBatches) -> ColumnBatches | None:
    """Return what decodes by columns, for a format that can; ``rows`` decodes all others."""
    message_columns = get_suite(job.format.name).message_columns
    if message_columns is None:
        return None
    return ColumnBatches(message_columns(rows.builder, job.context), rows)


class ColumnBatches:
    """Decodes messages to batches by columns, and row by row those that are irregular."""

    def __init__(self, columns: MessageColumns, rows: RowBatches) -> None:
        self._columns = columns
        self._rows = rows
        self._taken: list[Located] = []
        self._left: list[Located] = []
        self._left_bytes = 0

    def add(self, place: MessagePlace, message: Message | RowProblem) -> bool:
        """Take a message. Return whether a batch is full."""
        columns = self._columns
        rows_before = columns.rows
        if isinstance(message, RowProblem):
            self._left.append((place, message))
        elif not columns.add(message, place):
            self._left.append((place, message))
            self._left_bytes += len(message.value or b"")
        elif columns.rows > rows_before:  # else it is of other tables, and need not be kept
            self._taken.append((place, message))
        return self._is_full() or self._is_left_full()

    def full(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches that are full."""
        if self._is_full():
            yield from self._of_taken()
        if self._is_left_full():
            yield from self._of_left()

    def waiting(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches of the messages that are not yet in one."""
        yield from self._of_taken()
        yield from self._of_left()

    def _is_full(self) -> bool:
        return self._columns.rows >= ROWS_OF_COLUMNS or self._columns.size >= BYTES_OF_A_BATCH

    def _is_left_full(self) -> bool:
        return len(self._left) >= ROWS_OF_A_BATCH or self._left_bytes >= BYTES_OF_A_BATCH

    def _of_taken(self) -> Iterator[pa.RecordBatch]:
        taken, self._taken = self._taken, []
        if not self._columns.rows:
            return
        try:
            found = self._columns.batch()
        except (Irregular, ConversionError):
            pass  # row by row, outside this block, the error is found in its place
        else:
            yield found
            return
        yield from self._rows.batches(taken)

    def _of_left(self) -> Iterator[pa.RecordBatch]:
        left, self._left, self._left_bytes = self._left, [], 0
        yield from self._rows.batches(left)


class RowBatches:
    """Decodes messages to rows, and these to batches. Keep one for a job.

    ``open_file``: opens the files of lines; errors give their line numbers.
    """

    def __init__(self, job: Job, open_file: OpenFile) -> None:
        self.job = job
        self._open_file = open_file
        self.builder = job.builder
        self._decoder_at = place_decoder(job.format, job.context)
        self._is_wanted = change_filter(job.table)
        self._changes: list[Change] = []
        self._places: list[MessagePlace] = []
        self._counts: list[int] = []
        self._bytes = 0

    def batches(self, messages: Iterable[Located]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of messages, none left out."""
        decoder_at, is_wanted, builder = self._decoder_at, self._is_wanted, self.builder
        for place, message in messages:
            if isinstance(message, RowProblem):
                yield builder.problem_batch(message, self._located(message, place))
                continue
            try:
                found = [change for change in decoder_at(place)(message) if is_wanted(change)]
            except DecodeError as error:
                yield from self._problems(place, message, error)
                continue
            # The filter leaves rows only.
            if found and self.add(place, found, len(message.value or b"")):  # type: ignore[arg-type]
                yield from self.waiting()
        yield from self.waiting()

    def _problems(
        self, place: MessagePlace, message: Message, error: DecodeError
    ) -> Iterator[pa.RecordBatch]:
        """Yield the error rows of a message: one for each row that it is known to have, or one."""
        problem = problem_of(error)
        located = self._located(problem, place)
        rows: Sequence[Change] = ()
        if self.job.pairs_rows:
            decode, is_wanted = self._decoder_at(place), self._is_wanted
            values = self.job.table.sent_names - set(self.job.table.key or ())
            found = partial_rows(message, error, values, decode)
            rows = [each for each in found if is_wanted(each)]  # type: ignore[misc]  # rows only
        for row in rows or (None,):
            yield self.builder.problem_batch(problem, located, row)

    def add(self, place: MessagePlace, changes: Sequence[Change], size: int) -> bool:
        """Take the changes of a message of ``size`` bytes. Return whether a batch is full."""
        self._changes += changes
        self._places.append(place)
        self._counts.append(len(changes))
        self._bytes += size
        return len(self._changes) >= ROWS_OF_A_BATCH or self._bytes >= BYTES_OF_A_BATCH

    def waiting(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches of the changes that are not yet in one."""
        if not self._changes:
            return
        changes, places, counts = self._changes, self._places, self._counts
        self._changes, self._places, self._counts = [], [], []
        self._bytes = 0
        for found in self.builder.good_batches(changes, self.builder.places(places, counts)):
            if isinstance(found, pa.RecordBatch):
                yield found
                continue
            index, error = found
            problem = problem_of(error)
            place = self._located(problem, _place_of(index, places, counts))
            yield self.builder.problem_batch(problem, place, changes[index])

    def _located(self, problem: RowProblem, place: MessagePlace) -> MessagePlace:
        job = self.job
        return locate_problem(problem, place, job.on_error, job.has_lines, self._open_file)


def locate_problem(
    problem: RowProblem,
    place: MessagePlace,
    on_error: OnError,
    has_lines: bool,
    open_file: OpenFile = open_here,
) -> MessagePlace:
    """Return the place with its line, if there are lines. Raises: FeedError if errors stop.

    It is the line of the message, or of the problem where a file is one message.
    """
    offset = problem.offset if place.offset is None else place.offset
    if has_lines and place.file is not None and offset is not None:
        place = place._replace(line=line_number(place.file, offset, open_file))
    if on_error != "row":
        raise feed_error(problem, place, on_error) from None
    return place


def feed_error(problem: RowProblem, place: MessagePlace, on_error: OnError) -> FeedError:
    """Return the error that stops a job at a message that can't be read."""
    text = error_place if on_error == "stop unquoted" else error_text
    return FeedError(text(problem, place))


def error_place(problem: RowProblem, place: MessagePlace) -> str:
    """Return one line that quotes nothing of the message: its place, the byte and the clause."""
    byte = "" if problem.offset is None else f"byte {problem.offset}: "
    return f"{place_text(place)}: {byte}can't be read ({problem.clause})"


def error_text(problem: RowProblem, place: MessagePlace) -> str:
    """Return one line: where the message is, where in it, what is wrong, which clause."""
    byte = "" if problem.offset is None else f"byte {problem.offset}: "
    inside = f"in {problem.path}; " if problem.path else ""
    return f"{place_text(place)}: {byte}{problem.problem} ({inside}{problem.clause})"


def place_text(place: MessagePlace) -> str:
    """Return where a message is: file and line, or topic, partition and offset."""
    where = place.file or ""
    if place.topic is not None:
        where = f"{place.topic}[{place.partition}]@{place.offset}"
    if place.line is not None:
        where += f":{place.line}"
    return where


def _place_of(index: int, places: list[MessagePlace], counts: list[int]) -> MessagePlace:
    for place, count in zip(places, counts, strict=True):
        index -= count
        if index < 0:
            return place
    raise IndexError(index)


def change_filter(table: CanonicalTable) -> Callable[[Row | Event], bool]:
    """Return whether a change is one of the table. Tables of rows are few objects, met again."""
    known: dict[int, tuple[Table, bool]] = {}

    def is_wanted(change: Row | Event) -> bool:
        if not isinstance(change, (Row, RowChange)):
            return False
        found = known.get(id(change.table))
        if found is None:
            if len(known) >= 1024:
                known.clear()
            own = change.table
            is_own = own.schema == table.schema or full_name(own)[0] == table.schema
            found = own, own.name == table.table and is_own
            known[id(own)] = found
        return found[1]

    return is_wanted
