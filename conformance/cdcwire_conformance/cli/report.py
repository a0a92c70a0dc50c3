"""``cdcwire report``: write REPORT.md in a checkout.

The programs that produce it are ``cdcwire_evidence``, which is not in the wheel. They run as a
process of the checkout and judge what is installed.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path

from cdcwire.cli.context import UsageError
from cdcwire.console.interrupts import Terminated
from cdcwire_conformance.cli import report_readers, report_site

NAME = "report"
HELP = "run everything this machine can run, and write REPORT.md"
DESCRIPTION = """\
Run in a checkout of cdcwire. Build the adapters whose toolchains are installed. Judge the reference
and the other decoders of the checkout. Catch the known-wrong decoders, count clauses and witnesses,
compare feeds on Spark, measure sizes. Write REPORT.md, a page for each chapter under report/, and
all results to report/report.json. They go into build/report, which git ignores; --publish renews
those of the checkout.

Takes a sample of the derived cases and few rows. --full takes
everything, and runs the benchmarks with all their data. Chapters that cannot run on this machine
are listed as not run, with what to install. A chapter that breaks off is failed; the others go on.
If standard error is a file, it gets a line for each chapter: start, end, seconds, status.

--html writes a site from the newest of both reports, or the one in --to, and runs nothing: each
reader's score on each question, and every stored case with its bytes. Open DIR/index.html; it needs
no server.

`cdcwire report readers` and `cdcwire report site` judge other readers and publish the results.

Exit code 0: every check that ran passed; a missed bar is reported only. 1: a check failed. 2: no
report could be written.
"""
EXAMPLES = """\
examples:
  cdcwire report
  cdcwire report --full --publish
  cdcwire report --full --to /tmp/found
  cdcwire report --html site
  cdcwire report readers adapters/readers.toml --to results
  cdcwire report site results --to site
"""


REPORT_FILE = Path("report", "report.json")
UNPUBLISHED = Path("build", "report")
CHECKOUT = Path()
_PROGRAM = Path("conformance", "evidence.py")
_PATIENCE = 10.0  # seconds in which the program ends what it has started


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire report``."""
    places = parser.add_mutually_exclusive_group()
    places.add_argument(
        "--to",
        metavar="DIR",
        help=f"write REPORT.md and report/ into this directory (default: {UNPUBLISHED})",
    )
    places.add_argument(
        "--publish", action="store_true", help="renew REPORT.md and report/ of the checkout"
    )
    parser.add_argument("--full", action="store_true", help="all cases, all rows, all benchmarks")
    parser.add_argument(
        "--html",
        metavar="DIR",
        help="write a site from an existing report instead of a new report (extra html)",
    )
    add_verbs(parser)


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of ``cdcwire report``, which the report itself does not need."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for name, module in (("readers", report_readers), ("site", report_site)):
        verb = verbs.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            epilog=module.EXAMPLES,
        )
        module.add_arguments(verb)


def run(arguments: argparse.Namespace) -> int:
    """Run the report program of the checkout. Returns its exit code. Raises: UsageError."""
    if arguments.verb == "site":
        return report_site.run(arguments)
    if arguments.verb == "readers":
        return _run_program([report_readers.PROGRAM, *report_readers.words_of(arguments)])
    if arguments.html:
        return _write_site(_existing(arguments), Path(arguments.html))
    target = str(target_of(arguments))
    return _run_program(["report", "--to", target, *(["--full"] if arguments.full else [])])


def _run_program(words: list[str]) -> int:
    """Run a program of the checkout. Returns its exit code. Raises: UsageError."""
    if not _PROGRAM.is_file():
        raise UsageError(f"{_PROGRAM} not found; run the command in a checkout of cdcwire")
    code = _code_of([sys.executable, str(_PROGRAM), *words])
    return code if code >= 0 else 2


def target_of(arguments: argparse.Namespace) -> Path:
    """Return the directory that the report is written into."""
    if arguments.to is not None:
        return Path(arguments.to)
    return CHECKOUT if arguments.publish else UNPUBLISHED


def _existing(arguments: argparse.Namespace) -> Path:
    """Return the results that the site is made of."""
    if arguments.to is not None or arguments.publish:
        return target_of(arguments) / REPORT_FILE
    known = [folder / REPORT_FILE for folder in (UNPUBLISHED, CHECKOUT)]
    found = [file for file in known if file.is_file()]
    return max(found, key=lambda file: file.stat().st_mtime) if found else known[0]


def _code_of(command: list[str]) -> int:
    """Return the exit code of a program, which cleans up by itself after an interrupt.

    Ctrl-C reaches the program too. It gets SIGTERM if that is what came, or if it has not ended.
    Raises: KeyboardInterrupt if the program did not handle the interrupt.
    """
    with subprocess.Popen(command) as process:
        try:
            return process.wait()
        except KeyboardInterrupt as interrupt:
            is_ctrl_c = not isinstance(interrupt, Terminated)
            if (is_ctrl_c and _has_ended(process)) or _has_ended(process, signal.SIGTERM):
                if process.returncode >= 0:
                    return process.returncode
            else:
                process.kill()
            raise


def _has_ended(process: subprocess.Popen[bytes], number: int | None = None) -> bool:
    """Return whether a process ends in time, by itself or after a signal."""
    if number is not None:
        process.send_signal(number)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return False
    return True


def _write_site(file: Path, folder: Path) -> int:
    """Write the site of a report. Returns 0. Raises: UsageError, OSError, MissingExtraError."""
    from cdcwire_conformance.cli.progress import ProgressLine
    from cdcwire_conformance.corpus.store import load_cases
    from cdcwire_conformance.output.html.render import require_jinja
    from cdcwire_conformance.output.html.site import site_page, write_site
    from cdcwire_conformance.output.html.verify_page import witness_names_of

    require_jinja()
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{file} not found; `cdcwire report` writes it") from None
    except ValueError:
        report = None
    folder.mkdir(parents=True, exist_ok=True)
    cases, witnesses = load_cases(), witness_names_of()
    try:
        page = site_page(report, cases, witnesses)
    except (KeyError, TypeError, AttributeError):
        problem = "is not a report of this version; `cdcwire report` writes a new one"
        raise UsageError(f"{file} {problem}") from None
    with ProgressLine() as line:
        write_site(folder, page, cases, witnesses, line.show)
    print(folder / "index.html")
    return 0
