"""Members of the JSON objects: what they may hold, with the clause that says so.

A missing member is reported at the closing brace of its object, a wrong value where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.connect.strings import quoted
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    Number,
    json_kind,
)
from cdcwire.model.paths import Path

RULES = JsonRules(
    text_clause="maxwell-json: json text",
    string_clause="maxwell-json: json strings",
    limits_clause="maxwell-json: limits",
    max_depth=128,  # a JSON column of MySQL has at most 100 levels
)
FIELDS = "maxwell-json: fields"
TYPES = "maxwell-json: event types"
TIMESTAMP = "maxwell-json: timestamp"
POSITION = "maxwell-json: position"
MAX_DIGITS = 400  # of a number; MySQL's longest is a double in plain digits
INT64_END = 1 << 63
MS_PER_SECOND = 1000

Members = Mapping[str, Member]


def expect_object(value: JsonValue, start: int, clause: str, path: Path = ()) -> JsonObject:
    """Return ``value`` if it is an object. Raises: DecodeError."""
    if not isinstance(value, JsonObject):
        raise DecodeError(f"{json_kind(value)} instead of an object", start, clause, path)
    return value


def object_of(member: Member, clause: str) -> JsonObject:
    """Return the object that a member holds. Raises: DecodeError."""
    return expect_object(member.value, member.start, clause, (member.name,))


def required(known: Members, name: str, end: int, clause: str = FIELDS) -> Member:
    """Return a member. Raises: DecodeError at the object's closing brace if it is missing."""
    member = known.get(name)
    if member is None:
        raise DecodeError(f"member {name!r} is missing", end - 1, clause, (name,))
    return member


def text_of(member: Member, clause: str = FIELDS) -> str:
    """Return the string that a member holds. Raises: DecodeError."""
    if not isinstance(member.value, str):
        problem = f"{json_kind(member.value)} instead of a string"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def integer_of(member: Member, low: int, high: int, clause: str = FIELDS) -> int:
    """Return the integer from ``low`` up to ``high - 1`` that a member holds.

    Raises: DecodeError.
    """
    with step(member.name):
        number = read_integer(member.value, member.start, clause)
        if not low <= number < high:
            raise DecodeError(f"{number} is outside {low} to {high - 1}", member.start, clause)
        return number


def read_integer(value: JsonValue, start: int, clause: str) -> int:
    """Return an integer. Raises: DecodeError."""
    number = read_number(value, start, clause)
    if not number.is_integer:
        problem = f"the integer {number.text:.40} has a fraction or an exponent"
        raise DecodeError(problem, start, clause)
    return int(number.text)


def read_number(value: JsonValue, start: int, clause: str) -> Number:
    """Return a number of at most ``MAX_DIGITS`` characters. Raises: DecodeError."""
    if not isinstance(value, Number):
        raise DecodeError(f"{json_kind(value)} instead of a number", start, clause)
    if value.digits > MAX_DIGITS:
        problem = f"a number has {value.digits} characters; the limit is {MAX_DIGITS}"
        raise DecodeError(problem, start, RULES.limits_clause)
    return value


def optional_text(known: Members, name: str, clause: str) -> str | None:
    """Return the string of a member, or None if it is absent. Raises: DecodeError."""
    return text_of(known[name], clause) if name in known else None


def optional_integer(known: Members, name: str, clause: str) -> int | None:
    """Return the 64-bit integer of a member, or None if it is absent. Raises: DecodeError."""
    return integer_of(known[name], -INT64_END, INT64_END, clause) if name in known else None


def is_null(known: Members, name: str) -> bool:
    """Return whether a member is present, as null."""
    return name in known and known[name].value is None


def nullable_text(known: Members, name: str, clause: str) -> str | None:
    """Return the string of a member, or None if it is absent or null. Raises: DecodeError."""
    return None if is_null(known, name) else optional_text(known, name, clause)


def flag_of(member: Member, clause: str) -> bool:
    """Return true or false. Raises: DecodeError."""
    if not isinstance(member.value, bool):
        problem = f"{json_kind(member.value)} instead of true or false"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def texts_of(member: Member, clause: str) -> tuple[str, ...]:
    """Return the strings of an array. Raises: DecodeError."""
    with step(member.name):
        array = array_of(member.value, member.start, clause)
        for index, item in enumerate(array.items):
            if not isinstance(item, str):
                problem = f"{json_kind(item)} instead of a string"
                raise DecodeError(problem, array.places[2 * index], clause, (index,))
        return tuple(item for item in array.items if isinstance(item, str))


def array_of(value: JsonValue, start: int, clause: str) -> JsonArray:
    """Return ``value`` if it is an array. Raises: DecodeError."""
    if not isinstance(value, JsonArray):
        raise DecodeError(f"{json_kind(value)} instead of an array", start, clause)
    return value


def written_text(text: str) -> str:
    """Return a string in quotes as Jackson writes it. Raises: EncodeError."""
    try:
        return quoted(text)
    except EncodeError as error:
        error.clause = RULES.string_clause
        raise


def written_integer(number: int, low: int, high: int, clause: str = FIELDS) -> str:
    """Return the digits of an integer. Raises: EncodeError outside ``low`` to ``high - 1``."""
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number < high:
        raise EncodeError(f"{number!r:.40} is not an integer in {low} to {high - 1}", clause)
    return str(number)


def written_texts(texts: tuple[str, ...]) -> str:
    """Return an array of strings. Raises: EncodeError."""
    return f"[{','.join(map(written_text, texts))}]"


def written_object(members: Mapping[str, str]) -> str:
    """Return an object of members that are JSON text already. Raises: EncodeError."""
    pairs = (f"{written_text(name)}:{text}" for name, text in members.items())
    return f"{{{','.join(pairs)}}}"


class MemberTexts(dict[str, str]):
    """The members of an object in the order in which they are written, as JSON text.

    A member with the value None is left out. Every method raises EncodeError.
    """

    def text(self, name: str, text: str | None) -> None:
        """Set a member to a JSON string."""
        if text is not None:
            with step(name):
                self[name] = written_text(text)

    def integer(self, name: str, number: int | None, end: int, clause: str) -> None:
        """Set a member to an integer from ``-end`` up to, but excluding, ``end``."""
        if number is not None:
            with step(name):
                self[name] = written_integer(number, -end, end, clause)

    def nullable_text(self, name: str, text: str | None, *, is_null: bool) -> None:
        """Set a member to a JSON string, or to null if there is no text and ``is_null``."""
        self.text(name, text)
        if text is None and is_null:
            self[name] = "null"

    def unknown(self, unknown: tuple[tuple[str, str], ...], known: frozenset[str]) -> None:
        """Set the members that the format does not name to the JSON text that they had.

        Raises: EncodeError for a member that is already set, or that the format names.
        """
        for name, text in unknown:
            if name in self or name in known:
                problem = "the member is duplicated"
                raise EncodeError(problem, "maxwell-json: unknown members", (name,))
            self[name] = text
