"""The testee protocol, kept-alive door: a JSON request a line in, a JSON answer a line out.

This is all that cdcwire asks of a program in Python. To test your own decoder, keep this file and
call ``serve`` with yours; ``read_csv_module.py`` is the shortest example.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Request: TypeAlias = Mapping[str, Any]
Event: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """A message of Kafka, or a stored file, which has a path and no key. None is Kafka's null."""

    key: bytes | None
    value: bytes | None
    path: str = ""


Decode: TypeAlias = Callable[[Message, Request], Iterable[Event]]


def serve(
    name: str,
    version: str,
    format_name: str,
    decode: Decode,
    *,
    rejections: tuple[type[Exception], ...],
    without: Sequence[str] = (),
) -> None:
    """Answer requests until ``stop``.

    ``decode`` takes one message and the whole request, and gives events. What it raises of
    ``rejections`` says that the bytes are bad. Any other error ends the program: it is a crash, and
    reported as one. ``without``: features that are not claimed.
    """
    for line in sys.stdin:
        request = json.loads(line)
        match request["cmd"]:
            case "start":
                claim = {"encode": False, "without": list(without)}
                answer: dict[str, Any] = {
                    "protocol": 1,
                    "name": name,
                    "version": version,
                    "language": "Python",
                    "formats": {format_name: claim},
                }
            case "decode":
                answer = {"seq": request["seq"], **_decode(request, decode, rejections)}
            case _:
                return
        print(json.dumps(answer), flush=True)


def _decode(
    request: Request, decode: Decode, rejections: tuple[type[Exception], ...]
) -> dict[str, Any]:
    events: list[Event] = []
    for index, message in enumerate(request["messages"]):
        try:
            key, value = _bytes(message.get("key")), _bytes(message["value"])
            events.extend(decode(Message(key, value, message.get("path", "")), request))
        except rejections as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            return {"rejected": {"problem": problem[:200], "message": index}}
    return {"events": events}


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
