"""Where the corpus is, and which cases it has.

The golden folder is data. It stands at the top of a checkout, and inside this package when
installed; it is looked for in these two places only. Cases are sorted by id everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case, CorpusError, read_case, read_json

INDEX_FILE = "index.json"
RETIRED_FILE = "retired.json"
VERSION_FILE = "VERSION"
WITNESSES_FILE = "witnesses.json"

_CHECKOUT = Path(__file__).resolve().parents[3] / "golden"


def golden_root() -> Path:
    """Return the golden folder, of the wheel or of the checkout. Raises: CorpusError."""
    installed = Path(str(files("cdcwire_conformance"))) / "golden"
    for root in (installed, _CHECKOUT):
        if root.is_dir():
            return root
    raise CorpusError("the corpus is neither in the package nor in a checkout", "golden")


def corpus_version(root: Path | None = None) -> str:
    """Return the version of the corpus, which is not that of the software. Raises: CorpusError."""
    file = (root or golden_root()) / VERSION_FILE
    try:
        version = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError("the version of the corpus can't be read", VERSION_FILE) from error
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise CorpusError(f"{version!r} is no version of three numbers", VERSION_FILE)
    return version


def read_index(root: Path | None = None) -> Mapping[str, Json]:
    """Return the document of ``index.json``. Raises: CorpusError."""
    found = read_json((root or golden_root()) / INDEX_FILE, INDEX_FILE)
    if not isinstance(found, Mapping):
        raise CorpusError("the index is an object", INDEX_FILE)
    return found


def case_sums(root: Path | None = None) -> dict[str, str]:
    """Return the sum of each case, by its id, as the index has it. Raises: CorpusError."""
    return {case["id"]: case["sha256"] for case in read_index(root)["cases"]}


def retired_ids(root: Path | None = None) -> Mapping[str, str]:
    """Return the ids that were given up, with the reason of each. Raises: CorpusError."""
    file = (root or golden_root()) / RETIRED_FILE
    found = read_json(file, RETIRED_FILE) if file.exists() else {}
    if not isinstance(found, Mapping) or not all(isinstance(v, str) for v in found.values()):
        raise CorpusError("ids with a reason each", RETIRED_FILE)
    return found


def case_files(root: Path, formats: Iterable[str] | None = None) -> Iterator[Path]:
    """Yield the JSON files of the cases, sorted by id."""
    wanted = None if formats is None else set(formats)
    found = [
        (file.relative_to(root).with_suffix("").as_posix(), file)
        for file in root.glob("*/*/*.json")
        if wanted is None or file.relative_to(root).parts[0] in wanted
    ]
    for _, file in sorted(found):
        yield file


def load_cases(
    formats: Iterable[str] | None = None, pattern: str | None = None, root: Path | None = None
) -> tuple[Case, ...]:
    """Return the stored cases of these formats (default: all) whose id fits ``pattern``.

    ``pattern``: see ``id_fits``. Nothing is derived here; see ``derive``. Raises: CorpusError.
    """
    if root is None:
        root = golden_root()
    cases = _load(root, None if formats is None else tuple(sorted(set(formats))))
    return tuple(case for case in cases if pattern is None or id_fits(case.id, pattern))


@cache
def _load(root: Path, formats: tuple[str, ...] | None) -> tuple[Case, ...]:
    return tuple(read_case(root, file) for file in case_files(root, formats))


def forget_cases() -> None:
    """Read the files again when they are asked for next. For those who write cases."""
    _load.cache_clear()


def load_case(case_id: str, root: Path | None = None) -> Case:
    """Return one stored case. Raises: CorpusError when there is none, saying what became of it."""
    if root is None:
        root = golden_root()
    file = root / f"{case_id}.json"
    if re.fullmatch(r"[^/]+/[^/]+/[^/]+", case_id) and ".." not in case_id and file.is_file():
        return read_case(root, file)
    reason = retired_ids(root).get(case_id)
    if reason is not None:
        raise CorpusError(f"this case is retired: {reason}", case_id)
    raise CorpusError("there is no such case; `cdcwire corpus list` names them", case_id)


def id_fits(case_id: str, pattern: str) -> bool:
    """Return whether an id is meant by a pattern.

    A pattern with ``*``, ``?`` or ``[`` is a shell pattern for the whole id, where ``*`` crosses
    slashes. Any other is the id, or its beginning up to a slash or an ``@``.
    """
    if any(sign in pattern for sign in "*?["):
        return fnmatchcase(case_id, pattern)
    begin = pattern.rstrip("/")
    return case_id == begin or case_id.startswith((f"{begin}/", f"{begin}@"))
