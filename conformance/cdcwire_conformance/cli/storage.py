"""``cdcwire storage``: a storage prefix as a whole."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from cdcwire.cli.configuration import add_format_argument, need_format
from cdcwire.cli.context import ContextArguments, UsageError, context_from, table_text
from cdcwire.cli.decode import add_write_order
from cdcwire.console.problems import meant_or_met
from cdcwire.console.visible import visible
from cdcwire.files.prefix import list_prefix, stored_formats
from cdcwire.files.stores import directory_of, open_store
from cdcwire.model.text import Json
from cdcwire.registry import get_format
from cdcwire.storage import Fault
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.cli.recorded import with_recorded
from cdcwire_conformance.sources.storage.checking import Checked, check_prefix

NAME = "storage"
HELP = "check the files and rows of a storage prefix"
DESCRIPTION = """\
Check a whole storage prefix: names, schema files and their hashes, index files, the checkpoint,
and gaps in the numbers. Check every row too: its table, its columns, and the transactional
constraints.

PREFIX is a directory or a URL (memory://, s3://…; needs the extra "storage"). Each fault is one
line: file, byte if there is one, problem, and the clause of docs/formats. Repeated rows are not
faults, and neither are rows at or above the checkpoint. Rows after a fault in the same table are
not checked. Memory grows with the number of files, not with their size.

Exit code: 0 no fault, 1 faults or no file metadata, 2 could not run, as with an empty directory.
"""
EXAMPLES = """\
examples:
  cdcwire storage check csv /backup/changes --option include-commit-ts=true
  cdcwire storage check canal-json s3://bucket/prefix --option enable-tidb-extension=true
  cdcwire storage check csv changes --write-order index-first --transaction-atomicity table
  cdcwire storage check csv changes --json
  cdcwire storage check auto /backup/changes --changefeed changefeed.toml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb of ``cdcwire storage`` and its arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    checking = verbs.add_parser(
        "check",
        help="report every break of a rule",
        description=DESCRIPTION,
        epilog=EXAMPLES,
    )
    add_format_argument(checking)
    checking.add_argument("prefix", metavar="PREFIX", help="a directory, or a URL such as s3://…")
    checking.add_argument(
        "--transaction-atomicity",
        choices=("none", "table"),
        default="none",
        help="the producer's setting (default: none); with table, rows of one transaction and "
        "table in two files are a fault",
    )
    checking.add_argument("--json", action="store_true", help="print one JSON object")
    add_write_order(checking)
    ContextArguments.add_to(checking)
    checking.set_defaults(run_verb=_check)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen verb. Returns its exit code."""
    verb: Callable[[argparse.Namespace], int] = arguments.run_verb
    return verb(arguments)


def _check(arguments: argparse.Namespace) -> int:
    need_format(arguments, NAME)
    if arguments.format not in stored_formats():
        raise UsageError(
            f"storage check supports {' and '.join(stored_formats())} only, not {arguments.format}"
        )
    place = open_store(arguments.prefix)
    context = context_from(arguments)
    folder = directory_of(arguments.prefix)
    if folder is not None:
        context = with_recorded(NAME, folder, arguments.format, context)
    with ProgressLine() as line:
        found = check_prefix(
            place,
            arguments.format,
            context,
            write_order=arguments.write_order,
            atomic_tables=arguments.transaction_atomicity == "table",
            on_progress=lambda done, count: line.show(f"{done:,} of {count:,} files"),
        )
    if not found.files:
        raise UsageError(f"{arguments.prefix}: there is no file in this prefix")
    if arguments.include and not found.rows and not found.faults:
        prefix = list_prefix(place, get_format(arguments.format), context, write_order=None)
        met = (table_text((each.parsed.schema, each.parsed.table)) for each in prefix.files)
        meant = meant_or_met(arguments.include[0], met)
        names = ", ".join(arguments.include)
        raise UsageError(f"--include: {arguments.prefix} has no rows of {names}{meant}")
    if arguments.json:
        print(json.dumps(_document(arguments.prefix, found), ensure_ascii=False, indent=1))
    else:
        for fault in found.faults:
            print(visible(str(fault)))
        for note in found.notes:
            print(visible(f"note: {note}"))
        print(_summary(found))
    return 0 if found.has_metadata and not found.faults else 1


def _summary(found: Checked) -> str:
    parts = [f"{found.files:,} files", f"{found.rows:,} rows"]
    if found.repeats:
        parts.append(f"{found.repeats:,} of them repeats")
    if found.beyond:
        parts.append(f"{found.beyond:,} of them not below the checkpoint")
    faults = len(found.faults)
    lacking = "" if found.has_metadata else ", but no metadata"
    return f"{', '.join(parts)}: {faults or 'no'} fault{'' if faults == 1 else 's'}{lacking}"


def _document(prefix: str, found: Checked) -> Json:
    return {
        "prefix": prefix,
        "checkpoint": None if found.checkpoint is None else str(found.checkpoint),
        "files": found.files,
        "rows": found.rows,
        "repeats": found.repeats,
        "beyond_checkpoint": found.beyond,
        "notes": list(found.notes),
        "faults": [_fault(fault) for fault in found.faults],
    }


def _fault(fault: Fault) -> Json:
    return {
        "kind": fault.kind,
        "file": fault.path,
        "byte": fault.offset,
        "path": list(fault.steps),
        "problem": fault.problem,
        "clause": fault.clause,
    }
