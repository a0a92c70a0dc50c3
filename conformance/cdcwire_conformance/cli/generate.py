"""``cdcwire generate``: a seeded change stream, the same changes in every format."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from cdcwire.cli.configuration import add_format_argument, need_format
from cdcwire.cli.context import (
    DEFAULT_SCHEMA,
    CodecArguments,
    UsageError,
    context_from,
)
from cdcwire.console.problems import integer_argument, jobs_argument, positive_argument
from cdcwire.console.visible import visible, without_secrets
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import parse_options
from cdcwire.ddl import read_ddl_file, sent_columns
from cdcwire.files.feed_file import (
    FEED_FILE,
    PREFIX_FEED_FILE,
    TABLES_FILE,
    read_feed_file,
    write_feed_file,
)
from cdcwire.files.local_files import file_inside, whole_folder, write_whole
from cdcwire.files.messages_io import InputError, write_messages
from cdcwire.files.stores import StoreError, directory_of, is_url, open_store
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.text import table_to_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli.generate_parts import Parts, encode_parts, write_parts
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.sources import topics
from cdcwire_conformance.sources.storage.writing import (
    PrefixWriter,
    WriterSettings,
    restart_points,
    write_prefix,
)
from cdcwire_generators.formats import get_generators
from cdcwire_generators.workloads import (
    DEFAULT_WORKLOAD,
    EVOLVING_WORKLOAD,
    WORKLOAD_NAMES,
    Mix,
    evolving_tables,
    evolving_workload,
    workload,
    workload_tables,
)
from cdcwire_generators.workloads.stream import stream

NAME = "generate"
HELP = "write a seeded change stream in a format"
DESCRIPTION = """\
Write a change stream to DIR/messages.jsonl. DIR/tables.json gets its table definitions, and
DIR/feed.json its format and options, so that compare needs none. One seed gives the same changes in
every format and on every Python.

