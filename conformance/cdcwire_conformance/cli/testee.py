"""``cdcwire testee``: the reference codecs as a testee."""

from __future__ import annotations

import argparse

from cdcwire.registry import FORMAT_NAMES

NAME = "testee"
HELP = "run the reference codecs as a testee"
DESCRIPTION = """\
Answer the runner as any decoder would: run the reference codecs as a program of the testee protocol
(docs/testee-protocol.md). Without arguments it is kept alive and answers line by line. With decode
or encode and a format it answers one request: exit 0 accepted, 1 rejected, 70 crashed.
"""
EXAMPLES = """\
examples:
  cdcwire verify canal-json -- cdcwire testee
  cdcwire verify canal-json --one-shot -- cdcwire testee
  cdcwire testee decode canal-json --raw < message.bin
  echo '{"cmd":"start","protocol":1}' | cdcwire testee
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire testee``."""
    parser.add_argument(
        "verb",
        nargs="?",
        choices=("decode", "encode"),
        metavar="VERB",
        help="decode or encode: answer one request and end (default: answer until stop)",
    )
    parser.add_argument(
        "format",
        nargs="?",
        choices=FORMAT_NAMES,
        metavar="FORMAT",
        help="the format of that request",
    )
    parser.add_argument(
        "--raw", action="store_true", help="standard input is the value alone, not a request"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the reference implementation as a testee. Returns its exit code. Raises: UsageError."""
    from cdcwire.cli.context import UsageError
    from cdcwire_conformance.testees import reference

    if arguments.verb is None:
        if arguments.raw:
            raise UsageError("--raw needs a verb and a format: cdcwire testee decode simple --raw")
        return reference.main([])
    if arguments.format is None:
        raise UsageError(f"{arguments.verb} needs a format: {', '.join(FORMAT_NAMES)}")
    if arguments.raw and arguments.verb == "encode":
        raise UsageError("--raw is the bytes of a value; there are none to encode")
    words = [arguments.verb, arguments.format]
    return reference.main([*words, "--raw"] if arguments.raw else words)
