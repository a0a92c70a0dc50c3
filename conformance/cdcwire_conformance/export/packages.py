"""The stored cases as a package of npm, Go, Maven, Cargo or PyPI: data, a walker and its test.

A package has the version of the corpus. ``packages/KIND`` has its files; an export of the corpus
is put into the folder that the walker reads. Each toolchain then builds the package as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.files.local_files import is_new_or_empty, whole_folder
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.export.archive import (
    Exported,
    ExportError,
    Progress,
    export_corpus,
)
from cdcwire_conformance.export.lines import schemas

if TYPE_CHECKING:
    from importlib.abc import Traversable  # importlib.resources.abc is newer than Python 3.10

DATA_FOLDERS: Mapping[str, str] = {
    "npm": "data",
    "go": "data",
    "maven": "src/main/resources/cdcwire-corpus",
    "cargo": "data",
    "pypi": "cdcwire_corpus/data",
}
DEFAULT_NAME = "cdcwire-corpus"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[A-Za-z0-9._-]+)*")
_STORED_AS_TEXT = ".txt"  # files that tools would take for part of this project


def export_package(
    kind: str,
    target: Path,
    formats: tuple[str, ...],
    *,
    name: str = DEFAULT_NAME,
    root: Path | None = None,
    progress: Progress = lambda format_name, lines: None,
) -> Exported:
    """Write a package into a new or empty folder. A failed export leaves nothing.

    ``name``: of the package; for Go, the path of the module. Raises: ExportError; CorpusError.
    """
    if not _NAME.fullmatch(name):
        raise ExportError(f"{name!r:.80} is not a name of a package")
    try:
        if not is_new_or_empty(target):
            raise ExportError(f"{target}: already exists; name a new or an empty folder")
        with whole_folder(target) as folder:
            data = folder / DATA_FOLDERS[kind]
            data.parent.mkdir(parents=True, exist_ok=True)
            try:
                exported = export_corpus(data, formats, root=root, derived=False, progress=progress)
            except ExportError as error:  # it names the directory that is not at its place yet
                raise ExportError(str(error).replace(str(folder), str(target))) from error
            words = _words(kind, name, formats, corpus_version(root))
            for file, text in _texts(kind):
                _write(folder / file, _filled(text, words))
    except OSError as error:
        problem = error.strerror or str(error)
        raise ExportError(f"{error.filename or target}: {problem}") from error
    return exported


def _words(kind: str, name: str, formats: tuple[str, ...], version: str) -> dict[str, str]:
    return {
        "@name@": name,
        "@version@": version,
        "@formats@": ", ".join(formats),
        "@example@": formats[0] if formats else "",
        "@data@": DATA_FOLDERS[kind],
        "@rust_cases@": _rust_entries("cases/{}.jsonl", formats),
        "@rust_schemas@": _rust_entries(
            "schemas/{}.schema.json", tuple(name for name, _ in schemas())
        ),
    }


def _rust_entries(file: str, names: tuple[str, ...]) -> str:
    entry = '    ("{0}", include_str!("../data/{1}")),'
    return "\n".join(entry.format(name, file.format(name)) for name in names)


def _texts(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a kind of package, each with its path in the package."""
    folder = files("cdcwire_conformance.export").joinpath("packages").joinpath(kind)
    for path, file in _files_below(folder, ""):
        yield path.removesuffix(_STORED_AS_TEXT), file.read_text(encoding="utf-8")


def _files_below(folder: Traversable, above: str) -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda found: found.name):
        if each.is_dir():
            yield from _files_below(each, f"{above}{each.name}/")
        else:
            yield f"{above}{each.name}", each


def _filled(text: str, words: Mapping[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
