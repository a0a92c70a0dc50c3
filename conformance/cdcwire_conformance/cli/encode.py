"""``cdcwire encode``: events to messages."""

from __future__ import annotations

import argparse
import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path

from cdcwire.cli.configuration import add_format_argument, need_format
from cdcwire.cli.context import UsageError, WholeContextArguments, context_from
from cdcwire.clock_changes import ClockNotes
from cdcwire.console.problems import json_problem
from cdcwire.console.visible import print_error
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.files.line_files import lines_in
from cdcwire.files.messages_io import message_to_json
from cdcwire.model.events import Event, Table
from cdcwire.model.text import TextFormError, event_from_json
from cdcwire.registry import get_format

NAME = "encode"
HELP = "write events (JSON lines) as messages"
DESCRIPTION = """\
Read events, one JSON object per line as `cdcwire decode` prints them, and print the messages that
the format's producer would send. Each message is one JSON object per line with key and value in
base64. With --raw print the bytes of the only message's value.

Types, sources and roles come from --tables; without it they come from the events themselves.
"""
EXAMPLES = """\
examples:
  cdcwire encode canal-json events.jsonl --tables tables.json > messages.jsonl
  cdcwire decode open-protocol in.jsonl | cdcwire encode canal-json - --tables tables.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire encode``."""
    add_format_argument(parser)
    parser.add_argument("events", metavar="EVENTS", help="a file of JSON lines, or -")
    parser.add_argument("--raw", action="store_true", help="print the bytes of the one value")
    parser.add_argument("--hex", action="store_true", help="print each value in hexadecimal")
    WholeContextArguments.add_to(parser)


def run(arguments: argparse.Namespace) -> int:
    """Encode the events and print the messages. Returns 1 if an event cannot be encoded, else 0."""
    need_format(arguments, NAME)
    format_ = get_format(arguments.format)
    context = context_from(arguments)
    clocks = ClockNotes()
    events = clocks.of(read_events(arguments.events, context.tables))
    try:
        messages = format_.encoder(context)(events)
        if arguments.raw:
            _print_raw(list(messages), is_hex=arguments.hex)
        else:
            _print(messages, is_hex=arguments.hex)
    except EncodeError as error:
        sys.stdout.flush()
        print_error(f"cdcwire encode: {error}")
        return 1
    for line in clocks.lines():
        print_error(f"cdcwire encode: note: {line}")
    return 0


def read_events(file: str, tables: tuple[Table, ...]) -> Iterator[Event]:
    """Yield the events of a file of JSON lines. Raises: UsageError that names file and line."""
    try:
        stream = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    with stream:
        try:
            for number, line in enumerate(lines_in(stream, file), start=1):
                where = f"{file}: line {number}"
                text = _text(line.removeprefix(BOM_UTF8) if number == 1 else line, where)
                if text.strip():
                    yield _event(text, tables, where)
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}") from error


def _text(line: bytes, where: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}: not UTF-8 at byte {error.start}") from error


def _event(line: str, tables: tuple[Table, ...], where: str) -> Event:
    try:
        return event_from_json(json.loads(line), tables)
    except TextFormError as error:
        raise UsageError(f"{where}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: {json_problem(error)}") from error


def _print(messages: Iterable[Message], *, is_hex: bool) -> None:
    for message in messages:
        if is_hex and isinstance(message, KafkaMessage):
            print((message.value or b"").hex())
        else:
            print(json.dumps(message_to_json(message)))


def _print_raw(messages: list[object], *, is_hex: bool) -> None:
    only = messages[0] if len(messages) == 1 else None
    if not isinstance(only, KafkaMessage) or only.value is None:
        raise UsageError(f"--raw prints one value; these events are {len(messages)} messages")
    if is_hex:
        print(only.value.hex())
    else:
        sys.stdout.buffer.write(only.value)
