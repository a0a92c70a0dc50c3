"""The files of the corpus that the tool makes: sums, hexdumps, the index, the form of the JSON.

``made_files`` says what they are to be, and writes nothing: ``rebuild`` writes the difference, and
``check`` reports it. One corpus gives the same bytes on every Python. In its JSON, an object or a
list is written on one line if it fits, otherwise with one member per line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cdcwire.console.hexdump import hexdump_lines
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import Message, StoredFile
from cdcwire.files.local_files import file_inside, write_whole
from cdcwire.format import Format
from cdcwire.model.text import Json, TextFormError, event_from_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import (
    Case,
    CorpusError,
    UnfinishedError,
    beside,
    case_from_json,
    read_json,
)
from cdcwire_conformance.corpus.files import CorpusFiles, FolderFiles
from cdcwire_conformance.corpus.schemas import schema
from cdcwire_conformance.corpus.store import (
    INDEX_FILE,
    case_files,
    corpus_version,
    forget_cases,
    golden_folder,
)
from cdcwire_conformance.corpus.unfinished import completed

LINE_LENGTH = 100


def json_text(document: Json) -> str:
    """Return the text of a document, with a newline at its end."""
    return _text(document, "", 0) + "\n"


def _text(document: Json, indent: str, taken: int) -> str:
    """Return ``document``, whose line has ``taken`` characters around it."""
    flat = json.dumps(document, ensure_ascii=False)
    if len(indent) + taken + len(flat) <= LINE_LENGTH or not document:
        return flat
    inner = indent + "  "
    if isinstance(document, Mapping):
        names = [json.dumps(name, ensure_ascii=False) + ": " for name in document]
        members = [
            name + _text(member, inner, len(name) + 1)
            for name, member in zip(names, document.values(), strict=True)
        ]
        return _lines("{", members, "}", indent)
    if isinstance(document, list):
        return _lines("[", [_text(member, inner, 1) for member in document], "]", indent)
    return flat


def _lines(begin: str, members: list[str], end: str, indent: str) -> str:
    inner = f",\n{indent}  ".join(members)
    return f"{begin}\n{indent}  {inner}\n{indent}{end}"


_MOST_LINES = 160  # of a hexdump, for each part of a message; `cdcwire explain` prints all


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The files that a rebuild wrote and removed, as paths below the golden root.

    ``unfinished``: the cases that it left as they are, with everything that they lack.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unfinished: tuple[UnfinishedError, ...] = ()


def rebuild(root: Path | None = None, accept_new: bool = False) -> Rebuilt:
    """Bring the made files up to date.

    ``accept_new``: bytes that differ from their sum are taken for right, and the sum is replaced.
    Raises: CorpusError; then nothing was written.
    """
    root = golden_folder(root)
    corpus = FolderFiles(root)
    unfinished: list[UnfinishedError] = []
    wanted = made_files(corpus, accept_new, unfinished.append)
    written = [name for name, content in wanted.items() if read_if_there(corpus, name) != content]
    removed = stale_hexdumps(corpus, wanted)
    for name in written:
        write_whole(file_inside(root, name), wanted[name])
    for name in removed:
        (root / name).unlink()
    forget_cases()
    return Rebuilt(tuple(written), tuple(removed), tuple(unfinished))


def made_files(
    corpus: FolderFiles,
    accept_new: bool = False,
    report: Callable[[UnfinishedError], None] = lambda unfinished: None,
) -> dict[str, bytes]:
    """Return the content of every made file by its name. An unfinished case has none.

    Raises: CorpusError.
    """
    made: dict[str, str] = {}
    cases = []
    version = corpus_version(corpus.root)
    for where in case_files(corpus):
        document = read_json(corpus, where)
        try:
            document = completed(document, where, version, corpus)
            case = case_from_json(document, corpus, where)
        except UnfinishedError as error:
            report(error)
            continue
        _check_events(case)
        cases.append(case)
        made[where] = case_text(document, sums_of(case, corpus, accept_new))
        made[f"{case.id}.hex"] = case_hexdump(case)
    made[INDEX_FILE] = index_text(version, cases, made)
    return {name: text.encode() for name, text in made.items()}


def _check_events(case: Case) -> None:
    tables = case.context().tables
    for index, event in enumerate(case.events or ()):
        try:
            event_from_json(event, tables, ("events", index))
        except TextFormError as error:
            raise CorpusError(str(error), f"{case.id}.json") from None


def stale_hexdumps(corpus: CorpusFiles, made: Container[str]) -> list[str]:
    """Return the hexdumps that belong to no case."""
    return [name for name in corpus.names() if name.endswith(".hex") and name not in made]


def case_text(document: Mapping[str, Json], sums: Mapping[str, str]) -> str:
    """Return the text of a case file: its members in the order of the schema, with these sums."""
    return json_text(in_usual_order({**document, "sha256": dict(sums)}))


def in_usual_order(members: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members of a case in the order of the schema."""
    usual = schema("case")["properties"]
    return {name: members[name] for name in (*usual, *members) if name in members}


