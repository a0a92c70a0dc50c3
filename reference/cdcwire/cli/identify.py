"""``cdcwire identify``: the format and the settings of messages of unknown origin."""

from __future__ import annotations

import argparse

from cdcwire.cli.context import UsageError, WholeContextArguments, context_from, warn_of_unread
from cdcwire.identify.report import identify_place, json_text, text
from cdcwire.identify.sampling import DEFAULT_MESSAGES

NAME = "identify"
HELP = "find the format and the settings of messages"
DESCRIPTION = """\
Find out which format messages have, with which settings, how sure that is, and why.

SOURCE is a file with the bytes of one value, a *.jsonl file of messages or of values, or - for
standard input. It may be a directory of *.jsonl, of Parquet or of a storage sink. A URL names a
bucket (s3://…, s3a://…) or a topic (kafka://HOST:PORT/TOPIC). Text in hexadecimal digits or base64
is read as the bytes that it encodes.

The first messages are looked at, and decoded with the settings that they suggest.
Sure: they decode, and no other format fits.
Likely: the signs fit, but decoding needs something more, or a message does not fit.
Possible: other formats may have the same bytes. All of them are listed.

Exit code: 0 the format is sure or likely, 1 it is not, 2 bad input.
"""
EXAMPLES = """\
examples:
  cdcwire identify message.bin
  cdcwire identify feed/ --json
  cdcwire identify s3://bucket/prefix
  cdcwire identify kafka://broker1:9092/orders --messages 500
  cdcwire identify value.bin --key key.bin
  cdcwire identify feed.jsonl --schema http://registry:8081
"""
IDENTIFIED, NOT_IDENTIFIED = 0, 1
_MOST_MESSAGES = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire identify``."""
    parser.add_argument("source", metavar="SOURCE", help="a file, a directory, a URL or -")
    parser.add_argument(
        "--key", metavar="FILE", help="read the Kafka key of a file of bytes from FILE"
    )
    parser.add_argument(
        "--messages",
        type=int,
        default=DEFAULT_MESSAGES,
        metavar="N",
        help=f"look at the first N messages (default: {DEFAULT_MESSAGES})",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    WholeContextArguments.add_to(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what a source contains. Returns the exit code. Raises: UsageError."""
    if not 0 < arguments.messages <= _MOST_MESSAGES:
        raise UsageError(f"--messages is a number from 1 to {_MOST_MESSAGES:,}")
    context = context_from(arguments)
    report = identify_place(arguments.source, context, arguments.messages, arguments.key)
    if report.reading.container in ("messages", "lines"):
        warn_of_unread(NAME, arguments.source)
    if not report.reading.samples:
        raise UsageError(f"{arguments.source}: there are no messages in it")
    print(json_text(report) if arguments.json else text(report), end="\n" * arguments.json)
    return NOT_IDENTIFIED if report.found is None else IDENTIFIED
