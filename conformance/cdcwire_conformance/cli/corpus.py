"""``cdcwire corpus``: the golden cases, looked at and kept true."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cdcwire.cli.context import UsageError
from cdcwire.console.problems import format_argument
from cdcwire.console.visible import print_error, visible
from cdcwire.files.local_files import file_inside, whole_folder, write_whole
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.cli.usage import golden_root, note_unfinished
from cdcwire_conformance.corpus.case import Case, CorpusError
from cdcwire_conformance.corpus.check import check_corpus
from cdcwire_conformance.corpus.clauses import pages_folder, read_clauses
from cdcwire_conformance.corpus.derive import clauses_of, find_case
from cdcwire_conformance.corpus.features import FIELDS, choices_of, features_of, write_pages
from cdcwire_conformance.corpus.rebuild import case_hexdump, index_of, rebuild
from cdcwire_conformance.corpus.store import (
    INDEX_FILE,
    VERSION_FILE,
    corpus_version,
    golden_files,
    load_cases,
    meant_case,
    read_index,
)
from cdcwire_conformance.export import ExportError, export_corpus
from cdcwire_conformance.export.packages import DATA_FOLDERS, DEFAULT_NAME, export_package

NAME = "corpus"
HELP = "list, show, copy, export, check or rebuild the golden cases"
DESCRIPTION = """\
List, show, copy, export, check or rebuild the golden cases: bytes exactly as sent, and their
meaning.
Derived cases (canal-json/values/year@cut:7) can be shown too. They are made when they run, and are
not stored.
"""
EXAMPLES = """\
examples:
  cdcwire corpus list canal-json --clause 'canal-json: integer values'
  cdcwire corpus show canal-json/values/year
  cdcwire corpus show canal-json/values/year@cut:7
  cdcwire corpus copy testdata canal-json open-protocol
  cdcwire corpus export corpus.zip
  cdcwire corpus export corpus-npm --package npm
  cdcwire corpus features canal-json
  cdcwire corpus check
"""

_FORMATS: dict[str, Any] = {
    "nargs": "*",
    "type": format_argument,
    "metavar": "FORMAT",
    "help": "only these formats (default: all)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of ``cdcwire corpus`` and their arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = _verb(verbs, "list", _list, "list the cases")
    listing.add_argument("formats", **_FORMATS)
    listing.add_argument("--clause", metavar="ID", help="only cases of this clause")
    listing.add_argument(
        "--level",
        choices=("must", "should", "may", "unspecified"),
        help="only cases of this level",
    )
    listing.add_argument(
        "--match", metavar="PATTERN", help="only ids like this: 'canal-json/ddl/*'"
    )
    listing.add_argument("--json", action="store_true", help="print one JSON object per line")
    showing = _verb(verbs, "show", _show, "print a case: what it says, its events and its bytes")
    showing.add_argument(
        "id", metavar="ID", help="the id of a case, such as canal-json/values/year"
    )
    copying = _verb(verbs, "copy", _copy, "copy the data, for use from any language")
    copying.add_argument("folder", metavar="DIR", help="a new directory")
    copying.add_argument("formats", **_FORMATS)
    exporting = _verb(verbs, "export", _export, "write all cases as JSON lines, without Python")
    exporting.description = (
        "Write the stored and the derived cases as lines of JSON. Schemas, the rules of "
        "comparison and checksums are added. The target is a new .zip file or a new folder."
    )
    exporting.add_argument("target", metavar="FILE|DIR", help="a new .zip file, or a new directory")
    exporting.add_argument("formats", **_FORMATS)
    exporting.add_argument(
        "--no-derived", action="store_true", help="leave out the cases that rules derive"
    )
    exporting.add_argument(
        "--package",
        choices=(*DATA_FOLDERS, "all"),
        help="write the sources of a package with the stored cases and a walker; all: a folder "
        "for each kind",
    )
    exporting.add_argument(
        "--package-name",
        default=DEFAULT_NAME,
        metavar="NAME",
        help=f"name of the package, for Go the path of the module (default: {DEFAULT_NAME})",
    )
    for name, run_verb, help_text in (
        ("features", _features, "list the features of a format, which a testee may decline"),
        ("choices", _choices, "list the choices that a format leaves to a decoder"),
    ):
        naming = _verb(verbs, name, run_verb, help_text)
        naming.add_argument("formats", **_FORMATS)
    _verb(verbs, "check", _check, "check that cases, bytes, pages and codecs agree")
    rebuilding = _verb(verbs, "rebuild", _rebuild, "regenerate hexdumps, checksums and the index")
    rebuilding.add_argument(
        "--accept-new", action="store_true", help="accept bytes that differ from their checksum"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen verb. Returns the exit code. Raises: UsageError."""
    verb: Callable[[argparse.Namespace, Path | None], int] = arguments.run_verb
    try:
        return verb(arguments, golden_root(arguments))
    except CorpusError as error:
        raise UsageError(str(error)) from error


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run_verb: Callable[[argparse.Namespace, Path | None], int],
    help_text: str,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=help_text, description=f"{help_text.capitalize()}.")
    parser.add_argument("--root", metavar="DIR", help="a golden folder other than the built-in one")
    parser.set_defaults(run_verb=run_verb)
    return parser