def case_hexdump(case: Case) -> str:
    """Return the annotated hexdump of every message of a case. Raises: CorpusError."""
    lines: list[str] = []
    for number, message in enumerate(case.messages):
        lines += _heading(case, number)
        explanation = _with_expected_error(explain_message(case, message), case, number)
        lines += hexdump_lines(explanation, message, most_lines=_MOST_LINES)
        lines += [f"warning: {ascii(warning)[1:-1]}" for warning in explanation.warnings]
    for location, raw in case.blobs.items():
        lines += ["", f"blob {location!a}"]
        lines += hexdump_lines(Explanation(()), StoredFile(location, raw))
    return "\n".join(lines) + "\n"


def _heading(case: Case, number: int) -> list[str]:
    """Return the lines above a message: its number among several, and the path of a file."""
    message = case.messages[number]
    words = [f"message {number}"] if len(case.messages) > 1 else []
    words += [f"path {message.path!a}"] if isinstance(message, StoredFile) else []
    return [""] * (number > 0) + [", ".join(words)] * bool(words)


def _with_expected_error(explanation: Explanation, case: Case, number: int) -> Explanation:
    """Return the explanation with the error of the case, where its bytes alone do not show it."""
    error = case.error or {}
    if explanation.error or "offset" not in error or error.get("message", 0) != number:
        return explanation
    path = tuple(error.get("path", ()))
    expected = DecodeError("to be rejected here", error["offset"], error["clause"], path)
    return Explanation(explanation.spans, expected, explanation.warnings)


def explain_message(case: Case, message: Message) -> Explanation:
    """Return the spans of a message of a case.

    Where an option needs functions that the codecs do not have (a compression), there are none:
    hexdumps must not depend on what else is installed.
    """
    format_ = format_of(case)
    try:
        context = replace(case.context(), compressions={})
        return format_.explain(message, context=format_.prepared(case.messages, context))
    except CorpusError:
        raise
    except ValueError as error:  # of the options; the explanation reports broken bytes
        return Explanation((), warnings=(f"not explained: {error}",))


def format_of(case: Case) -> Format:
    """Return the format of a case. Raises: CorpusError."""
    if case.format not in FORMAT_NAMES:
        raise CorpusError(f"format {case.format!r} is not known", f"{case.id}.json")
    return get_format(case.format)


def sums_of(case: Case, corpus: CorpusFiles, accept_new: bool = False) -> dict[str, str]:
    """Return the sums of a case's files of bytes. Raises: CorpusError when one has changed."""
    sums = {}
    for name in bytes_files(case):
        found = hashlib.sha256(corpus.read(beside(case.id, name))).hexdigest()
        if not accept_new and case.sha256.get(name, found) != found:
            raise CorpusError(
                f"{name} differs from its sum, and the bytes of a case never change "
                "(--accept-new takes them for right)",
                f"{case.id}.json",
            )
        sums[name] = found
    return sums


def bytes_files(case: Case) -> list[str]:
    """Return the names of the files of bytes of a case, each once, in order of use."""
    names = [name for item in case.files for name in (item.key, item.value) if name is not None]
    return list(dict.fromkeys([*names, *case.blob_files.values()]))


def index_text(version: str, cases: Iterable[Case], made: Mapping[str, str]) -> str:
    """Return the text of the index. ``made`` has the text of each case's JSON."""
    return index_of(version, [_index_entry(case, made[f"{case.id}.json"]) for case in cases])


def index_of(version: str, entries: Iterable[Json]) -> str:
    """Return the text of an index, an entry a line: a new case is one line in a difference."""
    lines = ",\n".join("    " + json.dumps(entry, ensure_ascii=False) for entry in entries)
    return f'{{\n  "corpus": "{version}",\n  "cases": [\n{lines}\n  ]\n}}\n'


def _index_entry(case: Case, text: str) -> dict[str, Json]:
    return {
        "id": case.id,
        "level": case.level,
        "expect": case.expect,
        "clause": list(case.clauses),
        "features": list(case.features),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def read_if_there(corpus: CorpusFiles, name: str) -> bytes | None:
    """Return the content of a file, or None if the corpus does not have it."""
    return corpus.read(name) if name in corpus else None
