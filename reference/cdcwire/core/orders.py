"""The orders of a format's changes: which members of a position say which change came first.

A format declares its orders, the preferred one first (``Comparing.orders``). A comparison uses the
first that all changes of both feeds have. The place of a change in an order is a number, or a text
of parts of fixed width. So engines only compare and sort one column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["number", "digits", "file", "hexadecimal", "gtid"]
"""How a member compares.

``number``: an int. ``digits``: text of up to 20 decimal digits. ``file``: the number at the end of
a file's name. ``hexadecimal``: groups of hexadecimal digits. ``gtid``: the last number of a GTID.
"""

Ties: TypeAlias = Literal["none", "any", "feed"]
"""The changes of one key at one place of an order.

``none``: there is at most one. ``any``: producers send them in any order. ``feed``: the order of
the feed counts, as in a transaction.
"""

_DIGITS = 20  # of the largest number of 64 bits
_BEYOND_DIGITS = 10**_DIGITS
_HEXADECIMAL_DIGITS = 16
_FILE = re.compile(r"(.*?)([0-9]{1,20})", re.ASCII | re.DOTALL)
_DECIMAL = re.compile(r"[0-9]{1,20}", re.ASCII)
_GROUPS = re.compile(r"(?:0x)?[0-9A-Fa-f]{1,16}(?:[:.][0-9A-Fa-f]{1,16})*", re.ASCII)
_MYSQL_GTID = re.compile(r"([0-9A-Fa-f-]{36}(?::[a-z_][a-z0-9_]{0,31})?):([0-9]{1,20})", re.ASCII)
_MARIADB_GTID = re.compile(r"([0-9]{1,10})-[0-9]{1,10}-([0-9]{1,20})", re.ASCII)


class NoPlace(ValueError):
    """A member of a position has a value that can't be ordered."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of ``Position`` in an order. ``is_optional``: NULL comes before all values."""

    name: str
    form: Form = "number"
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a change in an order, and what it holds within: the server, for example."""

    value: int | str
    scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """An order of changes. Two feeds meet in an order of one name, which means one thing.

    ``members``: the most significant one first. ``within``: members that must be the same in all
    changes, as each server numbers its own. ``ties``: as ``Ties`` says.

    Examples:
        >>> from cdcwire.model.events import Position
        >>> lsn = Order("lsn", (Member("lsn"),))
        >>> lsn.place(Position(lsn=5)), lsn.place(Position())
        (Place(value=5, scope=()), None)

    """

    name: str
    members: tuple[Member, ...]
    within: tuple[str, ...] = ()
    ties: Ties = "none"

    @property
    def number(self) -> str | None:
        """The member that alone is a number, and so the place; None if a place is a text."""
        is_one = len(self.members) == 1 and self.members[0].form == "number"
        return self.members[0].name if is_one and not self.within else None

    def place(self, position: object) -> Place | None:
        """Return the place of a position; None if it lacks a member. Raises: NoPlace.

        ``position``: a ``Position``, or a row that has its members.
        """
        number = self.number
        if number is not None:
            value: int | None = getattr(position, number, None)
            return None if value is None else Place(value)
        parts: list[str] = []
        scope: list[str] = []
        for name in self.within:
            found = getattr(position, name, None)
            scope.append("" if found is None else f"{name} {found}")
        for member in self.members:
            value = getattr(position, member.name, None)
            if value is None and not member.is_optional:
                return None
            text, within = _part(member, value)
            parts.append(text)
            scope.append(within)
        return Place(":".join(parts), tuple(part for part in scope if part))

    def place_or_none(self, position: object) -> Place | None:
        """Return the place of a position; None if it has none, or what can't be ordered."""
        try:
            return self.place(position)
        except NoPlace:
            return None


def shown_place(text: str) -> str:
    """Return a place as people read it: without the zeros before its numbers.

    Examples:
        >>> shown_place("00000000000000000003:00000000000000000154:00000000000000000000")
        '3:154:0'

    """
    return ":".join(part.lstrip("0") or "0" for part in text.split(":"))


def _part(member: Member, value: object) -> tuple[str, str]:
    """Return a value as text of fixed width, and what its number holds within."""
    if value is None:
        return "", ""
    if type(value) is int and 0 <= value < _BEYOND_DIGITS and member.form in ("number", "digits"):
        return f"{value:0{_DIGITS}}", ""  # as below, in a third of the time
    text = str(value).strip()
    if member.form == "file" and (found := _FILE.fullmatch(text)):
        return found[2].zfill(_DIGITS), f"{member.name} {found[1]}"
    if member.form == "gtid" and (found := _MYSQL_GTID.fullmatch(text)):
        return found[2].zfill(_DIGITS), f"UUID {found[1].lower()}"
    if member.form == "gtid" and (found := _MARIADB_GTID.fullmatch(text)):
        return found[2].zfill(_DIGITS), f"domain {found[1]}"
    if member.form == "hexadecimal" and _GROUPS.fullmatch(text):
        groups = re.split("[:.]", text.lower().removeprefix("0x"))
        return ".".join(group.zfill(_HEXADECIMAL_DIGITS) for group in groups), ""
    if member.form in ("number", "digits") and _DECIMAL.fullmatch(text):
        return text.zfill(_DIGITS), ""
    raise NoPlace(f"{member.name} {text[:60]!r} {_WANTED[member.form]}")


_WANTED: dict[Form, str] = {
    "number": "is not a number from 0 to 2**64-1",
    "digits": "is not a number of up to 20 digits",
    "file": "has no number at its end",
    "hexadecimal": "is not groups of hexadecimal digits",
    "gtid": "is not a GTID",
}

COMMIT_TS = Order("commit_ts", (Member("commit_ts"),), ties="any")
SEQUENCE_ID = Order("sequence_id", (Member("sequence_id"),))
LSN = Order("lsn", (Member("lsn"),))
BINLOG = Order(
    "binlog", (Member("file", "file"), Member("pos"), Member("row")), within=("server_id",)
)
"""The event of a row begins at ``pos`` of the file; the event has several rows."""
GTID = Order("gtid", (Member("gtid", "gtid"),), ties="feed")
CHANGE_LSN = Order(
    "change_lsn",
    (
        Member("commit_lsn", "hexadecimal"),
        Member("change_lsn", "hexadecimal"),
        Member("event_serial_no", is_optional=True),
    ),
)
"""Of SQL Server, and of Db2, which has no serial numbers."""
RS_ID = Order(
    "rs_id",
    (
        Member("commit_scn", "digits"),
        Member("scn", "digits"),
        Member("rs_id", "hexadecimal"),
        Member("ssn"),
    ),
)
"""Of Oracle's LogMiner."""
SCN = Order("scn", (Member("commit_scn", "digits"), Member("scn", "digits")), ties="feed")
"""Of Oracle's other adapters."""
