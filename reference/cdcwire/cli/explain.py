"""``cdcwire explain``: the annotated hexdump of bytes."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cdcwire.cli.auto import use_identified
from cdcwire.cli.configuration import add_format_argument, use_configuration
from cdcwire.cli.context import UsageError, WholeContextArguments, context_from, warn_of_unread
from cdcwire.clock_changes import ClockNotes
from cdcwire.console.hexdump import hexdump_lines
from cdcwire.console.problems import integer_argument
from cdcwire.console.visible import visible
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import parse_options
from cdcwire.ddl.schemas import lack_schemas, names_of, with_schemas
from cdcwire.files.messages_io import InputError, read_messages
from cdcwire.files.stores import LocalStore
from cdcwire.format import Format
from cdcwire.identify.auto import AUTO
from cdcwire.registry import get_format

NAME = "explain"
HELP = "print bytes with their field, value and clause"
DESCRIPTION = """\
Print the annotated hexdump of a message: offset (decimal), bytes, field, value, clause. Bytes that
break the format have a > and the error on the line below; the fields before them are shown.

FILE is a value's bytes, a file of messages as JSON lines, a folder of *.jsonl files, or - for
standard input. Exit code 0: `decode` reads the message; 1: it does not, because of the bytes, the
claim-check file or a missing definition.
With auto as FORMAT the format and the options that the messages show are used.
"""
EXAMPLES = """\
examples:
  cdcwire explain canal-json message.bin
  cdcwire explain auto message.bin
  echo 010103010101020a09010005 | cdcwire explain craft --hex -
  cdcwire explain open-protocol value.bin --key key.bin
  cdcwire explain open-protocol feed.jsonl --message 3
  cdcwire explain csv data.csv --ddl shop.sql
  cdcwire explain csv s/t/5/2023-05-09/CDC000001.csv --prefix .     with the schema files of DIR
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire explain``."""
    add_format_argument(parser, identifies=True)
    parser.add_argument(
        "file", metavar="FILE", help="the bytes of one value, or messages as JSON lines"
    )
    parser.add_argument("--hex", action="store_true", help="the file holds hexadecimal digits")
    parser.add_argument("--key", metavar="FILE", help="the Kafka key of a file of bytes")
    parser.add_argument(
        "--message",
        type=integer_argument,
        metavar="N",
        help="only this message of the file, counted from 0",
    )
    parser.add_argument(
        "--prefix",
        metavar="DIR",
        help="the storage prefix that the file is in: its path counts, and its schema files",
    )
    WholeContextArguments.add_to(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print an annotated hexdump of each message. Returns 1 if a message is broken, else 0."""
    use_configuration(arguments, NAME)
    context = context_from(arguments, None)
    if arguments.format == AUTO:
        context = use_identified(arguments, NAME, arguments.file, context)
    format_ = get_format(arguments.format)
    try:
        parse_options(format_.options, context.options)
    except ValueError as error:
        raise UsageError(str(error)) from error
    broken = 0
    warn_of_unread(NAME, arguments.file)
    clocks = ClockNotes()
    messages = _messages(arguments, format_)
    if lack_schemas(context.tables):
        names = names_of(format_, context, (message for _, message in messages))
        context = replace(context, tables=with_schemas(context.tables, names))
    if arguments.prefix is not None:
        messages = [(where, _placed(message, arguments)) for where, message in messages]
        context = format_.prepared(_schema_files(messages, Path(arguments.prefix)), context)
    context = format_.prepared((message for _, message in messages), context)
    for number, (where, message) in enumerate(messages):
        explanation = format_.explain(message, context=context)
        if arguments.message is None and where != arguments.file:
            print("" if number == 0 else "\n", visible(f"message {number} ({where})"), sep="")
        for line in hexdump_lines(explanation, message):
            print(visible(line))
        for warning in explanation.warnings:
            print(visible(f"warning: {warning}"))
        broken += explanation.error is not None
        if explanation.error is None:
            deque(clocks.of(format_.to_events(message, context=context)), maxlen=0)
    for line in clocks.lines():
        print(visible(f"note: {line}"))
    return 1 if broken else 0


def _placed(message: Message, arguments: argparse.Namespace) -> Message:
    """Return a file with its path below the prefix."""
    if not isinstance(message, StoredFile) or message.path != Path(arguments.file).name:
        raise UsageError(f"--prefix: {arguments.file} is not one file of a storage prefix")
    try:
        inside = Path(arguments.file).resolve().relative_to(Path(arguments.prefix).resolve())
    except ValueError as error:
        problem = f"{arguments.file} is not in it"
        raise UsageError(f"--prefix {arguments.prefix}: {problem}") from error
    return StoredFile(inside.as_posix(), message.value)


def _schema_files(messages: list[tuple[str, Message]], prefix: Path) -> Iterator[StoredFile]:
    """Yield the schema files of the tables that the files are of. Raises: StoreError."""
    store = LocalStore(prefix)
    for _, message in messages:
        assert isinstance(message, StoredFile)
        folder = "/".join([*message.path.split("/")[:2], "meta"])
        paths = (each.path for each in store.list(folder, recursive=False))
        for path in sorted(path for path in paths if path.endswith(".json")):
            yield StoredFile(path, store.read(path))


def _messages(arguments: argparse.Namespace, format_: Format) -> list[tuple[str, Message]]:
    wanted = arguments.message
    count = 0
    found = []
    try:
        read = read_messages(
            arguments.file, hex=arguments.hex, key=arguments.key, carriers=format_.carriers
        )
        for where, message in read:
            if wanted is None or count == wanted:
                found.append((where, message))
            count += 1
    except InputError as error:
        raise UsageError(str(error)) from error
    if wanted is not None and not found:
        raise UsageError(f"--message {wanted}: {arguments.file} has {count}, counted from 0")
    return found
