"""Members of a message's objects: what every part of it reads them with.

A missing required member is reported at the closing brace of its object. A null says the same as no
member, except in the place of a column's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cdcwire.core.errors import DecodeError
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    Number,
    json_kind,
)
from cdcwire.model.events import Path

RULES = JsonRules(
    "datahub-blob: json text", "datahub-blob: json strings", "datahub-blob: limits", max_depth=16
)
CLAUSE_MEMBERS = "datahub-blob: members"
CLAUSE_LIMITS = "datahub-blob: limits"


class Members(NamedTuple):
    """The members of one object. ``end``: the place after its closing brace."""

    found: Mapping[str, Member]
    end: int

    def get(self, name: str) -> Member | None:
        """Return a member; None where there is none, or null."""
        member = self.found.get(name)
        return None if member is None or member.value is None else member

    def need(self, name: str, clause: str) -> Member:
        """Return a required member. Raises: DecodeError."""
        member = self.get(name)
        if member is None:
            null = self.found.get(name)
            at = self.end - 1 if null is None else null.start
            raise DecodeError(f"{name} is missing", at, clause, (name,))
        return member

    def refuse(self, name: str, clause: str, problem: str) -> None:
        """Raise DecodeError if a member is present."""
        member = self.get(name)
        if member is not None:
            raise DecodeError(problem, member.start, clause, (name,))

    def text(self, name: str, clause: str) -> str | None:
        """Return a member that is text, None if there is none. Raises: DecodeError."""
        member = self.get(name)
        return None if member is None else text_of(member, clause)


def members_of(value: JsonValue, start: int, end: int, clause: str, path: Path = ()) -> Members:
    """Return the members of an object that ends at ``end``. Raises: DecodeError."""
    if not isinstance(value, JsonObject):
        raise DecodeError(f"an object is expected, not {json_kind(value)}", start, clause, path)
    return Members(value.by_name, end)


def inner(member: Member, clause: str) -> Members:
    """Return the members of a member that is an object. Raises: DecodeError."""
    return members_of(member.value, member.start, member.end, clause, (member.name,))


def items_of(member: Member, clause: str) -> JsonArray:
    """Return a member that is an array. Raises: DecodeError."""
    if not isinstance(member.value, JsonArray):
        problem = f"an array is expected, not {json_kind(member.value)}"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def text_of(member: Member, clause: str) -> str:
    """Return a member that is text. Raises: DecodeError."""
    if not isinstance(member.value, str):
        problem = f"text is expected, not {json_kind(member.value)}"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def integer_of(member: Member, low: int, high: int, clause: str) -> int:
    """Return a member that is an integer within ``low`` and ``high``. Raises: DecodeError."""
    number = member.value
    if isinstance(number, Number) and number.is_integer and number.digits <= len(str(high)):
        value = int(number.text)
        if low <= value <= high:
            return value
    shown = number.text[:40] if isinstance(number, Number) else json_kind(number)
    problem = f"{shown} is not an integer from {low} to {high}"
    raise DecodeError(problem, member.start, clause, (member.name,))
