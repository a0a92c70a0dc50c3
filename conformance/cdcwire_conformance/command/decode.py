"""``cdcwire decode``: messages to events, as JSON lines."""

from __future__ import annotations

import argparse
import json
import sys

from cdcwire.errors import DecodeError
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.text import event_to_json
from cdcwire_conformance.command.context import add_context_arguments, context_from
from cdcwire_conformance.messages_io import read_messages

NAME = "decode"
HELP = "print the events of messages as JSON lines"
DESCRIPTION = """\
Print the events of messages, one JSON object a line, in the text form of docs/testee-protocol.md.

FILE is a value's bytes, a *.jsonl file of messages, a folder of such files, or - for standard
input. A message that breaks its format ends the run with exit code 1 and one line that names
message, byte, path and clause; with --keep-going the other messages are still decoded.
"""
EXAMPLES = """\
examples:
  cdcwire decode craft message.bin
  echo 010103010101020a09010005 | cdcwire decode craft --hex -
  cdcwire decode open-protocol feed/ --include shop.orders --columns id,total
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", choices=FORMAT_NAMES, metavar="FORMAT")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--hex", action="store_true", help="the files hold hexadecimal digits")
    parser.add_argument("--key", metavar="FILE", help="the Kafka key of a file of bytes")
    parser.add_argument(
        "--keep-going", action="store_true", help="report a broken message and go on"
    )
    add_context_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    format_ = get_format(arguments.format)
    context = context_from(arguments)
    broken = 0
    for file in arguments.files:
        for where, message in read_messages(file, hex=arguments.hex, key=arguments.key):
            try:
                for event in format_.decode(message, context):
                    print(json.dumps(event_to_json(event), ensure_ascii=False))
                for warning in format_.warnings(message):
                    print(f"cdcwire decode: {where}: warning: {warning}", file=sys.stderr)
            except DecodeError as error:
                sys.stdout.flush()
                print(f"cdcwire decode: {where}: {error}", file=sys.stderr)
                broken += 1
                if not arguments.keep_going:
                    return 1
    return 1 if broken else 0
