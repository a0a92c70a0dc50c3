"""The release archive: the files of an export, in a zip file or a folder.

One corpus gives the same bytes every time: order, times and modes of the files are fixed. Derived
cases are made one at a time, so that memory is bounded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import IO, Protocol
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import cdcwire
from cdcwire.files.json_messages import json_line
from cdcwire.files.local_files import is_new_or_empty, unfinished_next_to
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases
from cdcwire_conformance.corpus.store import VERSION_FILE, corpus_version, load_cases
from cdcwire_conformance.export.lines import (
    case_line,
    format_facts,
    schemas,
)
from cdcwire_conformance.protocol.requests import PROTOCOL_VERSION
from cdcwire_conformance.run.selection import tasks_of

SUMS_FILE = "SHA256SUMS"
MANIFEST_FILE = "manifest.json"
_PAGES = ("README.md", "COMPARISON.md")
_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can have
_MODE = 0o100644
_ARCHIVE = ".zip"
_UNIX = 3

Progress = Callable[[str, int], None]


class ExportError(ValueError):
    """The target can't be written. The text says which one and why."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The numbers of lines in an export."""

    stored: int
    derived: int


def export_corpus(
    target: Path,
    formats: Iterable[str],
    *,
    root: Path | None = None,
    derived: bool = True,
    progress: Progress = lambda format_name, lines: None,
) -> Exported:
    """Write the corpus to a new ``.zip`` file, or into a new or empty folder.

    ``progress`` is called with the format and the number of lines written. A failed export leaves
    nothing. Raises: ExportError for a bad target; CorpusError.
    """
    _check_target(target)
    unfinished = unfinished_next_to(target)
    is_made = False  # what has the name otherwise is not removed
    try:
        with _open_target(target, unfinished) as sink:
            is_made = True
            exported = _write(sink, tuple(formats), root, derived, progress)
        unfinished.replace(target)
    except OSError as error:
        problem = error.strerror or str(error)
        place = target if error.filename in (None, str(unfinished)) else error.filename
        raise ExportError(f"{place}: {problem}") from error
    finally:
        if is_made:
            _remove(unfinished)
    return exported


def _check_target(target: Path) -> None:
    if target.suffix in (".gz", ".tgz", ".tar", ".xz", ".bz2", ".7z"):
        raise ExportError(f"{target}: an archive is a {_ARCHIVE} file; name one, or a folder")
    try:
        is_free = is_new_or_empty(target)
    except OSError as error:
        raise ExportError(f"{target}: {error.strerror}") from error
    if not is_free:
        raise ExportError(f"{target}: already exists; name a new file, or an empty folder")


class _Sink(Protocol):
    def open(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Open a file of the export for writing."""
        ...


@contextlib.contextmanager
def _open_target(target: Path, unfinished: Path) -> Iterator[_Sink]:
    if target.suffix == _ARCHIVE:
        with ZipFile(unfinished, "x", ZIP_DEFLATED) as archive:
            yield _ZipSink(archive)
    else:
        unfinished.mkdir()
        yield _FolderSink(unfinished)


class _ZipSink:
    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive

    def open(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        info = ZipInfo(name, _TIME)
        info.compress_type, info.external_attr, info.create_system = (
            ZIP_DEFLATED,
            _MODE << 16,
            _UNIX,
        )
        return self._archive.open(info, "w", force_zip64=True)


class _FolderSink:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        file = self._folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.open("wb")


def _remove(unfinished: Path) -> None:
    if unfinished.is_dir():
        shutil.rmtree(unfinished, ignore_errors=True)
    else:
        unfinished.unlink(missing_ok=True)


def _write(
    sink: _Sink, formats: tuple[str, ...], root: Path | None, derived: bool, progress: Progress
) -> Exported:
    sums: dict[str, str] = {}
    counts: dict[str, dict[str, int]] = {}

    def write(name: str, lines: Iterable[bytes], shown: str = "") -> int:
        digest, number = hashlib.sha256(), 0
        with sink.open(name) as stream:
            for number, line in enumerate(lines, 1):
                stream.write(line)
                digest.update(line)
                if shown:
                    progress(shown, number)
        sums[name] = digest.hexdigest()
        return number

    for name in formats:
        cases = load_cases([name], root=root)
        counts[name] = {
            "stored": write(f"cases/{name}.jsonl", _lines(cases), name),
            "derived": write(
                f"derived/{name}.jsonl",
                _lines(chain.from_iterable(map(derive_cases, cases)) if derived else ()),
                f"{name}, derived",
            ),
        }
    version = corpus_version(root)
    write(MANIFEST_FILE, [_document(_manifest(version, counts))])
    write(VERSION_FILE, [f"{version}\n".encode()])
    for page in _PAGES:
        write(page, [files("cdcwire_conformance.export").joinpath(page).read_bytes()])
    for name, document in schemas():
        write(f"schemas/{name}.schema.json", [_document(document)])
    lines = [f"{sums[name]}  {name}\n".encode() for name in sorted(sums)]
    write(SUMS_FILE, lines)
    return Exported(
        sum(count["stored"] for count in counts.values()),
        sum(count["derived"] for count in counts.values()),
    )


def _lines(cases: Iterable[Case]) -> Iterator[bytes]:
    for case in cases:
        for task in tasks_of(case):
            yield json_line(case_line(task))


def _manifest(version: str, counts: dict[str, dict[str, int]]) -> Json:
    return {
        "corpus": version,
        "cdcwire": cdcwire.__version__,
        "protocol": PROTOCOL_VERSION,
        "formats": {name: {**format_facts(name), "lines": counts[name]} for name in counts},
    }


def _document(document: Json) -> bytes:
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()
