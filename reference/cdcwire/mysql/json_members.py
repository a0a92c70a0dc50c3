"""Members of JSON objects, as TiCDC's JSON formats have them: what each may hold.

A missing member is reported at the closing brace of its object, a wrong value where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.strict_json import JsonObject, JsonRules, JsonValue, Member, Number, json_kind
from cdcwire.model.paths import Path

INT64_END = 1 << 63
UINT64_END = 1 << 64
MAX_DEPTH = 8
MAX_INTEGER_DIGITS = 20  # of 2**64 - 1
MAX_NAME_BYTES = 1024  # TiDB has 64 characters

Members: TypeAlias = Mapping[str, Member]

_TOO_LONG = f"a name has more than {MAX_NAME_BYTES} bytes"


def expect_object(value: JsonValue, start: int, clause: str, path: Path = ()) -> JsonObject:
    """Return ``value`` if it is an object. Raises: DecodeError."""
    if not isinstance(value, JsonObject):
        raise DecodeError(f"it is {json_kind(value)}, not an object", start, clause, path)
    return value


def unknown_of(found: JsonObject, known: Set[str], data: bytes) -> tuple[tuple[str, str], ...]:
    """Return the members that a format does not name, with their JSON text."""
    return tuple(
        (member.name, data[member.start : member.end].decode())
        for member in found.members
        if member.name not in known
    )


def write_integer(number: int, low: int, high: int, clause: str) -> str:
    """Return the digits of an integer. Raises: EncodeError outside ``low`` up to ``high``."""
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number < high:
        raise EncodeError(f"{number!r:.40} is not an integer in {low} to {high - 1}", clause)
    return str(number)


@dataclass(frozen=True, slots=True)
class JsonMembers:
    """Checks the members of one format's objects. ``clause``: the one that names no other."""

    rules: JsonRules
    clause: str

    def required(self, known: Members, name: str, end: int, clause: str | None = None) -> Member:
        """Return a member. Raises: DecodeError at the object's closing brace if it is missing."""
        member = known.get(name)
        if member is None:
            raise DecodeError(f"member {name!r} is missing", end - 1, clause or self.clause)
        return member

    def read_integer(
        self, value: JsonValue, start: int, low: int, high: int, clause: str, path: Path = ()
    ) -> int:
        """Return the integer from ``low`` up to ``high - 1`` that is a value.

        Its length is checked before it is converted. Raises: DecodeError.
        """
        if not isinstance(value, Number):
            raise DecodeError(f"it is {json_kind(value)}, not an integer", start, clause, path)
        text = value.text
        if not text.isdigit() and not value.is_integer:
            problem = f"the integer {text:.40} is written with a fraction or exponent"
            raise DecodeError(problem, start, clause, path)
        if len(text) > MAX_INTEGER_DIGITS and value.digits > MAX_INTEGER_DIGITS:
            problem = f"an integer has {value.digits} digits, more than {MAX_INTEGER_DIGITS}"
            raise DecodeError(problem, start, self.rules.limits_clause, path)
        number = int(text)
        if not low <= number < high:
            raise DecodeError(f"{number} is not in {low} to {high - 1}", start, clause, path)
        return number

    def integer_of(self, member: Member, low: int, high: int, clause: str | None = None) -> int:
        """Return the integer that a member holds. Raises: DecodeError."""
        name, value, _, start, _ = member
        return self.read_integer(value, start, low, high, clause or self.clause, (name,))

    def text_of(self, member: Member, clause: str | None = None) -> str:
        """Return the string that a member holds. Raises: DecodeError."""
        if not isinstance(member.value, str):
            problem = f"it is {json_kind(member.value)}, not a string"
            raise DecodeError(problem, member.start, clause or self.clause, (member.name,))
        return member.value

    def flag_of(self, member: Member, clause: str | None = None) -> bool:
        """Return true or false. Raises: DecodeError."""
        if not isinstance(member.value, bool):
            problem = f"it is {json_kind(member.value)}, not true or false"
            raise DecodeError(problem, member.start, clause or self.clause, (member.name,))
        return member.value

    def name_of(self, member: Member, clause: str | None = None) -> str:
        """Return the name of a schema or table. Raises: DecodeError, also when it is too long."""
        name = self.text_of(member, clause)
        if _is_too_long(name):
            raise DecodeError(_TOO_LONG, member.start, self.rules.limits_clause, (member.name,))
        return name

    def check_text(self, text: str) -> None:
        """Check a text that is to be written. Raises: EncodeError for a lone surrogate."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            problem = f"U+{ord(text[error.start]):04X} is not a character"
            raise EncodeError(problem, self.rules.string_clause) from None

    def check_name(self, name: str) -> None:
        """Check a name that is to be written. Raises: EncodeError, also when it is too long."""
        self.check_text(name)
        if _is_too_long(name):
            raise EncodeError(_TOO_LONG, self.rules.limits_clause)


def _is_too_long(name: str) -> bool:
    return len(name) > MAX_NAME_BYTES or len(name.encode()) > MAX_NAME_BYTES
