"""Reading the members of a JSON object, with an error that names the place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from cdcwire.model.events import Path, path_text

Json: TypeAlias = Any  # a decoded JSON value

INTEGER = re.compile(r"-?[0-9]{1,40}")


class TextFormError(ValueError):
    """A JSON document is not the text form of an event or a table. ``path`` leads to the place."""

    def __init__(self, problem: str, path: Path = ()) -> None:
        super().__init__(problem, path)
        self.problem = problem
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problem, self.path)

    def __str__(self) -> str:
        return f"{path_text(self.path) or 'event'}: {self.problem}"


def text_member(document: Mapping[str, Json], name: str, path: Path) -> str | None:
    """Return a text member; None if it is null or missing. Raises: TextFormError."""
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise TextFormError("it is to be text", (*path, name))
    return value


def texts_member(document: Mapping[str, Json], name: str, path: Path) -> tuple[str, ...] | None:
    """Return a member that lists texts; None if it is null or missing. Raises: TextFormError."""
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TextFormError("it is to be a list of texts", (*path, name))
    return tuple(value)


def number_of(text: str, path: Path) -> int:
    """Return the integer that decimal digits write. Raises: TextFormError."""
    if not INTEGER.fullmatch(text):
        raise TextFormError(f"{text!r:.40} is not an integer in decimal digits", path)
    return int(text)


def word_member(document: Mapping[str, Json], name: str, words: tuple[str, ...], path: Path) -> Any:
    """Return a member that must be one of ``words``. Raises: TextFormError."""
    value = document.get(name)
    if value not in words:
        raise TextFormError(f"{value!r:.40} is not one of {', '.join(words)}", (*path, name))
    return value