def _list(arguments: argparse.Namespace, root: Path | None) -> int:
    found = load_cases(arguments.formats or None, arguments.match, root)
    note_unfinished(NAME, arguments.formats or None, root, arguments.match)
    if arguments.match is not None and not found:
        meant = meant_case(arguments.match, arguments.formats or None, root)
        raise UsageError(f"no case matches --match {arguments.match!r:.80}{meant}")
    if arguments.clause is not None:
        found = tuple(case for case in found if arguments.clause in case.clauses)
        if not found:
            raise UsageError(f"no such case has the clause {arguments.clause!r:.80}")
    cases = [case for case in found if arguments.level in (None, case.level)]
    if arguments.json:
        for case in cases:
            print(json.dumps(_summary(case), ensure_ascii=False))
    else:
        width = max((len(case.id) for case in cases), default=0)
        for case in cases:
            print(visible(f"{case.id:{width}}  {case.level:6}  {case.expect:6}  {case.title}"))
    return 0


def _summary(case: Case) -> dict[str, Json]:
    return {
        "id": case.id,
        "title": case.title,
        "level": case.level,
        "expect": case.expect,
        "clause": list(case.clauses),
        "features": list(case.features),
        "origin": case.origin,
    }


def _show(arguments: argparse.Namespace, root: Path | None) -> int:
    case = find_case(arguments.id, root)
    for line in _shown(case):
        print(visible(line))
    print()
    for line in case_hexdump(case).removesuffix("\n").split("\n"):
        print(visible(line))
    return 0


def _shown(case: Case) -> Iterator[str]:
    places = read_clauses(pages_folder())
    yield case.id
    yield f"  {case.title}"
    yield f"  {case.level}: {case.expect}; since {case.since}"
    yield f"  origin: {case.origin}"
    for clause in clauses_of(case):
        place = f" (docs/formats/{places[clause].where})" if clause in places else ""
        yield f"  clause: {clause}{place}"
    for name, text in (
        ("choice", case.choice),
        ("features", ", ".join(case.features)),
        ("known bugs", ", ".join(case.bugs)),
        ("note", case.note),
    ):
        if text:
            yield f"  {name}: {text}"
    for name, value in case.options.items():
        yield f"  option: {name}={json.dumps(value) if isinstance(value, bool) else value}"
    for table in case.tables:
        yield f"  table: {json.dumps(table, ensure_ascii=False)}"
    for event in case.events or ():
        yield f"  event: {json.dumps(event, ensure_ascii=False)}"
    if case.error is not None:
        yield f"  error: {json.dumps(case.error)}"


def _features(arguments: argparse.Namespace, root: Path | None) -> int:
    for name in arguments.formats or FORMAT_NAMES:
        found = features_of(name, load_cases([name], root=root))
        width = max((len(feature.name) for feature in found), default=0)
        print(f"{name}: cases that need a declined feature are not sent")
        for feature in found:
            number = _cases(feature.cases, 5)
            print(visible(f"  {feature.name:{width}}  {number}  {feature.description}"))
        print()
    print("every format: cases are sent, and compared without what is declined")
    width = max(map(len, FIELDS))
    for field, description in FIELDS.items():
        print(f"  {field:{width}}  {description}")
    return 0


