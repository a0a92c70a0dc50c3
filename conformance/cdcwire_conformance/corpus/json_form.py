"""The one written form of the corpus' JSON: for people, and the same from every Python.

An object or a list is written on one line if it fits, otherwise with one member per line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from cdcwire.model.text import Json

LINE_LENGTH = 100


def json_text(document: Json) -> str:
    """Return the text of a document, with a newline at its end."""
    return _text(document, "", 0) + "\n"


def _text(document: Json, indent: str, taken: int) -> str:
    """Return ``document``, whose line has ``taken`` characters around it."""
    flat = json.dumps(document, ensure_ascii=False)
    if len(indent) + taken + len(flat) <= LINE_LENGTH or not document:
        return flat
    inner = indent + "  "
    if isinstance(document, Mapping):
        names = [json.dumps(name, ensure_ascii=False) + ": " for name in document]
        members = [
            name + _text(member, inner, len(name) + 1)
            for name, member in zip(names, document.values(), strict=True)
        ]
        return _lines("{", members, "}", indent)
    if isinstance(document, list):
        return _lines("[", [_text(member, inner, 1) for member in document], "]", indent)
    return flat


def _lines(begin: str, members: list[str], end: str, indent: str) -> str:
    inner = f",\n{indent}  ".join(members)
    return f"{begin}\n{indent}  {inner}\n{indent}{end}"
