"""Measures how many bytes rows take: format by format, batch by batch, compression by compression.

The bytes of each message's key and value are counted, compressed together and message by message.
This is the least that a Kafka producer reaches: its batch has at least one message. Kafka's own
framing is not counted, nor is what a producer gains by compressing several messages at once. For a
format of files the bytes of each file are counted, and a file has one batch of rows of one table.
So has a body of records in a topic of one table. A format of one row per message has the same
figures with all batches. Schemas and definitions that messages do not have are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.format import Format, MessageEncoder
from cdcwire.model.events import RowChange, Table
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.processes import process_pool
from cdcwire_conformance.size.compressions import (
    COMPRESSION_NAMES,
    RAW,
    Compression,
    compressions,
)
from cdcwire_conformance.size.inputs import (
    Input,
    SizeError,
    TableName,
    is_counted,
    payload_of,
    topics_of,
    with_whole_positions,
)
from cdcwire_conformance.size.results import Cell, Refused, SizeResults, WorkloadSizes
from cdcwire_conformance.suite import get_suite

DEFAULT_BATCHES: tuple[int, ...] = (1, 16, 256, 1024)
MAX_MESSAGE_BYTES = 10 * 1024 * 1024  # TiCDC's default
_BATCH_OPTION = "max-batch-size"
_SIZE_OPTION = "max-message-bytes"
_TRIED_ROWS = 64

OpenInput: TypeAlias = Callable[[], Input]
_Encoders: TypeAlias = "dict[TableName | None, MessageEncoder]"  # by topic
Watcher: TypeAlias = Callable[[str], None]


def _watch_nothing(text: str) -> None:
    """Take no notice."""


def measure(
    sources: Sequence[OpenInput],
    *,
    formats: Sequence[str] = FORMAT_NAMES,
    batches: Sequence[int] = DEFAULT_BATCHES,
    compression_names: Sequence[str] = COMPRESSION_NAMES,
    options: Mapping[str, OptionValue] | None = None,
    seed: int = 1,
    jobs: int = 1,
    watch: Watcher = _watch_nothing,
) -> SizeResults:
    """Return how many bytes the rows of each source take.

    ``sources`` are called one after the other, so that the rows of only one are in memory at a
    time. With ``jobs`` over 1, each source is called in one of that number of processes; the
    sources must be picklable. ``options``: settings of the producer; each goes to the formats that
    have it. ``seed``: the seed of the rows, for the report. ``watch``: called with the progress.
    Raises: ValueError for a name or number that is not allowed; SizeError if no row is carried by
    all formats that carry any; MissingExtraError.
    """
    given = dict(options or {})
    if _BATCH_OPTION in given:
        raise ValueError(f"the option {_BATCH_OPTION} is set by the batch sizes")
    if not batches or min(batches) < 1:
        raise ValueError("a batch size is a number from 1")
    chosen = tuple(get_format(name) for name in dict.fromkeys(formats))
    _check_options(given, chosen)
    plan = _Plan(
        tuple(format_.name for format_ in chosen),
        tuple(sorted(set(batches))),
        tuple(dict.fromkeys((RAW, *compression_names))),
        given,
    )
    used = compressions(plan.compressions)
    workloads = []
    watch(f"0 of {len(sources)} measured")
    for workload in _measured(sources, plan, min(jobs, len(sources))):
        workloads.append(workload)
        watch(f"{len(workloads)} of {len(sources)} measured: {workload.name}")
    limit = int(given.get(_SIZE_OPTION, MAX_MESSAGE_BYTES))
    texts = {name: _text(value) for name, value in given.items()}
    return SizeResults(seed, plan.formats, plan.batches, used, texts, limit, tuple(workloads))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The measurements of each source, by names, so that they go to other processes."""

    formats: tuple[str, ...]
    batches: tuple[int, ...]
    compressions: tuple[str, ...]
    options: Mapping[str, OptionValue]


