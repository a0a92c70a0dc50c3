"""Requests: start, decode, encode, stop. The runner sends them, and testees in Python read them.

A request is one line. Everything outside ASCII is escaped, so that a testee which splits its input
at the line ends of Unicode reads whole lines all the same. Members that a case does not need are
missing. A wrong request gives one error with a text.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias, TypeVar

from cdcwire.compressions import known_compressions
from cdcwire.console.problems import json_problem, no_constant
from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.files.json_messages import (
    bytes_from_json,
    bytes_to_json,
    json_line,
    message_from_json,
    message_to_json,
)
from cdcwire.model.events import Event, Table
from cdcwire.model.text import Json, event_from_json, table_from_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case

PROTOCOL_VERSION = 1

Command: TypeAlias = Literal["decode", "encode"]

START_LINE = b'{"cmd":"start","protocol":%d}\n' % PROTOCOL_VERSION
STOP_LINE = b'{"cmd":"stop"}\n'


# The feature of cases whose messages are read with the definitions of their tables.
USES_DEFINITIONS = "definitions"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a testee, not yet numbered. ``body`` has all members but cmd, seq, format."""

    cmd: Command
    format: str
    body: Mapping[str, Json]

    def document(self, seq: int) -> dict[str, Json]:
        """Return the request as a JSON object with this sequence number."""
        return {"cmd": self.cmd, "seq": seq, "format": self.format, **self.body}

    def line(self, seq: int) -> bytes:
        """Return the request as a line of JSON with this sequence number."""
        return json_line(self.document(seq))


def decode_request(case: Case) -> Request:
    """Return the request to decode the messages of a case."""
    body = _context_members(case)
    if not needs_tables(case.format) and USES_DEFINITIONS not in case.features:
        body.pop("tables", None)
    body["messages"] = [message_to_json(message) for message in case.messages]
    return Request("decode", case.format, body)


def encode_request(case: Case) -> Request:
    """Return the request to encode the events of a case."""
    body = _context_members(case)
    body["events"] = case.events
    return Request("encode", case.format, body)


@cache
def needs_tables(format_name: str) -> bool:
    """Return whether a decoder of this format needs table definitions."""
    return format_name not in FORMAT_NAMES or get_format(format_name).needs_tables


def _context_members(case: Case) -> dict[str, Json]:
    """Return what the bytes don't say."""
    members: dict[str, Json] = {}
    if case.options:
        members["options"] = dict(case.options)
    if case.tables:
        members["tables"] = case.tables
    if case.schemas:
        members["schemas"] = dict(case.schemas)
    if case.blobs:
        members["blobs"] = {location: bytes_to_json(blob) for location, blob in case.blobs.items()}
    return members


_Read = TypeVar("_Read")

_COMMANDS = ("start", "decode", "encode", "stop")
_LONGEST_SHOWN = 80
_DECODER = json.JSONDecoder(parse_constant=no_constant)
_WITHOUT_REFERENCES = 2  # a version of marshal that gives equal bytes for equal values


class RequestError(ValueError):
    """A request breaks the protocol. ``seq`` is its number, where it has one."""

    def __init__(self, problem: str, seq: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.seq = seq

    def answer(self) -> dict[str, Json]:
        """Return the answer to such a request."""
        return {"seq": self.seq, "error": {"problem": self.problem}}


def parse_request(line: bytes) -> dict[str, Json]:
    """Return the request of a line. Raises: RequestError."""
    request = parse_object(line)
    seq = request.get("seq")
    known_seq = seq if type(seq) is int else None
    cmd = request.get("cmd")
    if cmd not in _COMMANDS:
        raise RequestError(f"cmd is one of {', '.join(_COMMANDS)}; found {_shown(cmd)}", known_seq)
    if cmd in ("decode", "encode"):
        if known_seq is None:
            raise RequestError(f"seq is an integer; found {_shown(seq)}")
        check_members(request, cmd)
    return request


def parse_object(line: bytes) -> dict[str, Json]:
    """Return the JSON object of a line. Raises: RequestError."""
    try:
        request = _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the request is {json_problem(error)}") from error
    if not isinstance(request, dict):
        raise RequestError(f"the request is an object; found {_shown(request)}")
    return request


def check_members(request: Mapping[str, Json], cmd: str) -> None:
    """Check format and members of a decode or encode request. Raises: RequestError."""
    seq = request.get("seq")
    name = request.get("format")
    if name not in FORMAT_NAMES:
        known = ", ".join(FORMAT_NAMES)
        raise RequestError(f"format is one of {known}; found {_shown(name)}", seq)
    items = "messages" if cmd == "decode" else "events"
    for member, wanted in ((items, list), ("tables", list)):
        if not isinstance(request.get(member, []), wanted) or (
            member == items and items not in request
        ):
            raise RequestError(f"{member} is a list", seq)
    for member in ("options", "schemas", "blobs"):
        if not isinstance(request.get(member, {}), dict):
            raise RequestError(f"{member} is an object", seq)
    if not all(isinstance(value, str) for value in request.get("schemas", {}).values()):
        raise RequestError("schemas has a text for each id", seq)
    if not all(isinstance(v, (str, int, bool)) for v in request.get("options", {}).values()):
        raise RequestError("an option is text, an integer, true or false", seq)


def context_of(request: Mapping[str, Json]) -> Context:
    """Return the parts of a request other than the bytes. Raises: RequestError.

    Malformed cases have the context of the case that they come from, so that of the last request is
    kept.
    """
    return _reading(lambda: _context(_marshalled(request)), request)


def _marshalled(request: Mapping[str, Json]) -> bytes:
    """Return the members of a context as bytes, in which ``1`` differs from ``true``."""
    members = [request.get(name) for name in ("options", "tables", "schemas", "blobs")]
    try:
        return marshal.dumps(members, _WITHOUT_REFERENCES)
    except ValueError:
        raise ValueError("the request is nested too deeply") from None


@lru_cache(maxsize=1)
def _context(marshalled: bytes) -> Context:
    options, tables, schemas, blobs = marshal.loads(marshalled)
    return Context(
        options or {},
        tuple(
            table_from_json(table, ("tables", index)) for index, table in enumerate(tables or ())
        ),
        schemas or {},
        {
            location: bytes_from_json(blob, f"blobs.{location}") or b""
            for location, blob in (blobs or {}).items()
        },
        compressions=known_compressions(),
    )


def messages_of(request: Mapping[str, Json]) -> list[Message]:
    """Return the messages of a decode request. Raises: RequestError."""
    return _reading(lambda: list(map(message_from_json, request["messages"])), request)


def read_events(documents: Sequence[Json], tables: Sequence[Table]) -> list[Event]:
    """Return the events of their text forms. Raises: TextFormError."""
    return [
        event_from_json(document, tables, ("events", index))
        for index, document in enumerate(documents)
    ]


def _reading(read: Callable[[], _Read], request: Mapping[str, Json]) -> _Read:
    try:
        return read()
    except (ValueError, RecursionError) as error:
        raise RequestError(_shown(str(error) or "nested too deeply"), request.get("seq")) from error


def _shown(found: Json) -> str:
    text = found if isinstance(found, str) else json.dumps(found)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
