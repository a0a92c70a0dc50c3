"""A golden case from bytes: all members that can be derived, and a blank for each expected value.

The form of the events (kind, operation, names and types) is the one that the reference reads. The
values are left to the author, because an expected value never comes from the code under test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import parse_options
from cdcwire.files.local_files import file_inside, write_whole
from cdcwire.format import Format
from cdcwire.model.events import Event, Path
from cdcwire.model.text import Json, event_to_json, table_to_json
from cdcwire_conformance.corpus.case import Case, Expect, Level, MessageFiles
from cdcwire_conformance.corpus.rebuild import in_usual_order, json_text
from cdcwire_conformance.corpus.unfinished import (
    DEFAULT_LEVEL,
    blank_event,
    missing_of,
    title_of,
)
from cdcwire_conformance.property.cases import all_clauses, case_document, with_files
from cdcwire_generators.features import features_of_sample
from cdcwire_generators.samples import Sample

MOST_MESSAGES = 50
_FORBIDDEN = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Given:
    """The members that the author gives with the bytes. All others are derived or blank.

    ``since``: the version of the corpus.
    """

    since: str
    title: str | None = None
    level: Level | None = None
    expect: Expect | None = None
    origin: str = ""
    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseSkeleton:
    """The document of a new case, and the files of its bytes by their names.

    ``missing``: everything that its author still has to write. ``shown``: the clauses that the
    bytes show. ``problem``: the error of the reference, if it does not read them.
    """

    case: Case
    document: Mapping[str, Json]
    files: Mapping[str, bytes]
    missing: tuple[Path, ...]
    shown: tuple[str, ...]
    problem: str | None = None

    def write(self, root: FilePath) -> list[str]:
        """Write the case and the bytes that the folder does not have. Returns: names of files.

        Raises: OSError.
        """
        where = self.case.id.rpartition("/")[0]
        contents = {f"{where}/{name}": content for name, content in self.files.items()}
        contents[f"{self.case.id}.json"] = json_text(in_usual_order(self.document)).encode()
        written = []
        for name, content in contents.items():
            file = file_inside(root, name)
            if file.exists() and file.read_bytes() == content:
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, content)
            written.append(name)
        return written


class LackingError(ValueError):
    """The bytes can't be read without more than the bytes. ``option``: the option that gives it."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{problem}; give {option}, or --expect reject for a malformed message")


def name_from(stem: str) -> str:
    """Return a name that an id may have: lower case, with hyphens between its words."""
    return _FORBIDDEN.sub("-", stem.lower()).strip("-")


def case_skeleton(
    format_: Format, case_id: str, messages: Sequence[Message], context: Context, given: Given
) -> CaseSkeleton:
    """Return the skeleton of a case.

    Raises: OptionError for an option of another format; LackingError.
    """
    options = parse_options(format_.options, context.options)
    given_names = {name.rpartition(".")[2] for name in context.options}
    events, problem = _read(format_, messages, context)
    if problem is not None and given.expect is None:
        _check_context(format_, context, problem)
    expect = given.expect or ("accept" if problem is None else "reject")
    own = {name: value for name, value in options.items() if name in given_names}
    _, group, name = case_id.split("/")
    case = Case(
        id=case_id,
        format=format_.name,
        group=group,
        name=name,
        title=given.title or title_of(case_id),
        level=given.level or DEFAULT_LEVEL,
        expect=expect,
        clauses=given.clauses,
        origin=given.origin,
        since=given.since,
        messages=tuple(map(_without_headers, messages)),
        events=[blank_event(event_to_json(event)) for event in events],
        options=own,
        tables=[table_to_json(table) for table in context.tables],
        schemas=dict(context.schemas),
        blobs=dict(context.blobs),
        features=features_of_sample(
            Sample(own, context.tables, (), tuple(messages), tuple(events)), format_
        ),
    )
    case = _named(case)
    document = {**case_document(case), "clause": list(given.clauses), "origin": given.origin}
    if expect == "reject":
        del document["events"]
        document["error"] = {"clause": given.clauses[0]} if given.clauses else {}
    elif problem is not None:
        document["events"] = None
    shown = all_clauses(case)
    return CaseSkeleton(case, document, _files(case), missing_of(document), shown, problem)


def _read(
    format_: Format, messages: Iterable[Message], context: Context
) -> tuple[list[Event], str | None]:
    """Return the events of messages, and the error of the first one that can't be read."""
    events: list[Event] = []
    known = format_.prepared(messages, context)
    for message in messages:
        try:
            events += format_.to_events(message, context=known)
        except DecodeError as error:
            return events, str(error)
    return events, None


def _check_context(format_: Format, context: Context, problem: str) -> None:
    """Check that the context has what the format needs, before a case says that it is malformed."""
    if format_.schemas is not None and not context.schemas:
        raise LackingError("--schema", problem)
    if format_.needs_tables and not context.tables:
        raise LackingError("--ddl or --tables", problem)


def _without_headers(message: Message) -> Message:
    return replace(message, headers=()) if isinstance(message, KafkaMessage) else message


def _named(case: Case) -> Case:
    """Return a case with the names of its files: one value without key has the short one."""
    message = case.messages[0]
    is_value = isinstance(message, StoredFile) or message.key is None
    if len(case.messages) > 1 or not is_value or message.value is None:
        return with_files(case)
    path = message.path if isinstance(message, StoredFile) else None
    return replace(with_files(case), files=(MessageFiles(None, f"{case.name}.bin", path),))


def _files(case: Case) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for names, message in zip(case.files, case.messages, strict=True):
        key = message.key if isinstance(message, KafkaMessage) else None
        for name, content in ((names.key, key), (names.value, message.value)):
            if name is not None and content is not None:
                contents[name] = content
    return contents | {name: case.blobs[at] for at, name in case.blob_files.items()}
