"""Where the corpus is, and which cases it has.

The corpus is data: the folder ``golden`` of a checkout, and an archive in this package when it is
installed. No other place is searched. ``root`` is a golden folder to use instead. Cases are sorted
by id everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

from cdcwire.core.nearest import did_you_mean
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import (
    Case,
    CorpusError,
    UnfinishedError,
    read_case,
    read_json,
)
from cdcwire_conformance.corpus.files import ArchiveFiles, CorpusFiles, FolderFiles

INDEX_FILE = "index.json"
RETIRED_FILE = "retired.json"
VERSION_FILE = "VERSION"
WITNESSES_FILE = "witnesses.json"

_CHECKOUT = Path(__file__).resolve().parents[3] / "golden"


def golden_files(root: Path | None = None) -> CorpusFiles:
    """Return the files of a golden folder; by default those of the wheel or of the checkout.

    Raises: CorpusError.
    """
    return _built_in() if root is None else FolderFiles(root)


@cache
def _built_in() -> CorpusFiles:
    archive = files("cdcwire_conformance").joinpath("golden.zip")
    if archive.is_file():
        return ArchiveFiles(archive.read_bytes())
    return FolderFiles(golden_folder())


def golden_folder(root: Path | None = None) -> Path:
    """Return a golden folder to write in; by default the checkout's. Raises: CorpusError."""
    if root is None and not _CHECKOUT.is_dir():
        advice = "`cdcwire corpus copy DIR` unpacks it, --root DIR uses the copy"
        raise CorpusError(
            f"the corpus of an installed package can't be changed; {advice}", "golden"
        )
    return root or _CHECKOUT


def corpus_version(root: Path | None = None) -> str:
    """Return the version of the corpus, which is not that of the software. Raises: CorpusError."""
    try:
        version = golden_files(root).read(VERSION_FILE).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError("the version of the corpus can't be read", VERSION_FILE) from error
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise CorpusError(f"{version!r} is not a version of three numbers", VERSION_FILE)
    return version


def read_index(root: Path | None = None) -> Mapping[str, Json]:
    """Return the document of ``index.json``. Raises: CorpusError."""
    found = read_json(golden_files(root), INDEX_FILE)
    if not isinstance(found, Mapping):
        raise CorpusError("the index is an object", INDEX_FILE)
    return found


def case_sums(root: Path | None = None) -> dict[str, str]:
    """Return the sum of each case, by its id, as the index has it. Raises: CorpusError."""
    return {case["id"]: case["sha256"] for case in read_index(root)["cases"]}


def retired_ids(root: Path | None = None) -> Mapping[str, str]:
    """Return the ids that were given up, with the reason of each. Raises: CorpusError."""
    corpus = golden_files(root)
    found = read_json(corpus, RETIRED_FILE) if RETIRED_FILE in corpus else {}
    if not isinstance(found, Mapping) or not all(isinstance(v, str) for v in found.values()):
        raise CorpusError("ids with a reason each", RETIRED_FILE)
    return found


def case_files(corpus: CorpusFiles, formats: Iterable[str] | None = None) -> Iterator[str]:
    """Yield the names of the JSON files of the cases, sorted by id."""
    folders = ("",) if formats is None else tuple(sorted(set(formats)))
    found = [name for folder in folders for name in corpus.names(folder)]
    cases = (name for name in found if name.endswith(".json") and name.count("/") == 2)
    yield from sorted(cases, key=lambda name: name.removesuffix(".json"))


def load_cases(
    formats: Iterable[str] | None = None, pattern: str | None = None, root: Path | None = None
) -> tuple[Case, ...]:
    """Return the stored cases of these formats (default: all) whose id fits ``pattern``.

    ``pattern``: see ``id_fits``. Nothing is derived here; see ``derive``. Unfinished cases are
    left out; see ``unfinished_cases``. Raises: CorpusError.
    """
    return cases_where(lambda case_id: pattern is None or id_fits(case_id, pattern), formats, root)


def cases_where(
    is_wanted: Callable[[str], bool],
    formats: Iterable[str] | None = None,
    root: Path | None = None,
) -> tuple[Case, ...]:
    """Return the stored cases with a wanted id; the files of others are not read.

    Unfinished cases are left out; see ``unfinished_cases``. Raises: CorpusError.
    """
    found = _cases(is_wanted, formats, root)
    return tuple(case for case in found if isinstance(case, Case))


def meant_case(pattern: str, formats: Iterable[str] | None = None, root: Path | None = None) -> str:
    """Return the end of an error about a pattern that no id fits: an id or a part of one."""
    known: set[str] = set()

    def note(case_id: str) -> bool:
        known.update((case_id, *case_id.split("/")))
        return False

    cases_where(note, formats, root)
    return did_you_mean(pattern, known)


def unfinished_cases(
    formats: Iterable[str] | None = None, pattern: str | None = None, root: Path | None = None
) -> tuple[UnfinishedError, ...]:
    """Return what is missing from each case of these formats that its author has not finished.

    ``pattern``: see ``id_fits``. Raises: CorpusError.
    """
    found = _cases(lambda case_id: pattern is None or id_fits(case_id, pattern), formats, root)
    return tuple(each for each in found if isinstance(each, UnfinishedError))


def _cases(
    is_wanted: Callable[[str], bool], formats: Iterable[str] | None, root: Path | None
) -> Iterator[Case | UnfinishedError]:
    names = _case_files(root, None if formats is None else tuple(sorted(set(formats))))
    for name in names:
        if is_wanted(name.removesuffix(".json")):
            yield _case(root, name)


@cache
def _case_files(root: Path | None, formats: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(case_files(golden_files(root), formats))


@cache
def _case(root: Path | None, name: str) -> Case | UnfinishedError:
    try:
        return read_case(golden_files(root), name)
    except UnfinishedError as error:
        return error


def forget_cases() -> None:
    """Read the files again when they are asked for next. For those who write cases."""
    _case_files.cache_clear()
    _case.cache_clear()


def load_case(case_id: str, root: Path | None = None) -> Case:
    """Return one stored case. Raises: CorpusError when there is none, saying what became of it."""
    corpus = golden_files(root)
    name = f"{case_id}.json"
    if re.fullmatch(r"[^/]+/[^/]+/[^/]+", case_id) and ".." not in case_id and name in corpus:
        return read_case(corpus, name)
    reason = retired_ids(root).get(case_id)
    if reason is not None:
        raise CorpusError(f"this case is retired: {reason}", case_id)
    meant = did_you_mean(case_id, (each.removesuffix(".json") for each in corpus.names()))
    raise CorpusError(
        f"there is no such case; list them with `cdcwire corpus list`{meant}", case_id
    )


def id_fits(case_id: str, pattern: str) -> bool:
    """Return whether an id is meant by a pattern.

    A pattern with ``*``, ``?`` or ``[`` is a shell pattern for the whole id, where ``*`` crosses
    slashes. Any other is the id, or its beginning up to a slash or an ``@``.
    """
    if any(sign in pattern for sign in "*?["):
        return fnmatchcase(case_id, pattern)
    begin = pattern.rstrip("/")
    return case_id == begin or case_id.startswith((f"{begin}/", f"{begin}@"))
