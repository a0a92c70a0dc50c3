"""Reading what a testee answers.

Only what the runner needs to go on is checked here, and always; ``check`` compares whole answers
with the schemas, when asked. The judge checks the inside of the events.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from cdcwire.console.problems import InvalidJsonError, json_problem, unique_members
from cdcwire.console.visible import said, shortened, visible
from cdcwire.core.message import Message
from cdcwire.files.json_messages import message_from_json
from cdcwire.model.text import Json
from cdcwire_conformance.protocol.requests import PROTOCOL_VERSION


class ProtocolError(ValueError):
    """An answer breaks the protocol. The text says how, and shows the answer in part."""

    def __init__(self, problem: str) -> None:
        super().__init__(shortened(problem))


@dataclass(frozen=True, slots=True)
class Claim:
    """A testee's answer about one format."""

    encode: bool = False
    without: frozenset[str] = frozenset()
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Description:
    """A testee by its own words.

    ``formats`` None: it was not asked, and all count as claimed. ``ahead``: it may get requests
    before it has answered the ones before them.
    """

    name: str
    version: str = ""
    language: str = ""
    formats: Mapping[str, Claim] | None = None
    ahead: bool = False

    def claim(self, format_name: str) -> Claim | None:
        """Return what it says about a format; None if it does not know it."""
        return Claim() if self.formats is None else self.formats.get(format_name)


@dataclass(frozen=True, slots=True)
class Events:
    """The input was decoded."""

    events: list[Json]


