"""The event fields and kinds that a format can carry, as data: one verdict for each.

The report prints these tables. The comparison of two formats leaves out what one of them can't
carry. A property test proves each cell by sending a value through the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.model.events import SOURCE_MEMBERS

VerdictKind: TypeAlias = Literal["exact", "option", "as", "lossy", "no"]
Replaced: TypeAlias = Literal["in CHAR and VARCHAR", "in all text"]


@dataclass(frozen=True, slots=True)
class CarryVerdict:
    """How one thing comes through.

    "exact": It comes back equal. "option": It is exact when the option ``detail`` is set, else not
    carried at all. "as": It comes back as the kind or form ``detail``, with the same meaning.
    "lossy": ``detail`` is lost. "no": Encoding it raises EncodeError (a kind), or it is not carried
    (an event field).

    ``setting``: of "option", its name and value. ``forms``: of "as", each kind that it may come
    back as. ``replaced``: of "lossy", the text in which each ill-formed byte becomes U+FFFD.
    """

    verdict: VerdictKind
    detail: str = ""
    setting: tuple[str, str | bool] = ("", True)
    forms: tuple[str, ...] = ()
    replaced: Replaced | None = None

    def __str__(self) -> str:
        return f"{self.verdict} {self.detail}".rstrip()


EXACT = CarryVerdict("exact")
NO = CarryVerdict("no")


def option(name: str, value: str | bool = True) -> CarryVerdict:
    """Return the verdict "option": exact only when an option has this value."""
    detail = name if value is True else f"{name}={value}"
    return CarryVerdict("option", detail, (name, value))


def as_form(*forms: str) -> CarryVerdict:
    """Return the verdict "as": the value comes back as one of these kinds or forms."""
    return CarryVerdict("as", " or ".join(forms), forms=forms)


def lossy(what: str, *, replaced: Replaced | None = None) -> CarryVerdict:
    """Return the verdict "lossy": ``what`` describes the loss."""
    return CarryVerdict("lossy", what, replaced=replaced)


EVENT_FIELDS: tuple[str, ...] = (
    "op",
    "before of update",
    "before of delete",
    "key",
    "commit_ts",
    "sequence_id",
    "lsn",
    "tx_id",
    "commit_ms",
    "sent_ms",
    "partition",
    *SOURCE_MEMBERS,
    "types",
    "schema change",
    "progress",
    "markers",
)

KINDS: tuple[str, ...] = (
    "bool",
    *(f"int{bits}{sign}" for bits in (8, 16, 24, 32, 64) for sign in ("", " unsigned")),
    "float32",
    "float64",
    "float not finite",
    "decimal",
    "decimal not finite",
    "text",
    "text ill-formed",
    "bytes",
    "bit",
    "date",
    "date as count",
    "time",
    "time as count",
    "datetime",
    "datetime as count",
    "timestamp",
    "timestamp as count",
    "timestamp with zone",
    "year",
    "interval",
    "enum by index",
    "enum by label",
    "set by index",
    "set by label",
    "json",
    "vector",
    "array",
    "map",
    "struct",
    "unknown",
    "unavailable",
)


@dataclass(frozen=True, slots=True)
class Carries:
    """The two tables of one format; every field and every kind has its verdict.

    Members of the position that one kind of source has need none: without it they are not carried.
    """

    fields: Mapping[str, CarryVerdict]
    kinds: Mapping[str, CarryVerdict]

    def __post_init__(self) -> None:
        fields = {**dict.fromkeys(SOURCE_MEMBERS, NO), **self.fields}
        object.__setattr__(self, "fields", fields)
        for names, table in ((EVENT_FIELDS, self.fields), (KINDS, self.kinds)):
            if set(names) != set(table):
                odd = sorted(set(names) ^ set(table))
                raise ValueError(f"a verdict is missing or not asked for: {', '.join(odd)}")