def _choices(arguments: argparse.Namespace, root: Path | None) -> int:
    for name in arguments.formats or FORMAT_NAMES:
        found = choices_of(name, load_cases([name], root=root))
        print(f"{name}:" if found else f"{name}: none")
        width = max((len(f"{each.subject}: {each.choice}") for each in found), default=0)
        for each in found:
            ours = "  (the reference's)" if each.is_of_reference else ""
            choice = f"{each.subject}: {each.choice}"
            print(visible(f"  {choice:{width}}  {_cases(each.cases, 3)}{ours}"))
    return 0


def _cases(number: int, width: int) -> str:
    """Return a number of cases, aligned with others below it."""
    return f"{number:{width}} {'case ' if number == 1 else 'cases'}"


def _copy(arguments: argparse.Namespace, root: Path | None) -> int:
    corpus = golden_files(root)
    names = list(corpus.names())
    stored = {name.partition("/")[0] for name in names if "/" in name}
    formats = arguments.formats or [name for name in FORMAT_NAMES if name in stored]
    target = Path(arguments.folder)
    left_out = tuple(f"{each}." for each in note_unfinished(NAME, formats, root))
    entries = [
        entry for entry in read_index(root)["cases"] if entry["id"].partition("/")[0] in formats
    ]
    try:
        if target.is_dir() and any(target.iterdir()):
            raise UsageError(f"{target} is not empty; name a new directory")
        for name in (VERSION_FILE, INDEX_FILE):
            file_inside(target, name)  # a link is not replaced
        with whole_folder(target) as folder:
            for name in names:
                if name.partition("/")[0] in formats and not name.startswith(left_out):
                    _write(folder, name, corpus.read(name))
            if not corpus.has_hexdumps:
                for case in load_cases(formats, root=root):
                    _write(folder, f"{case.id}.hex", case_hexdump(case).encode())
            _write(folder, VERSION_FILE, corpus.read(VERSION_FILE))
            _write(folder, INDEX_FILE, index_of(corpus_version(root), entries).encode())
    except OSError as error:
        raise UsageError(f"{error.filename or target}: {error.strerror}") from error
    print(f"{len(entries)} cases of {', '.join(formats)} in {target}")
    return 0


def _export(arguments: argparse.Namespace, root: Path | None) -> int:
    stored = {name.partition("/")[0] for name in golden_files(root).names() if "/" in name}
    formats = arguments.formats or [name for name in FORMAT_NAMES if name in stored]
    note_unfinished(NAME, formats, root)
    target = Path(arguments.target)
    if arguments.package is not None:
        _export_packages(arguments, target, tuple(formats), root)
        return 0
    try:
        with ProgressLine() as line:
            exported = export_corpus(
                target,
                formats,
                root=root,
                derived=not arguments.no_derived,
                progress=lambda name, number: line.show(f"{number} lines: {name}"),
            )
    except ExportError as error:
        raise UsageError(str(error)) from error
    print(f"{exported.stored} stored and {exported.derived} derived lines in {arguments.target}")
    return 0


def _export_packages(
    arguments: argparse.Namespace, target: Path, formats: tuple[str, ...], root: Path | None
) -> None:
    is_one = arguments.package != "all"
    for kind in [arguments.package] if is_one else DATA_FOLDERS:
        folder = target if is_one else target / kind
        try:
            exported = export_package(kind, folder, formats, name=arguments.package_name, root=root)
        except ExportError as error:
            raise UsageError(str(error)) from error
        name = f"{arguments.package_name} {corpus_version(root)}"
        print(f"{folder}: {name} for {kind}, {exported.stored} cases")


def _write(folder: Path, name: str, content: bytes) -> None:
    file = file_inside(folder, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content)


def _check(arguments: argparse.Namespace, root: Path | None) -> int:
    result = check_corpus(root)
    for problem in result.problems:
        print(visible(str(problem)))
    for reason in result.skipped:
        print(visible(f"not checked: {reason}"))
    print(f"{_count(result.cases, 'case')}, {_count(len(result.problems), 'problem')}")
    return 1 if result.problems else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _rebuild(arguments: argparse.Namespace, root: Path | None) -> int:
    result = rebuild(root, arguments.accept_new)
    written = write_pages(pages_folder(), load_cases()) if root is None else []
    print(f"{_count(len(result.written), 'file')} written, {len(result.removed)} removed")
    if written:
        print(f"features and choices written into {', '.join(page.name for page in written)}")
    for unfinished in result.unfinished:
        print_error(f"cdcwire {NAME}: {unfinished}")
    return 1 if result.unfinished else 0
