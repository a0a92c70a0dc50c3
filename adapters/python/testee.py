"""The testee protocol in kept-alive mode: a JSON request per line in, a JSON answer per line out.

It is all that cdcwire asks of a program in Python. To test your own decoder, copy this file and
call ``serve`` or ``serve_formats`` with it; ``read_csv_module.py`` is the shortest example.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Request: TypeAlias = Mapping[str, Any]  # with options, tables, schemas and blobs where needed
Event: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """A message of Kafka, or a stored file, which has a path and no key. None is Kafka's null."""

    key: bytes | None
    value: bytes | None
    path: str = ""


Decode: TypeAlias = Callable[[Message, Request], Iterable[Event]]
Encode: TypeAlias = Callable[[Request], Iterable[Message]]


@dataclass(frozen=True)
class Format:
    """The functions of a program for one format.

    ``decode`` takes one message and the whole request, and gives events. ``encode`` gives the
    messages of the request's events. An ``rejections`` that they raise is a rejection. Any other
    error ends the program: it is a crash, and reported as one. ``without``: features that are not
    claimed. ``choices``: what the decoder does where the format leaves a choice.
    """

    decode: Decode
    encode: Encode | None = None
    rejections: tuple[type[Exception], ...] = ()
    without: Sequence[str] = ()
    choices: Mapping[str, str] = field(default_factory=dict)

    def claim(self) -> dict[str, Any]:
        """Return what the answer to start says of the format."""
        return {
            "encode": self.encode is not None,
            "without": list(self.without),
            "choices": dict(self.choices),
        }


def serve(
    name: str,
    version: str,
    format_name: str,
    decode: Decode,
    *,
    rejections: tuple[type[Exception], ...],
    without: Sequence[str] = (),
) -> None:
    """Answer requests for one format until ``stop``; see ``Format``."""
    format_ = Format(decode, rejections=rejections, without=without)
    serve_formats(name, version, {format_name: format_})


def serve_formats(name: str, version: str, formats: Mapping[str, Format]) -> None:
    """Answer requests for several formats until ``stop``."""
    for line in sys.stdin:
        request = json.loads(line)
        match request["cmd"]:
            case "start":
                answer: dict[str, Any] = {
                    "protocol": 1,
                    "name": name,
                    "version": version,
                    "language": "Python",
                    "formats": {each: format_.claim() for each, format_ in formats.items()},
                }
            case "decode":
                answer = {"seq": request["seq"], **_decode(request, formats[request["format"]])}
            case "encode":
                answer = {"seq": request["seq"], **_encode(request, formats[request["format"]])}
            case _:
                return
        print(json.dumps(answer), flush=True)


def blobs_of(request: Request) -> dict[str, bytes]:
    """Return the claim-check files of a request by location."""
    return {name: base64.b64decode(text) for name, text in request.get("blobs", {}).items()}


def _decode(request: Request, format_: Format) -> dict[str, Any]:
    events: list[Event] = []
    for index, message in enumerate(request["messages"]):
        try:
            key, value = _bytes(message.get("key")), _bytes(message["value"])
            events.extend(format_.decode(Message(key, value, message.get("path", "")), request))
        except format_.rejections as error:
            return {"rejected": {"problem": _text_of(error), "message": index}}
    return {"events": events}


def _encode(request: Request, format_: Format) -> dict[str, Any]:
    assert format_.encode is not None
    try:
        return {"messages": list(map(_message, format_.encode(request)))}
    except format_.rejections as error:
        return {"rejected": {"problem": _text_of(error)}}


def _message(message: Message) -> dict[str, Any]:
    if message.path:
        return {"path": message.path, "value": _base64(message.value)}
    return {"key": _base64(message.key), "value": _base64(message.value)}


def _text_of(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")
