"""One difference between what a case expects and what was answered, and values for people."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass

from cdcwire.console.visible import shortened, visible
from cdcwire.model.events import Path, path_text
from cdcwire.model.kinds import Type
from cdcwire.model.text import Json

ABSENT_TEXT = "absent"
_LONGEST = 120
_LONGEST_TEXT = 1000
_LONGEST_STEP = 200


A_VALUE = "a value"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between an expected answer and the given one.

    ``path`` leads into the answer; ``hint`` says what may have happened, or what is allowed.
    ``change``: what differences of the same cause share, as expected and as given. ``type``: that
    of a column. ``events``: the numbers of the expected event among those of the case. Two records
    of one update count as one; there are two numbers if a tombstone is between the records.
    """

    path: Path
    expected: str
    got: str
    hint: str = ""
    change: tuple[str, str] = (A_VALUE, A_VALUE)
    type: Type | None = None
    events: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Cut the texts of the answer: a testee may send names of any length."""
        for name in ("expected", "got", "hint"):
            object.__setattr__(self, name, shortened(getattr(self, name), _LONGEST_TEXT))
        object.__setattr__(self, "change", tuple(shortened(c, _LONGEST_TEXT) for c in self.change))
        path = (shortened(s, _LONGEST_STEP) if isinstance(s, str) else s for s in self.path)
        object.__setattr__(self, "path", tuple(path))

    @property
    def where(self) -> str:
        """The path as text; ``answer`` for the whole answer."""
        return path_text(self.path) or "answer"

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.where}: expected {self.expected}, got {self.got}{hint}"


def shorten(text: str, limit: int = _LONGEST) -> str:
    """Return text that fits on a line, its middle cut out where it is long."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}…{len(text) - limit} more…{text[head - limit :]}"


def quoted(text: Json) -> str:
    """Return a JSON value, shortened, with members sorted and invisible characters escaped."""
    return visible(shorten(json.dumps(text, ensure_ascii=False, sort_keys=True)))


def shown_bytes(text: Json) -> str:
    """Return base64 bytes in hexadecimal, with their number."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return f"bytes {quoted(text)} that are not base64"
    return f"{shorten(data.hex(' ') or 'no bytes')} ({len(data)} bytes)"


def shown_value(document: Json) -> str:
    """Return a column value for people."""
    if document is None:
        return "NULL"
    if not isinstance(document, Mapping):
        return quoted(document)
    if document.get("unavailable") is True:
        return "unavailable"
    if "value" in document and document["value"] is None:
        return "NULL"
    kind = f" as {document['type']}" if "type" in document else ""
    if "bytes" in document:
        return shown_bytes(document["bytes"]) + kind
    parts = [
        f"{name} {quoted(document[name])}"
        for name in ("index", "label", "items", "entries", "fields")
        if name in document
    ]
    if "value" in document:
        parts.insert(0, quoted(document["value"]))
    for name in ("unit", "zone"):
        if name in document:
            parts.append(f"{name} {document[name]}")
    return (", ".join(parts) or quoted(document)) + kind


def state_of(document: Json) -> str:
    """Return whether a column is a value, NULL or unavailable."""
    if is_null(document):
        return "NULL"
    if isinstance(document, Mapping) and document.get("unavailable") is True:
        return "unavailable"
    return A_VALUE


def is_null(document: Json) -> bool:
    """Return whether a column is SQL NULL."""
    if isinstance(document, Mapping):
        return "value" in document and document["value"] is None
    return document is None


def shown_event(document: Json) -> str:
    """Return one line about an event."""
    if not isinstance(document, Mapping):
        return quoted(document)
    table = ".".join(
        str(document[name]) for name in ("database", "schema", "table") if document.get(name)
    )
    words = [document.get("kind"), document.get("op") or document.get("what"), table]
    if document.get("half"):
        words.append(f"(half: {document['half']})")
    return " ".join(str(word) for word in words if word)
