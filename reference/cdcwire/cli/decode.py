"""``cdcwire decode``: messages, or a storage prefix, to events, as JSON lines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

from cdcwire.cli.auto import use_identified
from cdcwire.cli.configuration import add_format_argument, use_configuration
from cdcwire.cli.context import (
    ContextArguments,
    RecordedClaimChecks,
    SeenNames,
    UsageError,
    context_from,
    warn_of_unread,
)
from cdcwire.clock_changes import ClockNotes
from cdcwire.console.visible import print_error
from cdcwire.core.context import EVERYTHING, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message, StoredFile
from cdcwire.ddl.schemas import lack_schemas, names_of, schema_notes, with_schemas
from cdcwire.files.messages_io import STANDARD_STREAM, read_messages
from cdcwire.files.prefix import is_prefix, list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import open_store
from cdcwire.format import Format
from cdcwire.identify.auto import AUTO
from cdcwire.model.events import Event, TableName
from cdcwire.model.steps import IncompleteUpdateError, join_halves
from cdcwire.model.text import event_to_json
from cdcwire.registry import get_format
from cdcwire.storage import SkipReason

NAME = "decode"
HELP = "print the events of messages as JSON lines"
DESCRIPTION = """\
Print the events of messages, one JSON object per line, in the text form of docs/testee-protocol.md.

FILE is a value's bytes, a file of messages as JSON lines, a folder of *.jsonl or *.ndjson files, or
- for standard input. A message that breaks its format ends the run with exit code 1 and one line
that names message, byte, path and clause. With --keep-going the other messages are still decoded.

