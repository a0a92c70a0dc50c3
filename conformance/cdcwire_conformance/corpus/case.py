"""One golden case: its bytes, what they mean, and how much a decoder owes to it.

A case is a JSON file and the files of bytes next to it. ``schemas/case.schema.json`` says which
form its members have; ``check`` applies it, and checks that sums agree and clauses exist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.compressions import known_compressions
from cdcwire.console.problems import json_problem, unique_members
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Path
from cdcwire.model.text import Json, TextFormError, table_from_json
from cdcwire_conformance.corpus.files import CorpusFiles
from cdcwire_conformance.corpus.unfinished import missing_of, missing_text

Level: TypeAlias = Literal["must", "should", "may", "unspecified"]
Expect: TypeAlias = Literal["accept", "reject", "encode"]


class CorpusError(ValueError):
    """A file of the corpus is not as it should be. ``where`` is the file, below the golden root."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(problem, where)
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


class UnfinishedError(CorpusError):
    """A case lacks members that only its author knows. ``missing``: all of them, as paths."""

    def __init__(self, missing: tuple[Path, ...], where: str) -> None:
        super().__init__(f"the case is not finished; missing: {missing_text(missing)}", where)
        self.missing = missing

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.missing, self.where)


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
    to sum. ``files`` has an item per message. Only derived cases have a ``fault``.
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
        """Return the context of the case. Raises: CorpusError."""
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
        return json.loads(files.read(where).decode("utf-8"), object_pairs_hook=unique_members)
    except OSError as error:
        raise CorpusError(f"can't be read: {error.strerror}", where) from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"byte {error.start} is not UTF-8", where) from error
    except json.JSONDecodeError as error:
        raise CorpusError(json_problem(error), where) from error
    except ValueError as error:
        raise CorpusError(str(error), where) from error


def case_from_json(document: Json, corpus: CorpusFiles, where: str) -> Case:
    """Return a case from its document and the files of bytes next to it.

    The form of the members is the business of the JSON Schema, which ``corpus check`` applies.
    Raises: UnfinishedError for missing members; CorpusError for an id of another place, or a
    missing file of bytes.
    """
    try:
        return _case(document, corpus, where)
    except KeyError as error:
        raise CorpusError(f"member {error.args[0]!r} is missing", where) from None
    except (AttributeError, TypeError) as error:
        problem = "a member has the wrong form; `cdcwire corpus check` names it"
        raise CorpusError(problem, where) from error


def _case(document: Json, corpus: CorpusFiles, where: str) -> Case:
    missing = missing_of(document)
    if missing:
        raise UnfinishedError(missing, where)
    case_id = document["id"]
    if f"{case_id}.json" != where:
        raise CorpusError(f"the id is {case_id!r}; the file's place says {where[:-5]!r}", where)
    format_name, group, name = case_id.split("/")
    expect: Expect = document["expect"]
    files = tuple(
        MessageFiles(None if "path" in item else item["key"], item["value"], item.get("path"))
        for item in document["messages"]
    )
    blob_files = document.get("blobs", {})
    return Case(
        id=case_id,
        format=format_name,
        group=group,
        name=name,
        title=document["title"],
        level=document["level"],
        expect=expect,
        clauses=tuple(document["clause"]),
        origin=document["origin"],
        since=document["since"],
        messages=tuple(_read_message(item, corpus, where) for item in files),
        events=document["events"] if expect != "reject" else None,
        error=document["error"] if expect == "reject" else None,
        options=document.get("options", {}),
        tables=document.get("tables", []),
        schemas=document.get("schemas", {}),
        blobs={uri: _read_bytes(corpus, name, where) for uri, name in blob_files.items()},
        features=tuple(document.get("features", ())),
        choice=document.get("choice"),
        canonical=document.get("canonical", False),
        bugs=tuple(document.get("cases", ())),
        note=document.get("note"),
        sha256=document.get("sha256", {}),
        files=files,
        blob_files=blob_files,
    )


def _read_message(files: MessageFiles, corpus: CorpusFiles, where: str) -> Message:
    key, value = (
        None if name is None else _read_bytes(corpus, name, where)
        for name in (files.key, files.value)
    )
    if files.path is not None and value is not None:
        return StoredFile(files.path, value)
    return KafkaMessage(key, value)


def _read_bytes(corpus: CorpusFiles, name: str, where: str) -> bytes:
    try:
        return corpus.read(beside(where, name))
    except OSError as error:
        raise CorpusError(f"{name} can't be read: {error.strerror}", where) from error


def beside(where: str, name: str) -> str:
    """Return the path of a file in the folder of the file ``where``."""
    return f"{where.rpartition('/')[0]}/{name}"