csv, and canal-json with --option transport=storage, give a storage prefix instead, in a directory
or at a URL (s3://…; needs the extra "storage"). The prefix must be empty. It gets schema files,
data files, indexes and the checkpoint, as their producer writes them. In a local directory,
.feed.json gets the format and the options; other readers ignore it. The producer's clock follows
the stream, so one seed always gives the same files. The workload "storage" is made for that: three
tables over four days, one in partitions, one that gets a column, one that gets another name.

datahub-tuple has one table per topic. With more tables in a workload, each gets a separate file,
orders.jsonl, unless the option table chooses one. With --shards it is orders.0.jsonl and so on, and
for datahub-blob, which has one topic for all, messages.0.jsonl.
"""
EXAMPLES = """\
examples:
  cdcwire generate canal-json --rows 200000 --seed 7 --to feed-canal
  cdcwire generate open-protocol --rows 200000 --seed 7 --to feed-open --option max-batch-size=256
  cdcwire generate simple --rows 5000 --ddl shop.sql --to feed     changes of your own tables
  cdcwire generate csv --workload storage --rows 10000 --to prefix --option include-commit-ts=true
  cdcwire generate canal-json --workload storage --rows 10000 --to prefix-canal --restarts 3 \\
      --option transport=storage --option enable-tidb-extension=true
  cdcwire generate auto --rows 5000 --to feed --changefeed changefeed.toml
  cdcwire generate datahub-tuple --rows 1000 --to topic --option encoding=batch
  cdcwire generate datahub-tuple --rows 100000 --ddl shop.sql --to topics --shards 4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire generate``."""
    add_format_argument(parser)
    parser.add_argument(
        "--rows", type=positive_argument, required=True, metavar="N", help="number of row changes"
    )
    parser.add_argument(
        "--seed", type=integer_argument, default=1, metavar="S", help="seed (default: 1)"
    )
    parser.add_argument(
        "--to", required=True, metavar="DIR", help="output directory, or the URL of a prefix"
    )
    tables = parser.add_mutually_exclusive_group()
    tables.add_argument(
        "--workload",
        choices=(*WORKLOAD_NAMES, EVOLVING_WORKLOAD),
        default=DEFAULT_WORKLOAD,
        metavar="NAME",
        help=f"one of {', '.join(WORKLOAD_NAMES)}, {EVOLVING_WORKLOAD} "
        f"(default: {DEFAULT_WORKLOAD})",
    )
    tables.add_argument(
        "--ddl",
        metavar="FILE",
        help="the tables of these CREATE TABLE statements, mixed, instead of a workload",
    )
    parser.add_argument(
        "--shards",
        type=integer_argument,
        metavar="N",
        help="for DataHub: split each topic into N shards, by the keys of its rows",
    )
    parser.add_argument(
        "--jobs",
        type=jobs_argument,
        default=1,
        metavar="N",
        help="encode on N processes; a message then ends every 16,384 changes (default: 1)",
    )
    prefix = parser.add_argument_group("storage prefixes")
    prefix.add_argument(
        "--restarts",
        type=integer_argument,
        metavar="N",
        help="stop and restart the writer N times, which repeats rows (default: 0)",
    )
    prefix.add_argument(
        "--write-order",
        choices=("data-first", "index-first"),
        help="put an index after its file (ticdc; the default) or before it (tiflow)",
    )
    prefix.add_argument(
        "--transaction-atomicity",
        choices=("none", "table"),
        help="table: rows of one transaction and table stay in one file (default: none)",
    )
    CodecArguments.add_to(parser)


def run(arguments: argparse.Namespace) -> int:
    """Generate a feed and write it to a directory or prefix. Returns 0. Raises: UsageError."""
    need_format(arguments, NAME)
    context = context_from(arguments)
    is_prefix = _is_stored(arguments.format, context)
    tables, made = _changes(arguments, context, is_prefix)
    tables, made = _of_topic(arguments.format, context, tables, made)
    events = _with_progress(made, arguments.rows)
    if is_prefix:
        _need_one_job(arguments, "a storage prefix")
        _write_prefix(arguments, context, tables, events)
        _note_written(arguments)
        return 0
    for name in ("restarts", "write_order", "transaction_atomicity"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} applies to storage prefixes only")
    format_ = get_format(arguments.format)
    if arguments.shards is not None and (arguments.shards < 1 or format_.shard_text is None):
        known = sorted(name for name in FORMAT_NAMES if get_format(name).shard_text is not None)
        raise UsageError(f"--shards is a number from 1, of {' and '.join(known)}")
    if is_url(arguments.to):
        raise UsageError(
            f"--to {arguments.to}: only storage prefixes go to a URL; name a directory"
        )
    if not arguments.to:
        raise UsageError("--to: the name of the directory is empty")
    folder = Path(arguments.to)
    context = replace(context, tables=(*context.tables, *tables))
    try:
        for each in (*folder.glob("*.json*"), *folder.glob(".*")):
            file_inside(folder, each.name)  # a link that is there leads nowhere else
        _refuse_other_feed(folder, arguments.format)
        with _new_folder(folder) as new:
            _write_feed(arguments, new, context, tables, events)
    except topics.TopicNameError as error:
        raise UsageError(str(error)) from error
    except EncodeError as error:
        rows = (
            "the tables of --ddl have" if arguments.ddl else f"--workload {arguments.workload} has"
        )
        raise UsageError(f"{rows} rows that {arguments.format} does not carry: {error}") from error
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}") from error
    _note_written(arguments)
    return 0


def _note_written(arguments: argparse.Namespace) -> None:
    changes = "1 row change" if arguments.rows == 1 else f"{arguments.rows:,} row changes"
    text = f"wrote {changes} as {arguments.format} to {arguments.to}"
    print(visible(f"cdcwire {NAME}: {without_secrets(text)}"), file=sys.stderr)


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Open a new directory for a feed, which is at its place when it is whole."""
    with whole_folder(folder) as new:
        try:
            yield new
        except (InputError, StoreError) as error:
            raise UsageError(str(error).replace(str(new), str(folder))) from error


def _write_feed(
    arguments: argparse.Namespace,
    folder: Path,
    context: Context,
    tables: tuple[Table, ...],
    events: Iterator[Event],
) -> None:
    """Write the files of a feed of messages. ``context``: knows the tables. Raises: OSError."""
    format_ = get_format(arguments.format)
    text = json.dumps(list(map(table_to_json, tables)), ensure_ascii=False, indent=1)
    write_whole(folder / TABLES_FILE, text.encode())
    write_feed_file(folder, arguments.format, context)
    if arguments.shards is not None or (format_.topic_tables is not None and len(tables) > 1):
        _need_one_job(arguments, "a feed of several topics or shards")
        topics.write_topics(folder, arguments.format, events, context, tables, arguments.shards)
    elif arguments.jobs > 1:
        if format_.schemas is not None:
            _need_one_job(arguments, "a feed with numbered schemas")
        write = partial(_write_share, arguments)
        write_parts(folder / "messages.jsonl", arguments.rows, arguments.jobs, write)
    else:
        messages = format_.encoder(context)(events)
        write_messages(str(folder / "messages.jsonl"), messages)


def _refuse_other_feed(folder: Path, format_name: str) -> None:
    """Refuse a directory that has messages, but not those of an earlier feed of this format."""
    if (folder / FEED_FILE).is_file():
        found = read_feed_file(str(folder))
        if found is not None and found.format != format_name:
            raise UsageError(f"--to {folder}: has a feed of {found.format}; name a new directory")
    elif any(folder.glob("*.jsonl")):
        raise UsageError(f"--to {folder}: has messages of another program; name a new directory")


def _need_one_job(arguments: argparse.Namespace, what: str) -> None:
    if arguments.jobs > 1:
        raise UsageError(f"--jobs: {what} is written by one process")


def _write_share(arguments: argparse.Namespace, share: Parts) -> None:
    """Write some parts of a feed, in a process that has the arguments and nothing else."""
    context = context_from(arguments)
    tables, made = _changes(arguments, context, is_prefix=False)
    tables, events = _of_topic(arguments.format, context, tables, made)
    format_ = get_format(arguments.format)
    encode = format_.encoder(replace(context, tables=(*context.tables, *tables)))
    encode_parts(share, events, format_, encode)


def _is_stored(format_name: str, context: Context) -> bool:
    """Return whether a format's messages are files of a prefix."""
    format_ = get_format(format_name)
    if format_.stored is None or format_.stored.option is None:
        return format_.stored is not None
    name, value = format_.stored.option
    return parse_options(format_.options, context.options)[name] == value


def _write_prefix(
    arguments: argparse.Namespace,
    context: Context,
    tables: tuple[Table, ...],
    events: Iterator[Event],
) -> None:
    restarts = arguments.restarts or 0
    if restarts < 0:
        raise UsageError("--restarts is a number from 0")
    store = open_store(arguments.to)
    if Path(arguments.to).exists() or is_url(arguments.to):
        try:
            found = next(iter(store.list()), None)
        except StoreError:  # there is nothing
            found = None
        if found is not None:
            raise UsageError(f"{arguments.to}: is not empty: it contains {found.path}")
    # Tables with schema changes need no definition, and one would not fit every version.
    is_evolving = arguments.ddl is None and arguments.workload == EVOLVING_WORKLOAD
    context = context if is_evolving else replace(context, tables=(*context.tables, *tables))
    settings = WriterSettings(
        arguments.write_order or "data-first", arguments.transaction_atomicity or "none"
    )
    folder = directory_of(arguments.to)
    points = restart_points(arguments.rows, restarts)
    if folder is None:
        write_prefix(PrefixWriter(store, arguments.format, context, settings), events, points)
        return
    try:
        with _new_folder(Path(folder)) as new:
            write_feed_file(new, arguments.format, context, PREFIX_FEED_FILE)
            writer = PrefixWriter(open_store(str(new)), arguments.format, context, settings)
            write_prefix(writer, events, points)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}") from error


