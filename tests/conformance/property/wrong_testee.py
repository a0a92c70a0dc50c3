"""A testee that misreads craft in the way its first argument says. Never collected as a test.

``year``: a year is one too many. ``crash``: a delete ends the process. ``hang``: a delete has no
answer. ``leak``: every other answer has no events. ``encode``: deletes are not written.
``good``: every answer is right, and the file ``asked`` shows that there was one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdcwire_conformance.protocol.requests import PROTOCOL_VERSION
from cdcwire_conformance.testees import reference

WITHOUT = [
    *("unsigned", "float", "decimal", "bytes", "date", "time", "datetime", "timestamp", "bit"),
    *("enum", "set", "json", "vector", "ddl", "resolved"),
]
_right = reference.answer
_answered = 0


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    global _answered
    _answered += 1
    mode = sys.argv[1]
    if mode == "encode" and request["cmd"] == "encode":
        kept = [event for event in request["events"] if event.get("op") != "delete"]
        return _right({**request, "events": kept})
    document = _right(request)
    if mode == "good":
        Path("asked").touch()
    events: list[Any] = document.get("events", [])
    has_delete = any(event.get("op") == "delete" for event in events)
    if mode == "crash" and has_delete:
        sys.exit("cannot delete")
    if mode == "hang" and has_delete:
        time.sleep(60)
    if mode == "leak" and _answered % 2 == 0:
        return {"events": []}
    if mode == "year":
        for value in _values(events):
            if value.get("type") == "year":
                value["value"] = str(int(value["value"]) + 1)
    return document


def _values(events: list[Any]) -> list[Any]:
    images = [event.get(side) or {} for event in events for side in ("before", "after")]
    return [value for image in images for value in image.values() if value is not None]


def _describe() -> dict[str, Any]:
    """Claim craft with few types, and encoding only where it is wrong.

    Nothing is imported for other formats: a testee that crashes starts often.
    """
    claim = {"encode": sys.argv[1] == "encode", "without": WITHOUT}
    return {"protocol": PROTOCOL_VERSION, "formats": {"craft": claim}}


if __name__ == "__main__":
    reference.answer = _answer
    reference.describe = _describe
    sys.exit(reference.main([]))
