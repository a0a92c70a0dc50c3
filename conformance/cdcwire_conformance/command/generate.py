"""``cdcwire generate``: a seeded change stream, the same changes in every format."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.events import Event, Table
from cdcwire.model.text import table_to_json
from cdcwire_conformance.command.context import (
    DEFAULT_SCHEMA,
    UsageError,
    add_context_arguments,
    context_from,
)
from cdcwire_conformance.ddl import read_ddl_file, sent_columns
from cdcwire_conformance.messages_io import write_messages
from cdcwire_generators.workloads import (
    DEFAULT_WORKLOAD,
    WORKLOAD_NAMES,
    Mix,
    workload,
    workload_tables,
)
from cdcwire_generators.workloads.stream import stream

NAME = "generate"
HELP = "write a seeded change stream in a format"
DESCRIPTION = """\
Write a change stream to DIR/messages.jsonl (and DIR/tables.json, its table definitions). One seed
gives the same changes in every format and on every Python.
"""
EXAMPLES = """\
examples:
  cdcwire generate craft --rows 200000 --seed 7 --to feed-craft
  cdcwire generate open-protocol --rows 200000 --seed 7 --to feed-open --option max-batch-size=256
  cdcwire generate craft --rows 5000 --ddl shop.sql --to feed     changes of your own tables
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", choices=FORMAT_NAMES, metavar="FORMAT")
    parser.add_argument("--rows", type=int, required=True, metavar="N", help="row changes")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--to", required=True, metavar="DIR")
    tables = parser.add_mutually_exclusive_group()
    tables.add_argument(
        "--workload",
        choices=WORKLOAD_NAMES,
        default=DEFAULT_WORKLOAD,
        metavar="NAME",
        help=f"one of {', '.join(WORKLOAD_NAMES)} (default: {DEFAULT_WORKLOAD})",
    )
    tables.add_argument(
        "--ddl",
        metavar="FILE",
        help="the tables of these CREATE TABLE statements, mixed, in place of a workload",
    )
    add_context_arguments(parser, has_ddl=False)


def run(arguments: argparse.Namespace) -> int:
    if arguments.rows < 0:
        raise UsageError("--rows is a number from 0")
    folder = Path(arguments.to)
    context = context_from(arguments)
    tables, made = _changes(arguments)
    context = replace(context, tables=(*context.tables, *tables))
    events = _with_progress(made, arguments.rows)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(list(map(table_to_json, tables)), ensure_ascii=False, indent=1)
        (folder / "tables.json").write_text(text, encoding="utf-8")
        messages = get_format(arguments.format).encode(events, context)
        write_messages(str(folder / "messages.jsonl"), messages)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}") from error
    return 0


def _changes(arguments: argparse.Namespace) -> tuple[tuple[Table, ...], Iterator[Event]]:
    """Return the tables and their changes. Virtual columns are in the tables only."""
    rows, seed = arguments.rows, arguments.seed
    if arguments.ddl is None:
        return workload_tables(arguments.workload), workload(arguments.workload, rows, seed)
    tables = read_ddl_file(arguments.ddl, DEFAULT_SCHEMA)
    try:
        return tables, stream(tuple(map(sent_columns, tables)), rows, seed, Mix())
    except ValueError as error:
        raise UsageError(f"{arguments.ddl}: {error}") from error


def _with_progress(events: Iterable[Event], rows: int) -> Iterator[Event]:
    """Pass the events on, and say on a terminal how far they are."""
    shown = sys.stderr.isatty()
    for number, event in enumerate(events, start=1):
        if shown and number % 10_000 == 0:
            print(f"\r{number:,} of {rows:,} rows", end="", file=sys.stderr, flush=True)
        yield event
    if shown and rows >= 10_000:
        print("\r\x1b[K", end="", file=sys.stderr)
