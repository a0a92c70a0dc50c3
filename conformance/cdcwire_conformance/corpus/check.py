"""Checks that the corpus agrees with itself, with its pages and with the codecs.

Each check yields problems; none stops at the first. Bytes against their sums, and everything that
the tool makes, is compared by asking ``made_files`` what the files are to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cdcwire.core.options import parse_options
from cdcwire.extras import requirements_of
from cdcwire.model.events import path_text
from cdcwire.model.text import Json, TextFormError, event_from_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import (
    Case,
    CorpusError,
    UnfinishedError,
    case_from_json,
    read_json,
)
from cdcwire_conformance.corpus.clauses import Clause, pages_folder, read_clauses
from cdcwire_conformance.corpus.features import HEADING, made_pages
from cdcwire_conformance.corpus.files import CorpusFiles
from cdcwire_conformance.corpus.rebuild import (
    bytes_files,
    case_hexdump,
    case_text,
    format_of,
    index_text,
    read_if_there,
    stale_hexdumps,
    sums_of,
)
from cdcwire_conformance.corpus.requirements import FOLDER, problems_of, requirement_sets
from cdcwire_conformance.corpus.schemas import schema
from cdcwire_conformance.corpus.store import (
    INDEX_FILE,
    RETIRED_FILE,
    VERSION_FILE,
    WITNESSES_FILE,
    case_files,
    corpus_version,
    golden_files,
    read_index,
    retired_ids,
)

_TOP_FILES = (INDEX_FILE, RETIRED_FILE, VERSION_FILE, WITNESSES_FILE)
FindBreaks: TypeAlias = Callable[[Json], Iterable[str]]
_REBUILD = "`cdcwire corpus rebuild` makes it"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem and its place: a file below the golden root, or a line of a page."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The problems found. ``skipped``: checks that could not be made here, with the reason."""

    cases: int
    problems: tuple[Problem, ...]
    skipped: tuple[str, ...]


def check_corpus(root: Path | None = None, pages: Path | None = None) -> CheckResult:
    """Check everything.

    ``pages``: the folder of the formats' pages, by default those of the corpus. Cases in another
    golden folder need not show every clause.
    """
    corpus = golden_files(root)
    is_whole = root is None or pages is not None
    problems: list[Problem] = []
    skipped: list[str] = []
    find = _schema_check("case")
    if find is None:
        skipped.append(
            f"JSON Schemas: jsonschema is missing (pip install {requirements_of('check')})"
        )
    cases, made, broken = _read_all(corpus, problems, find)
    problems += _version_and_index(root, corpus, cases, made)
    problems += _files_without_case(corpus, cases, made)
    problems += _retired(root, cases)
    problems += _requirements(root)
    for case in cases:
        if case.id not in broken:
            problems += _meaning(case)
    pages = pages or pages_folder()
    problems += _clauses(cases, pages, is_whole)
    if is_whole:
        problems += _pages(pages, cases)
    return CheckResult(len(cases), tuple(sorted(set(problems))), tuple(skipped))


def _pages(pages: Path, cases: Iterable[Case]) -> Iterator[Problem]:
    for page, wanted in made_pages(pages, cases).items():
        text = page.read_text(encoding="utf-8")
        if HEADING in text and text != wanted:
            problem = f"the section 'Features and choices' is not up to date; {_REBUILD}"
            yield Problem(page.name, problem)


def _read_all(
    corpus: CorpusFiles, problems: list[Problem], find: FindBreaks | None
) -> tuple[list[Case], dict[str, str], set[str]]:
    """Read every case.

    Returns: the cases that can be read, the made files that they ask for, and the ids of cases that
    break the schema.
    """
    broken = set()
    cases = []
    made: dict[str, str] = {}
    for where in case_files(corpus):
        breaks: list[Problem] = []
        try:
            document = read_json(corpus, where)
            breaks = [Problem(where, each) for each in find(document)] if find else []
            case = case_from_json(document, corpus, where)
            problems += breaks
            cases.append(case)
            if breaks:
                broken.add(case.id)
            made[where] = case_text(document, sums_of(case, corpus))
            if corpus.has_hexdumps:
                made[f"{case.id}.hex"] = case_hexdump(case)
        except UnfinishedError as error:
            problems.append(Problem(error.where, error.problem))
            continue
        except CorpusError as error:
            problems += breaks or [Problem(error.where, error.problem)]
            continue
        if _text(corpus, where) != made[where]:
            problems.append(Problem(where, f"is not in its usual form; {_REBUILD}"))
        hexdump = f"{case.id}.hex"
        if hexdump in made and _text(corpus, hexdump) != made[hexdump]:
            problems.append(Problem(hexdump, f"is not up to date; {_REBUILD}"))
        for name in set(case.sha256) ^ set(bytes_files(case)):
            problems.append(Problem(where, f"sha256: {name} has a sum and a use, or neither"))
    return cases, made, broken


