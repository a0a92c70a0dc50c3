"""``cdcwire generate``: a seeded change stream, the same changes in every format."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.events import Event
from cdcwire.model.text import table_to_json
from cdcwire_conformance.command.context import UsageError, add_context_arguments, context_from
from cdcwire_conformance.messages_io import write_messages
from cdcwire_generators.workloads import (
    DEFAULT_WORKLOAD,
    WORKLOAD_NAMES,
    workload,
    workload_tables,
)

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
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", choices=FORMAT_NAMES, metavar="FORMAT")
    parser.add_argument("--rows", type=int, required=True, metavar="N", help="row changes")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--to", required=True, metavar="DIR")
    parser.add_argument(
        "--workload",
        choices=WORKLOAD_NAMES,
        default=DEFAULT_WORKLOAD,
        metavar="NAME",
        help=f"one of {', '.join(WORKLOAD_NAMES)} (default: {DEFAULT_WORKLOAD})",
    )
    add_context_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.rows < 0:
        raise UsageError("--rows is a number from 0")
    folder = Path(arguments.to)
    context = context_from(arguments)
    events = _with_progress(
        workload(arguments.workload, arguments.rows, arguments.seed), arguments.rows
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tables = [table_to_json(table) for table in workload_tables(arguments.workload)]
        (folder / "tables.json").write_text(json.dumps(tables, ensure_ascii=False, indent=1))
        messages = get_format(arguments.format).encode(events, context)
        write_messages(str(folder / "messages.jsonl"), messages)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}") from error
    return 0


def _with_progress(events: Iterable[Event], rows: int) -> Iterator[Event]:
    """Pass the events on, and say on a terminal how far they are."""
    shown = sys.stderr.isatty()
    for number, event in enumerate(events, start=1):
        if shown and number % 10_000 == 0:
            print(f"\r{number:,} of {rows:,} rows", end="", file=sys.stderr, flush=True)
        yield event
    if shown and rows >= 10_000:
        print("\r\x1b[K", end="", file=sys.stderr)