@dataclass(frozen=True, slots=True)
class Messages:
    """The events were encoded."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """The input was refused. All but the fact is optional."""

    problem: str | None = None
    message: int | None = None
    offset: int | None = None
    path: tuple[str | int, ...] | None = None


Answer: TypeAlias = Events | Messages | Rejected

_LONGEST_PATH = 100  # steps of a rejection that are kept
_MOST_NAMES = 1000  # of formats, features or choices
_LONGEST_NAME = 200


def excerpt(line: bytes, size: int = 200) -> str:
    """Return the beginning of a line for people."""
    text = line[: size + 1].decode("utf-8", "backslashreplace").strip()
    return repr(text[:size]) + ("…" if len(line) > size else "")


def parse_line(line: bytes) -> dict[str, Json]:
    """Return the object on a line. Raises: ProtocolError."""
    try:
        document = _DECODER.decode(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(
            f"the answer is {json_problem(error)}: {excerpt(line)}; "
            "write only answers to standard output, logs to standard error"
        ) from error
    if not isinstance(document, dict):
        raise ProtocolError(f"the answer is not a JSON object: {excerpt(line)}")
    return document


def _no_constant(name: str) -> NoReturn:
    raise InvalidJsonError(f"not JSON: {name}; floats travel as text")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=unique_members)


def parse_description(document: Mapping[str, Json]) -> Description:
    """Return what a testee says about itself. Raises: ProtocolError."""
    protocol = document.get("protocol")
    if type(protocol) is not int or protocol != PROTOCOL_VERSION:  # True and 1.0 are equal to 1
        raise ProtocolError(
            f"the answer to start says protocol {protocol!r}; this runner speaks {PROTOCOL_VERSION}"
        )
    formats = document.get("formats")
    if not isinstance(formats, dict):
        raise ProtocolError("the answer to start needs 'formats': an object, format to claim")
    _check_names("formats", formats)
    ahead = document.get("ahead", False)
    if not isinstance(ahead, bool):
        raise ProtocolError("the answer to start: ahead is true or false")
    return Description(
        _text(document, "name", "testee"),
        _text(document, "version", ""),
        _text(document, "language", ""),
        {name: _claim(name, claim) for name, claim in formats.items()},
        ahead,
    )


def _text(document: Mapping[str, Json], name: str, default: str) -> str:
    found = document.get(name, default)
    if not isinstance(found, str):
        raise ProtocolError(f"the answer to start: {name} is text")
    return said(found)


def _claim(name: str, document: Json) -> Claim:
    if not isinstance(document, dict):
        raise ProtocolError(f"formats.{name} is an object; {{}} is enough")
    encode, without = document.get("encode", False), document.get("without") or []
    choices = document.get("choices") or {}
    if not isinstance(encode, bool):
        raise ProtocolError(f"formats.{name}.encode is true or false")
    if not isinstance(without, list) or not all(isinstance(item, str) for item in without):
        raise ProtocolError(f"formats.{name}.without is a list of names of features")
    if not isinstance(choices, dict) or not all(isinstance(v, str) for v in choices.values()):
        raise ProtocolError(f"formats.{name}.choices is an object, subject to choice")
    for names in (without, choices, choices.values()):
        _check_names(f"formats.{name}", names)
    return Claim(encode, frozenset(without), choices)


def _check_names(member: str, names: Collection[str]) -> None:
    if len(names) > _MOST_NAMES or any(len(name) > _LONGEST_NAME for name in names):
        raise ProtocolError(
            f"{member} has at most {_MOST_NAMES} names, each of at most {_LONGEST_NAME} characters"
        )


def parse_answer(document: Mapping[str, Json], seq: int | None, cmd: str) -> Answer:
    """Return the answer to a request. ``seq`` None: one-shot mode, where it may be missing.

    Raises: ProtocolError.
    """
    found_seq = document.get("seq")
    if seq is not None and (type(found_seq) is not int or found_seq != seq):
        raise ProtocolError(f"the answer has seq {found_seq!r}, the request had {seq}")
    if "error" in document:
        raise ProtocolError(f"the testee reports an error: {_error_text(document['error'])}")
    wanted = "events" if cmd == "decode" else "messages"
    found = [name for name in ("events", "messages", "rejected") if name in document]
    if found == ["rejected"]:
        return _rejected(document["rejected"])
    if found != [wanted]:
        shown = " and ".join(map(repr, found)) or "none of them"
        raise ProtocolError(f"the answer to {cmd} has {wanted!r} or 'rejected'; found {shown}")
    items = document[wanted]
    if not isinstance(items, list):
        raise ProtocolError(f"{wanted!r} has to be a list; found {items!r:.40}")
    if cmd == "decode":
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                raise ProtocolError(f"events[{index}] has to be an object; found {item!r:.80}")
        return Events(items)
    return Messages(tuple(_message(index, item) for index, item in enumerate(items)))


def _error_text(error: Json) -> str:
    problem = error.get("problem") if isinstance(error, Mapping) else error
    return visible((problem if isinstance(problem, str) else repr(problem))[:200])


def _message(index: int, item: Json) -> Message:
    try:
        return message_from_json(item)
    except ValueError as error:
        raise ProtocolError(f"messages[{index}]: {error}") from error


def _rejected(document: Json) -> Rejected:
    if document is None or document is True:
        return Rejected()
    if isinstance(document, str):
        return Rejected(said(document))
    if not isinstance(document, dict):
        raise ProtocolError("'rejected' is an object; {} is enough")
    problem, path = document.get("problem"), document.get("path")
    numbers = {}
    for name in ("message", "offset"):
        number = document.get(name)
        if number is not None and (type(number) is not int or number < 0):
            raise ProtocolError(f"rejected.{name} is a number from 0")
        numbers[name] = number
    if problem is not None and not isinstance(problem, str):
        raise ProtocolError("rejected.problem is text")
    if path is not None and not (
        isinstance(path, list) and all(type(step) in (str, int) for step in path)
    ):
        raise ProtocolError("rejected.path is a list of names and numbers")
    return Rejected(
        None if problem is None else said(problem),
        numbers["message"],
        numbers["offset"],
        None if path is None else _path(path),
    )


def _path(steps: list[str | int]) -> tuple[str | int, ...]:
    """Return a path whose length is bounded."""
    return tuple(
        shortened(step) if isinstance(step, str) else step for step in steps[:_LONGEST_PATH]
    )