def _version_and_index(
    root: Path | None, corpus: CorpusFiles, cases: list[Case], made: Mapping[str, str]
) -> Iterator[Problem]:
    try:
        version = corpus_version(root)
        read_index(root)
    except CorpusError as error:
        yield Problem(error.where, error.problem)
        return
    known = [case for case in cases if f"{case.id}.json" in made]
    if _text(corpus, INDEX_FILE) != index_text(version, known, made):
        yield Problem(INDEX_FILE, f"is not up to date; {_REBUILD}")
    find = _schema_check("index")
    for problem in find(read_index(root)) if find else ():
        yield Problem(INDEX_FILE, problem)
    for case in cases:
        if _version_key(case.since) > _version_key(version):
            yield Problem(f"{case.id}.json", f"since {case.since}: the corpus is {version}")


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _files_without_case(
    corpus: CorpusFiles, cases: list[Case], made: Mapping[str, str]
) -> Iterator[Problem]:
    used = {f"{case.id.rpartition('/')[0]}/{name}" for case in cases for name in bytes_files(case)}
    read = {f"{case.id}.json" for case in cases}
    unread = tuple(where.removesuffix("json") for where in case_files(corpus) if where not in read)
    for name in corpus.names():
        if name in _TOP_FILES or name.endswith(".hex") or name.startswith(f"{FOLDER}/"):
            continue
        if name.endswith(".json") and name.count("/") == 2:
            continue  # a case, or a problem that its reading has reported
        if name not in used and not name.startswith(unread):
            yield Problem(name, "belongs to no case")
    for name in stale_hexdumps(corpus, made):
        yield Problem(name, f"belongs to no case; {_REBUILD}")


def _retired(root: Path | None, cases: list[Case]) -> Iterator[Problem]:
    try:
        retired = retired_ids(root)
    except CorpusError as error:
        yield Problem(error.where, error.problem)
        return
    for case in cases:
        if case.id in retired:
            yield Problem(f"{case.id}.json", "the id is retired, and never used again")


def _requirements(root: Path | None) -> Iterator[Problem]:
    """Check that each case of a frozen set is as it was, or retired."""
    try:
        for each in requirement_sets(root):
            where = f"{FOLDER}/{each.name}-{each.version}.json"
            yield from (Problem(where, problem) for _, problem in problems_of(each, root))
    except CorpusError as error:
        yield Problem(error.where, error.problem)


def _meaning(case: Case) -> Iterator[Problem]:
    """Check what a codec is given: options, tables, features, and that the events can be read."""
    where = f"{case.id}.json"
    if case.error is not None and case.error.get("message", 0) >= len(case.messages):
        yield Problem(where, "error.message is not the number of a message")
    if case.error is not None and case.error.get("clause") not in case.clauses:
        yield Problem(where, "error.clause is not one of the case's clauses")
    try:
        format_ = format_of(case)
        context = case.context()
    except CorpusError as error:
        yield Problem(where, error.problem)
        return
    try:
        parse_options(format_.options, case.options)
    except ValueError as error:
        yield Problem(where, str(error))
    for feature in case.features:
        if feature not in format_.features:
            yield Problem(where, f"feature {feature!r} is not one of {format_.name}")
    for index, document in enumerate(case.events or ()):
        try:
            event_from_json(document, context.tables, ("events", index))
        except TextFormError as error:
            yield Problem(where, str(error))


def _schema_check(name: str) -> FindBreaks | None:
    """Return what finds the breaks of a schema; None where there is no library to do so."""
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    validator = Draft202012Validator(schema(name))

    def find(document: Json) -> Iterator[str]:
        for error in validator.iter_errors(document):
            place = path_text(tuple(error.absolute_path))
            is_unfit = error.validator == "not"
            message = "not allowed in a case of this kind" if is_unfit else error.message
            yield f"{place or 'the document'}: {message:.120}"

    return find


def _clauses(cases: list[Case], pages: Path, is_whole: bool) -> Iterator[Problem]:
    """Check that each case's clauses are on the pages, and that each clause has a case.

    ``is_whole``: the corpus has the cases of every clause.
    """
    try:
        clauses: Mapping[str, Clause] = read_clauses(pages)
    except CorpusError as error:
        yield Problem(error.where, error.problem)
        return
    used: set[str] = set()
    for case in cases:
        used.update(case.clauses)
        for name in case.clauses:
            if name not in clauses:
                yield Problem(f"{case.id}.json", f"clause {name!r} is on no page")
            elif case.format not in _formats_of(clauses[name]):
                yield Problem(f"{case.id}.json", f"clause {name!r} belongs to another format")
    for clause in clauses.values():
        # A page may be there before its format is offered; its cases come with the format.
        is_offered = not set(FORMAT_NAMES).isdisjoint(_formats_of(clause))
        if clause.id not in used and is_offered and is_whole:
            yield Problem(clause.where, f"clause {clause.id!r} has no case")


def _formats_of(clause: Clause) -> tuple[str, ...]:
    """Return the formats whose page, or shared page, has a clause."""
    sharing = tuple(name for name in FORMAT_NAMES if clause.page in get_format(name).shared_pages)
    return (*sharing, clause.page)


def _text(corpus: CorpusFiles, name: str) -> str | None:
    content = read_if_there(corpus, name)
    return None if content is None else content.decode("utf-8", "replace")
