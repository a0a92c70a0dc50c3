"""``cdcwire witness``: record which cases an independent implementation confirms."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from cdcwire.cli.context import UsageError
from cdcwire.console.problems import format_argument
from cdcwire.console.visible import visible
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.cli.usage import golden_root

NAME = "witness"
HELP = "record which golden cases an independent implementation confirms"
TAKES_COMMAND = True
DESCRIPTION = """\
Run the stored cases against an implementation that shares nothing with the reference. Record in
golden/witnesses.json the cases that it reads or writes as they say. Without COMMAND: show what is
recorded. A case that changes afterwards loses its witness.
"""
EXAMPLES = """\
examples:
  cdcwire witness -- node adapters/javascript/testee.js
  cdcwire witness
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire witness``."""
    parser.usage = "cdcwire witness [FORMAT ...] [-- COMMAND ...]"
    parser.add_argument(
        "formats", nargs="*", type=format_argument, metavar="FORMAT", help=", ".join(FORMAT_NAMES)
    )
    parser.add_argument("--root", metavar="DIR", help="a golden folder other than the built-in one")


def run(arguments: argparse.Namespace) -> int:
    """Record the results of a command, if given, and print what confirms each format. Returns 0."""
    from cdcwire_conformance.corpus.store import case_sums, golden_folder, load_cases
    from cdcwire_conformance.corpus.witness import (
        confirmations,
        read_witnesses,
        witness_from_results,
        write_witnesses,
    )

    root = golden_root(arguments)
    if arguments.command is not None:
        golden_folder(root)  # refuses an archive before anything is judged
    sums = case_sums(root)
    witnesses = {witness.name: witness for witness in read_witnesses(root)}
    if arguments.command is not None:
        found = witness_from_results(_judge(arguments), sums)
        if arguments.formats and found.name in witnesses:
            found = found.with_other_formats(witnesses[found.name], arguments.formats)
        witnesses[found.name] = found
        write_witnesses(witnesses.values(), root)
    formats = arguments.formats or FORMAT_NAMES
    counts = confirmations(load_cases(formats, root=root), sums, witnesses.values())
    for name, counted in counts.items():
        print(
            f"{name}: {counted.cases} cases; {counted.by_producer} written by a producer, "
            f"{counted.by_others} confirmed by other implementations, "
            f"{len(counted.by_nobody)} by their author only"
        )
        for case_id in counted.by_nobody:
            print(visible(f"  {case_id}"))
    cases = sum(counted.cases for counted in counts.values())
    alone = sum(len(counted.by_nobody) for counted in counts.values())
    print(f"{cases} cases; {alone} ({alone / max(cases, 1):.1%}) confirmed by their author only")
    return 0


def _judge(arguments: argparse.Namespace) -> object:
    """Return the result document of ``cdcwire verify`` over the stored cases."""
    from cdcwire_conformance.cli import main

    if not arguments.command:
        raise UsageError("name a command after --")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        words = ["verify", *arguments.formats, "--no-derived", "--json", str(file)]
        main([*words, "--", *arguments.command])
        if not file.exists():
            raise UsageError("nothing could be judged")
        return json.loads(file.read_text(encoding="utf-8"))
