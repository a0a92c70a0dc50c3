"""One golden case: its bytes, what they mean, and how much a decoder owes to it.

A case is a JSON file and the files of bytes beside it. Reading checks the shape of every member, so
that a slip in a case file is an error that names file and member and never a strange test result.
Whether sums agree and clauses exist is the business of ``check``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from cdcwire.core.format import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.model.text import Json, TextFormError, table_from_json
from cdcwire_conformance.compressions import known_compressions
from cdcwire_conformance.corpus.files import CorpusFiles

Level: TypeAlias = Literal["must", "should", "may", "unspecified"]
Expect: TypeAlias = Literal["accept", "reject", "encode"]

# In the order in which a case file has them.
MEMBERS = (
    *("id", "title", "level", "expect", "clause", "origin", "since", "choice", "options"),
    *("tables", "schemas", "blobs", "features", "note", "cases", "canonical"),
    *("messages", "sha256", "events", "error"),
)


class CorpusError(ValueError):
    """A file of the corpus is not as it should be. ``where`` is the file, below the golden root."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(problem, where)
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


@dataclass(frozen=True, slots=True)
class MessageFiles:
    """The names of the files of one message, in the folder of the case. None is Kafka's null."""

    key: str | None
    value: str | None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a derived case was made wrong: the part of its message, and the byte if there is one.

    A decoder may notice it elsewhere.
    """

    part: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Case:
    """A golden case, or one derived from it (``derived`` is then the part of the id after ``@``).

    ``events`` (accept and encode) is in the text form; ``error`` (reject) has some of the members
    message, offset, path and clause. ``canonical``: the reference writes exactly these bytes from
    the events. ``bugs``: the known bugs of real decoders that the case shows. ``sha256``: file name
    to sum. ``files`` runs beside ``messages``. ``fault`` is there for derived cases only.
    """

    id: str
    format: str
    group: str
    name: str
    title: str
    level: Level
    expect: Expect
    clauses: tuple[str, ...]
    origin: str
    since: str
    messages: tuple[Message, ...]
    events: list[Json] | None = None
    error: Mapping[str, Json] | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    tables: list[Json] = field(default_factory=list)
    schemas: Mapping[str, str] = field(default_factory=dict)
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    choice: str | None = None
    canonical: bool = False
    bugs: tuple[str, ...] = ()
    note: str | None = None
    sha256: Mapping[str, str] = field(default_factory=dict)
    files: tuple[MessageFiles, ...] = ()
    blob_files: Mapping[str, str] = field(default_factory=dict)
    derived: str | None = None
    fault: Fault | None = None

    def context(self) -> Context:
        """Return what a codec is told beside the bytes. Raises: CorpusError."""
        try:
            tables = tuple(
                table_from_json(table, ("tables", index)) for index, table in enumerate(self.tables)
            )
        except TextFormError as error:
            raise CorpusError(str(error), f"{self.id}.json") from error
        return Context(
            dict(self.options),
            tables,
            dict(self.schemas),
            dict(self.blobs),
            compressions=known_compressions(),
        )


def read_case(files: CorpusFiles, where: str) -> Case:
    """Return the case of the JSON file ``where``: ``craft/values/year-2024.json``.

    Raises: CorpusError, naming the file and the member.
    """
    return case_from_json(read_json(files, where), files, where)


def read_json(files: CorpusFiles, where: str) -> Json:
    """Return the content of a JSON file. Raises: CorpusError; a member given twice is an error."""
    try:
        return json.loads(files.read(where).decode("utf-8"), object_pairs_hook=_unique)
    except OSError as error:
        raise CorpusError(f"can't be read: {error.strerror}", where) from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"byte {error.start} is not UTF-8", where) from error
    except json.JSONDecodeError as error:
        raise CorpusError(f"line {error.lineno}: {error.msg}", where) from error
    except ValueError as error:
        raise CorpusError(str(error), where) from error


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"member {twice!r} is there twice")
    return members


def case_from_json(document: Json, corpus: CorpusFiles, where: str) -> Case:
    """Return a case from its document and the files of bytes beside it. Raises: CorpusError."""
    members = _Members(document, where)
    members.only(MEMBERS)
    case_id = members.text("id")
    if f"{case_id}.json" != where:
        raise CorpusError(f"the id is {case_id!r}; the file's place says {where[:-5]!r}", where)
    parts = case_id.split("/")
    if len(parts) != 3:
        raise CorpusError("an id has three parts: format/group/name", where)
    expect: Expect = members.word("expect", get_args(Expect))
    files = tuple(_message_files(item, where) for item in members.items("messages"))
    if not files:
        raise CorpusError("messages: there is none", where)
    blob_files = members.texts_by_name("blobs")
    case = Case(
        id=case_id,
        format=parts[0],
        group=parts[1],
        name=parts[2],
        title=members.text("title"),
        level=members.word("level", get_args(Level)),
        expect=expect,
        clauses=members.texts("clause"),
        origin=members.text("origin"),
        since=members.text("since"),
        messages=tuple(_read_message(item, corpus, where) for item in files),
        events=members.items("events") if expect != "reject" else None,
        error=members.object("error") if expect == "reject" else None,
        options=members.options(),
        tables=members.items("tables", required=False),
        schemas=members.texts_by_name("schemas"),
        blobs={uri: _read_bytes(corpus, name, where) for uri, name in blob_files.items()},
        features=members.texts("features", required=False),
        choice=members.optional_text("choice"),
        canonical=members.truth("canonical"),
        bugs=members.texts("cases", required=False),
        note=members.optional_text("note"),
        sha256=members.texts_by_name("sha256"),
        files=files,
        blob_files=blob_files,
    )
    _check_together(case, members, where)
    return case


def _check_together(case: Case, members: _Members, where: str) -> None:
    if not case.clauses:
        raise CorpusError("clause: a case names one at least", where)
    if case.level == "may" and case.choice is None:
        raise CorpusError("choice: a case of level 'may' names one", where)
    if case.level in ("must", "should") and case.choice is not None:
        raise CorpusError(f"choice: a case of level {case.level!r} leaves none", where)
    unfit = "events" if case.expect == "reject" else "error"
    if unfit in members.document:
        raise CorpusError(f"a case to {case.expect} has no member {unfit!r}", where)
    if case.error is not None:
        _check_error(case, case.error, where)


def _check_error(case: Case, error: Mapping[str, Json], where: str) -> None:
    members = _Members(error, where, "error.")
    members.only(("message", "part", "offset", "path", "clause"))
    for name in ("message", "offset"):
        number = error.get(name, 0)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise CorpusError(f"error.{name} is a number from 0", where)
    if error.get("message", 0) >= len(case.messages):
        raise CorpusError("error.message is not the number of a message", where)
    if error.get("part", "value") not in ("key", "value"):
        raise CorpusError("error.part is one of key, value", where)
    path = error.get("path", [])
    if not isinstance(path, list) or not all(type(step) in (str, int) for step in path):
        raise CorpusError("error.path is a list of names and numbers", where)
    if members.text("clause") not in case.clauses:
        raise CorpusError("error.clause is none of the clauses of the case", where)


def _message_files(document: Json, where: str) -> MessageFiles:
    members = _Members(document, where, "messages.")
    if "path" in members.document:
        members.only(("path", "value"))
        return MessageFiles(None, members.text("value"), members.text("path"))
    members.only(("key", "value"))
    return MessageFiles(members.text_or_null("key"), members.text_or_null("value"))


def _read_message(files: MessageFiles, corpus: CorpusFiles, where: str) -> Message:
    key, value = (
        None if name is None else _read_bytes(corpus, name, where)
        for name in (files.key, files.value)
    )
    if files.path is not None and value is not None:
        return StoredFile(files.path, value)
    return KafkaMessage(key, value)


def _read_bytes(corpus: CorpusFiles, name: str, where: str) -> bytes:
    if "/" in name or "\\" in name or not name.endswith(".bin"):
        raise CorpusError(f"{name!r} is not the name of a .bin file beside the case", where)
    try:
        return corpus.read(beside(where, name))
    except OSError as error:
        raise CorpusError(f"{name} can't be read: {error.strerror}", where) from error


def beside(where: str, name: str) -> str:
    """Return the path of a file in the folder of the file ``where``."""
    return f"{where.rpartition('/')[0]}/{name}"


class _Members:
    """The members of a JSON object, each asked for by the type that it has to have."""

    def __init__(self, document: Json, where: str, prefix: str = "") -> None:
        if not isinstance(document, Mapping):
            raise CorpusError(f"{prefix or 'a case '}is an object", where)
        self.document: Mapping[str, Any] = document
        self.where = where
        self.prefix = prefix

    def only(self, names: tuple[str, ...]) -> None:
        for name in self.document:
            if name not in names:
                raise self._error(name, "is not known")

    def text(self, name: str) -> str:
        found = self.document.get(name)
        if not isinstance(found, str) or not found:
            raise self._error(name, "is to be there, as text")
        return found

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if name in self.document else None

    def text_or_null(self, name: str) -> str | None:
        if name not in self.document:
            raise self._error(name, "is to be there, as text or null")
        return None if self.document[name] is None else self.text(name)

    def word(self, name: str, allowed: tuple[Any, ...]) -> Any:
        found = self.text(name)
        if found not in allowed:
            raise self._error(name, f"is {found!r}, not one of {', '.join(allowed)}")
        return found

    def truth(self, name: str) -> bool:
        found = self.document.get(name, False)
        if not isinstance(found, bool):
            raise self._error(name, "is true or false")
        return found

    def items(self, name: str, required: bool = True) -> list[Json]:
        found = self.document.get(name, None if required else [])
        if not isinstance(found, list):
            raise self._error(name, "is to be there, as a list" if required else "is a list")
        return found

    def texts(self, name: str, required: bool = True) -> tuple[str, ...]:
        found = self.items(name, required)
        if not all(isinstance(item, str) and item for item in found):
            raise self._error(name, "is a list of texts")
        return tuple(found)

    def object(self, name: str) -> Mapping[str, Json]:
        found = self.document.get(name)
        if not isinstance(found, Mapping):
            raise self._error(name, "is to be there, as an object")
        return found

    def texts_by_name(self, name: str) -> Mapping[str, str]:
        found: Any = self.document.get(name, {})
        if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
            raise self._error(name, "is an object of texts")
        return dict(found)

    def options(self) -> Mapping[str, OptionValue]:
        found: Any = self.document.get("options", {})
        if not isinstance(found, dict):
            raise self._error("options", "is an object")
        for name, value in found.items():
            if not isinstance(value, (str, int, bool)):
                raise self._error(f"options.{name}", "is text, a whole number, true or false")
        return dict(found)

    def _error(self, name: str, problem: str) -> CorpusError:
        return CorpusError(f"{self.prefix}{name} {problem}", self.where)
