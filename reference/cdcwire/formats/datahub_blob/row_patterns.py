"""Patterns of payloads: one regular expression for the messages of one table and op, values open.

A producer writes the messages of a table with the same members in the same order and without white
space. All of this is literal text in the pattern, so that a match *is* the check of it: no member
is missing, unknown, or there twice. What stays open is checked by the groups and by what reads
them. A text that does not match may be good or bad: the plain decoder knows.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any, TypeAlias

from cdcwire.core.compiled import Irregular
from cdcwire.core.strict_json import JsonObject, Member
from cdcwire.datahub.streamx import StreamXType

Read: TypeAlias = Callable[[str], Any]
Groups: TypeAlias = "tuple[str | None, ...]"


# A group that does not take part in a match is NULL.
# All integers are within 64 bits. A few of 19 digits, from 922e16 on, are left to the plain
# decoder, except both ends of the range.
_INTEGER = (
    r"(?:null|(0|-?(?:[1-8][0-9]{0,18}|9[0-9]{0,17}|9[01][0-9]{17}|92[01][0-9]{16}"
    r"|922337203685477580[0-7])|-9223372036854775808))"
)
_OPEN: Mapping[StreamXType, str] = {
    "LONG": _INTEGER,
    "DATE": _INTEGER,
    # 200 digits and two of an exponent are less than the largest double.
    "DOUBLE": r"(?:null|(-?(?:0|[1-9][0-9]{0,199})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,2})?))",
    "BOOLEAN": r"(?:null|(true|false))",
    "STRING": r'(?:null|"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)")',
    # Bits behind the last byte are not set; that the length is a multiple of 4 is checked later.
    "BYTES": r'(?:null|"([A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?)")',
}
_SEQUENCE_ID = r'"([0-9]{1,38})"'
_TIME = r"(0|[1-9][0-9]{0,12})"
_TIMES = ("eventTime", "systemTime", "checkpointTime")


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The pattern from the payload to the end of the message.

    ``places``: what each group is, in their order: ("before", "c1"), ("sequenceId",) and so on.
    """

    match: Callable[[str, int], re.Match[str] | None]
    places: tuple[tuple[str, ...], ...]


def pattern_of(
    value: bytes, payload: Member, types: Mapping[str, StreamXType], date_digits: int
) -> Pattern:
    """Return the pattern of messages like one that was read.

    It begins at the comma in front of the payload. Raises: Irregular where the message is written
    otherwise than usual.
    """
    places: list[tuple[str, ...]] = []
    found = payload.value
    assert isinstance(found, JsonObject)  # it was read
    parts = _Parts(value, payload.name_start - 1)
    parts.upto(payload.start + 1, ',"payload":{')
    for member in found.members:
        parts.name(member, is_first=member is found.members[0])
        if member.name == "op":
            parts.literal(member)
        elif member.name == "sequenceId":
            parts.open(member, _SEQUENCE_ID)
            places.append(("sequenceId",))
        elif member.name == "timestamp":
            for time in parts.inside(member):
                if time.name not in _TIMES or time.value is None:
                    raise Irregular
                parts.open(time, _TIME)
                places.append((time.name,))
        elif member.name in ("before", "after") and isinstance(member.value, JsonObject):
            for cells in parts.inside(member):
                if cells.name != "dataColumn":
                    raise Irregular
                for cell in parts.inside(cells):
                    type_ = types[cell.name]
                    open_ = _OPEN[type_]
                    if type_ == "DATE" and date_digits:
                        if date_digits > 18:
                            raise Irregular
                        open_ = rf"(?:null|([1-9][0-9]{{{date_digits - 1}}}))"
                    parts.open(cell, open_)
                    places.append((member.name, cell.name))
        else:
            raise Irregular
    parts.upto(payload.end, "}")
    parts.rest()
    return Pattern(re.compile("".join(parts.found) + r"\Z").match, tuple(places))


class _Parts:
    """The parts of a pattern, as a message is walked through from ``start``."""

    def __init__(self, value: bytes, start: int) -> None:
        self.value = value
        self.offset = start
        self.found: list[str] = []

    def upto(self, end: int, wanted: str) -> None:
        """Add what stands up to ``end``, which must be ``wanted``."""
        if self._text(self.offset, end) != wanted:
            raise Irregular
        self.found.append(re.escape(wanted))
        self.offset = end

    def name(self, member: Member, *, is_first: bool) -> None:
        quoted = self._text(member.name_start, member.start - 1)
        comma = "" if is_first else ","
        if quoted != f'"{quoted[1:-1]}"' or "\\" in quoted:
            raise Irregular
        self.upto(member.start, f"{comma}{quoted}:")

    def literal(self, member: Member) -> None:
        self.upto(member.end, self._text(member.start, member.end))

    def open(self, member: Member, pattern: str) -> None:
        self.found.append(pattern)
        self.offset = member.end

    def inside(self, member: Member) -> Iterator[Member]:
        """Yield the members of an object; names and braces are added."""
        value = member.value
        if not isinstance(value, JsonObject):
            raise Irregular
        self.upto(member.start + 1, "{")
        for each in value.members:
            self.name(each, is_first=each is value.members[0])
            yield each
        self.upto(member.end, "}")

    def rest(self) -> None:
        """Add the end of the message: the version, which is then always this one."""
        end = len(self.value)
        self.upto(end, self._text(self.offset, end))

    def _text(self, start: int, end: int) -> str:
        return self.value[start:end].decode()


def readers_of(types: Sequence[StreamXType]) -> tuple[Read, ...]:
    """Return what reads the groups of columns. They raise one of IRREGULARITIES."""
    of_type: dict[StreamXType, Read] = {
        "LONG": int,
        "DATE": int,
        "DOUBLE": float,
        "BOOLEAN": _BOOLEANS.__getitem__,
        "STRING": _read_string,
        "BYTES": _read_bytes,
    }
    return tuple(of_type[type_] for type_ in types)


_BOOLEANS = {"true": True, "false": False}


def _read_string(group: str) -> str:
    if "\\" not in group:
        return group
    text: str = scanstring(group + '"', 0)[0]
    if "\\u" in group:
        text.encode()  # no lone surrogates
    return text


def _read_bytes(group: str) -> bytes:
    if len(group) & 3:
        raise Irregular
    return a2b_base64(group)
