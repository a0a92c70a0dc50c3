"""Reading a request, for testees in Python: what is wrong with it is one error with a text."""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from cdcwire.compressions import known_compressions
from cdcwire.console.problems import json_problem, no_constant
from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.files.json_messages import bytes_from_json, message_from_json
from cdcwire.model.events import Event, Table
from cdcwire.model.text import Json, event_from_json, table_from_json
from cdcwire.registry import FORMAT_NAMES

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