For csv and canal-json FILE may be a storage prefix too: a directory without *.jsonl, or a URL
(memory://, s3://…; needs the extra "storage"). Its files are read in the order of replay, up to the
checkpoint. Repeated rows are dropped, as far as their commit-ts shows, and counted. A fault is
reported in one line on standard error, and the exit code is 1. The rows after a fault in the same
table are held back.

With auto as FORMAT the format and the options that the messages of the first FILE show are used.
They are printed in one line on standard error.
"""
EXAMPLES = """\
examples:
  cdcwire decode canal-json message.bin
  echo 010103010101020a09010005 | cdcwire decode craft --hex -
  cdcwire decode auto feed/
  cdcwire decode auto feed/ --sink-uri 'kafka://broker:9092/topic?protocol=open-protocol'
  cdcwire decode open-protocol feed/ --include shop.orders --columns id,total
  cdcwire decode csv s3://bucket/prefix --option include-commit-ts=true
  cdcwire decode datahub-blob feed/ --join-halves | cdcwire encode debezium-json -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire decode``."""
    add_format_argument(parser, identifies=True)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="the bytes of one value, messages as JSON lines, or a directory of a feed",
    )
    parser.add_argument("--hex", action="store_true", help="the files hold hexadecimal digits")
    parser.add_argument("--key", metavar="FILE", help="the Kafka key of a file of bytes")
    parser.add_argument(
        "--keep-going", action="store_true", help="report a broken message and go on"
    )
    parser.add_argument(
        "--join-halves",
        action="store_true",
        help="print an update that was sent as two records as one event; a single record is "
        "an error",
    )
    add_write_order(parser)
    ContextArguments.add_to(parser)


def add_write_order(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--write-order``."""
    parser.add_argument(
        "--write-order",
        choices=("data-first", "index-first"),
        default="data-first",
        help="for a storage prefix: its producer writes an index after the file that it "
        "names (ticdc; the default) or before it (tiflow)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Decode the files and print their events. Returns 1 if a fault was reported, else 0."""
    use_configuration(arguments, NAME)
    context = context_from(arguments, None)
    if arguments.format == AUTO:
        context = use_identified(arguments, NAME, arguments.files[0], context)
    format_ = get_format(arguments.format)
    faults = _Faults()
    claim_checks = RecordedClaimChecks(context.blobs)
    context = replace(context, blobs=claim_checks)
    names = SeenNames(context.selection)
    clocks = ClockNotes()
    events = clocks.of(names.of(_events(arguments, format_, context, faults, claim_checks)))
    try:
        _print(join_halves(events) if arguments.join_halves else events)
    except IncompleteUpdateError as error:
        faults.report(f"{error} ({format_.name}: updates)")
    unseen = () if faults.count else names.unseen(lambda: _met(arguments, format_, context))
    for line in (*clocks.lines(), *unseen):
        print_error(f"cdcwire decode: note: {line}")
    return 1 if faults.count else 0


class _Faults:
    """Prints faults on standard error, after the events before them, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def report(self, fault: object) -> None:
        self.count += 1
        sys.stdout.flush()
        print_error(f"cdcwire decode: {fault}")


def _events(
    arguments: argparse.Namespace,
    format_: Format,
    context: Context,
    faults: _Faults,
    claim_checks: RecordedClaimChecks,
) -> Iterator[Event]:
    """Yield the events of all files, up to the first fault unless asked to go on."""
    for file in arguments.files:
        if is_prefix(format_.name, file):
            if arguments.hex or arguments.key is not None:
                raise UsageError(f"{file}: a storage prefix has neither --hex nor --key")
            yield from _events_of_prefix(file, format_, context, arguments, faults)
            continue
        warn_of_unread(NAME, file)
        messages: Iterable[tuple[str, Message]] = read_messages(
            file, hex=arguments.hex, key=arguments.key, carriers=format_.carriers
        )
        if file == STANDARD_STREAM:  # it cannot be read twice
            messages = list(messages)
            known = _defined(format_, context, messages)
            known = format_.prepared((message for _, message in messages), known)
        else:
            read = partial(read_messages, file, hex=arguments.hex, key=arguments.key)
            known = context
            if lack_schemas(context.tables):
                known = _defined(format_, context, read(carriers=format_.carriers))
            known = _prepared(file, format_, known, arguments)
        for where, message in messages:
            if isinstance(message, StoredFile) and not _takes_files(format_):
                raise UsageError(f"{where}: {message.path} is a file; {format_.name} has no files")
            try:
                yield from format_.to_events(message, context=known)
                for problem in claim_checks.problems():
                    faults.report(f"{where}: {problem}")
                for warning in format_.warnings(message, known):
                    print_error(f"cdcwire decode: {where}: warning: {warning}")
            except DecodeError as error:
                faults.report(f"{where}: {error}")
                if not arguments.keep_going:
                    return


def _met(arguments: argparse.Namespace, format_: Format, context: Context) -> set[TableName]:
    """Return the tables that the files have rows of, wanted or not."""
    found: set[TableName] = set()
    context = replace(context, selection=EVERYTHING)
    for file in arguments.files:
        if is_prefix(format_.name, file):
            prefix = list_prefix(open_store(file), format_, context, write_order=None)
            found |= {(each.parsed.schema, each.parsed.table) for each in prefix.files}
        elif file != STANDARD_STREAM:  # it cannot be read twice
            known = _prepared(file, format_, context, arguments)
            messages = read_messages(
                file, hex=arguments.hex, key=arguments.key, carriers=format_.carriers
            )
            found |= names_of(format_, known, (message for _, message in messages))
    return found


def _defined(format_: Format, context: Context, messages: Iterable[tuple[str, Message]]) -> Context:
    """Return the context with the schemas that definitions take from the messages; print them."""
    if not lack_schemas(context.tables):
        return context
    names = names_of(format_, context, (message for _, message in messages))
    return _with_names(context, names)


def _with_names(context: Context, names: Collection[TableName]) -> Context:
    for line in schema_notes(context.tables, names):
        print_error(f"cdcwire decode: note: {line}")
    return replace(context, tables=with_schemas(context.tables, names))


def _takes_files(format_: Format) -> bool:
    may_have_files = format_.has_claim_checks or format_.schemas is not None
    return "storage" in format_.carriers or may_have_files


def _print(events: Iterable[Event]) -> None:
    for event in events:
        print(json.dumps(event_to_json(event), ensure_ascii=False))


def _prepared(
    file: str, format_: Format, context: Context, arguments: argparse.Namespace
) -> Context:
    """Return the context with the schema files and claim-check files among the messages."""
    if not _takes_files(format_) or arguments.hex:
        return context
    messages = read_messages(file, carriers=format_.carriers)
    return format_.prepared((message for _, message in messages), context)


def _events_of_prefix(
    source: str,
    format_: Format,
    context: Context,
    arguments: argparse.Namespace,
    faults: _Faults,
) -> Iterator[Event]:
    store = open_store(source)
    prefix = list_prefix(store, format_, context, write_order=arguments.write_order)
    if lack_schemas(context.tables):
        names = {(file.parsed.schema, file.parsed.table) for file in prefix.files}
        context = _with_names(context, names)
        prefix = list_prefix(store, format_, context, write_order=arguments.write_order)
    gate = prefix.gate.rows()
    yield from read_events(store, prefix, context, faults.report, gate)
    sys.stdout.flush()
    for index in prefix.stale:
        note = f"{index.problem}; all files are read"
        print_error(f"cdcwire decode: {source}: {index.path}: {note}")
    for skip in prefix.skips:
        if skip.reason is SkipReason.STRAY:
            print_error(f"cdcwire decode: {source}: skipped: stray file {skip.path}")
    for number, what in ((gate.repeats, "came before"), (gate.beyond, "not below the checkpoint")):
        if number:
            print_error(f"cdcwire decode: {source}: left out: {number:,} rows, {what}")