def _changes(
    arguments: argparse.Namespace, context: Context, is_prefix: bool
) -> tuple[tuple[Table, ...], Iterator[Event]]:
    """Return the tables and their changes. Virtual columns are in the tables only."""
    tables, events = _workload_changes(arguments, context, is_prefix)
    adapted = get_generators(arguments.format).feed.source_event
    return tables, (adapted(event, context.options) for event in events)


def _workload_changes(
    arguments: argparse.Namespace, context: Context, is_prefix: bool
) -> tuple[tuple[Table, ...], Iterator[Event]]:
    rows, seed, name = arguments.rows, arguments.seed, arguments.workload
    feed = get_generators(arguments.format).feed
    needed = ("commit_ts", *feed.of_source(feed, context.options).position_fields)
    fields = tuple(dict.fromkeys(needed))
    if arguments.ddl is None:
        if name == EVOLVING_WORKLOAD:
            changes = evolving_workload(rows, seed, ddl=is_prefix, position_fields=fields)
            return evolving_tables(), changes
        return workload_tables(name), workload(name, rows, seed, position_fields=fields)
    tables = read_ddl_file(arguments.ddl, DEFAULT_SCHEMA)
    try:
        sent = tuple(map(sent_columns, tables))
        return tables, stream(sent, rows, seed, Mix(), position_fields=fields)
    except ValueError as error:
        raise UsageError(f"{arguments.ddl}: {error}") from error


def _of_topic(
    format_name: str, context: Context, tables: tuple[Table, ...], events: Iterator[Event]
) -> tuple[tuple[Table, ...], Iterator[Event]]:
    """Return what goes into topics: all, or the rows of the table that an option chooses."""
    topic_tables = get_format(format_name).topic_tables
    if topic_tables is None:
        return tables, events
    sent = topic_tables(replace(context, tables=tuple(map(sent_columns, tables))))
    names = {(table.schema, table.name) for table in sent}
    rows = (each for each in events if isinstance(each, RowChange))
    return sent, (row for row in rows if (row.table.schema, row.table.name) in names)


def _with_progress(events: Iterable[Event], rows: int) -> Iterator[Event]:
    """Pass the events on, and say on a terminal how far they are."""
    with ProgressLine() as line:
        for number, event in enumerate(events, start=1):
            if number % 10_000 == 0:
                line.show(f"{number:,} of {rows:,} rows")
            yield event