def _measured(sources: Sequence[OpenInput], plan: _Plan, jobs: int) -> Iterator[WorkloadSizes]:
    if jobs < 2:
        yield from (_workload(source, plan) for source in sources)
        return
    try:
        with process_pool(jobs) as pool:
            yield from pool.map(_workload, sources, [plan] * len(sources))
    except BrokenProcessPool as error:
        raise SizeError("a process ended too soon; --jobs 1 measures without others") from error


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_options(given: Mapping[str, OptionValue], formats: Sequence[Format]) -> None:
    known = {option.name: option for format_ in formats for option in format_.options}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"{name!r} is not an option; there are: {', '.join(sorted(known))}")
        known[name].parse(value)


def _workload(source: OpenInput, plan: _Plan) -> WorkloadSizes:
    each = source()
    used = compressions(plan.compressions)
    rows: Sequence[RowChange] = with_whole_positions(each.rows)
    each = replace(each, rows=tuple(rows))
    refused: tuple[Refused, ...] = ()
    try:
        _try_first_rows(each, plan)
        cells = _cells(each, rows, plan, used)
    except EncodeError:
        plan, rows, refused = _carried_by_all(each, plan)
        if not rows or not plan.formats:
            reasons = "; ".join(f"{found.format}: {found.reason}" for found in refused)
            raise SizeError(f"{each.name}: no row is carried by every format: {reasons}") from None
        cells = _cells(each, rows, plan, used)
    received = None
    if each.received is not None:
        name, raw, number = each.received
        received = _cell(name, -(-number // len(raw)), number, raw, used)
    return WorkloadSizes(each.name, each.title, len(rows), cells, refused, received, each.notes)


def _try_first_rows(each: Input, plan: _Plan) -> None:
    """Encode a few rows in every format, before many are measured. Raises: EncodeError."""
    for name in plan.formats:
        rows = each.rows[:_TRIED_ROWS]
        for _ in _messages(get_format(name), rows, plan.batches[0], each, plan.options):
            pass


def _cells(
    each: Input, rows: Sequence[RowChange], plan: _Plan, used: Sequence[Compression]
) -> tuple[Cell, ...]:
    cells: dict[tuple[int, str], Cell] = {}
    previous = plan.batches[0]
    for batch in plan.batches:
        for name in plan.formats:
            format_ = get_format(name)
            measured = cells.get((previous, name))
            has_all = previous >= len(rows)  # one batch had all rows
            if measured is not None and (has_all or not _has_batches(format_, plan.options)):
                cells[batch, name] = replace(measured, batch=batch)
                continue
            messages = _messages(format_, rows, batch, each, plan.options)
            cells[batch, name] = _cell(name, batch, len(rows), map(payload_of, messages), used)
        previous = batch
    return tuple(cells.values())


def _has_batches(format_: Format, given: Mapping[str, OptionValue]) -> bool:
    """Return whether the messages of a format depend on the size of a batch."""
    has_option = any(option.name == _BATCH_OPTION for option in format_.options)
    if has_option or _has_files(format_, given):
        return True
    has_bodies = not get_suite(format_.name).size.has_one_row_per_message
    return format_.comparing.updates_are_two_records and has_bodies


def _messages(
    format_: Format,
    rows: Sequence[RowChange],
    batch: int,
    each: Input,
    given: Mapping[str, OptionValue],
) -> Iterator[Message]:
    """Yield the messages of rows, up to ``batch`` in each; of files each has one table's."""
    context = _context(format_, batch, each, given)
    if not (_has_files(format_, given) or format_.comparing.updates_are_two_records):
        messages = format_.encoder(context)(rows)
        yield from (message for message in messages if is_counted(message, format_))
        return
    topics = topics_of(rows, each.tables) if format_.needs_tables else {}
    encoders: _Encoders = {}
    waiting: dict[object, list[RowChange]] = {}
    for row in rows:
        group = _group(format_, row)
        together = waiting.setdefault(group, [])
        together.append(row)
        if len(together) == batch:
            yield from _encoded(format_, waiting.pop(group), context, topics, encoders)
    for together in waiting.values():
        yield from _encoded(format_, together, context, topics, encoders)


def _group(format_: Format, row: RowChange) -> object:
    """Return what rows of one message have in common: a file's table and partition, a topic."""
    if not format_.comparing.updates_are_two_records:
        return row.table.schema, row.table.name, row.position.partition
    return (row.table.schema, row.table.name) if format_.needs_tables else None


def _encoded(
    format_: Format,
    rows: Sequence[RowChange],
    context: Context,
    topics: Mapping[TableName, Table],
    encoders: _Encoders,
) -> Iterator[Message]:
    """Yield the messages of rows of one group, with the definition of their topic."""
    topic: TableName | None = None
    if format_.comparing.updates_are_two_records and format_.needs_tables:
        topic = rows[0].table.schema, rows[0].table.name
    if topic not in encoders:
        own = context if topic is None else replace(context, tables=(topics[topic],))
        encoders[topic] = format_.encoder(own)
    return encoders[topic](rows)


def _has_files(format_: Format, given: Mapping[str, OptionValue]) -> bool:
    return "queue" not in format_.carriers or given.get("transport") == "storage"


def _cell(
    format_name: str,
    batch: int,
    rows: int,
    messages: Iterable[bytes],
    used: Sequence[Compression],
) -> Cell:
    sizes = [0] * len(used)
    number = 0
    for message in messages:
        number += 1
        for index, compression in enumerate(used):
            sizes[index] += compression.size_of(message)
    by_name = {c.name: size for c, size in zip(used, sizes, strict=True)}
    return Cell(format_name, batch, rows, number, by_name)


def _carried_by_all(
    each: Input, plan: _Plan
) -> tuple[_Plan, tuple[RowChange, ...], tuple[Refused, ...]]:
    """Return the rows that every format carries, so that all are measured on the same ones.

    A format that carries less than half of them is left out of the plan.
    """
    left_out: set[int] = set()
    refused = []
    formats = []
    for name in plan.formats:
        format_ = get_format(name)
        context = _context(format_, 1, each, plan.options)
        found, reason = _refused_rows(each.rows, format_, context)
        if found:
            refused.append(Refused(name, len(found), reason))
        if 2 * len(found) <= len(each.rows):
            formats.append(name)
            left_out |= found
    kept = (row for index, row in enumerate(each.rows) if index not in left_out)
    return replace(plan, formats=tuple(formats)), tuple(kept), tuple(refused)


def _refused_rows(
    rows: Sequence[RowChange], format_: Format, context: Context
) -> tuple[set[int], str]:
    """Return the indexes of the rows that a format can't carry, and why it can't the first.

    All rows of a group are encoded together. A group with an error is split in two.
    """
    problems: dict[int, str] = {}
    topics = topics_of(rows, context.tables) if format_.needs_tables else {}
    encoders: _Encoders = {}

    def try_rows(indexes: Sequence[int]) -> None:
        try:
            for _ in _encoded(format_, [rows[i] for i in indexes], context, topics, encoders):
                pass
        except EncodeError as error:
            half = len(indexes) // 2
            if half:
                try_rows(indexes[:half])
                try_rows(indexes[half:])
            else:
                problems[indexes[0]] = str(error)

    groups: dict[object, list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(_group(format_, row), []).append(index)
    for indexes in groups.values():
        try_rows(indexes)
    return set(problems), problems[min(problems)] if problems else ""


def _context(format_: Format, batch: int, each: Input, given: Mapping[str, OptionValue]) -> Context:
    names = {option.name for option in format_.options}
    options: dict[str, OptionValue] = {
        name: value
        for name, value in {_SIZE_OPTION: MAX_MESSAGE_BYTES, **given}.items()
        if name in names
    }
    if _BATCH_OPTION in names:
        options[_BATCH_OPTION] = 2 * batch if format_.comparing.updates_are_two_records else batch
    return Context(options=options, tables=each.tables)
