"""Which values are to be made: those that a source database has, or all that a format can carry."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdcwire.format import Format
from cdcwire.model.carries import KINDS
from cdcwire_generators.families import Family, get_family

# TiCDC writes 0 for these floats, MySQL has no such decimals, and its text columns hold UTF-8.
_NOT_IN_A_SOURCE = frozenset({"float not finite", "decimal not finite", "text ill-formed"})
PLAUSIBLE_KINDS = frozenset(KINDS) - _NOT_IN_A_SOURCE - {"unavailable"}


def _mysql() -> Family:
    return get_family("mysql")


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a strategy may draw.

    ``kinds``: names of ``cdcwire.model.carries.KINDS``; a value of another kind is not made.
    ``position_fields``: which fields of a position are filled, all from one counter.
    ``is_plausible``: only values that the source can hold; else whatever the wire can carry in
    their place too, such as a year of 2**63 - 1 or a date that is no date.
    """

    family: Family = field(default_factory=_mysql)
    kinds: frozenset[str] = PLAUSIBLE_KINDS
    position_fields: tuple[str, ...] = ("commit_ts", "partition")
    is_plausible: bool = True

    def __post_init__(self) -> None:
        odd = self.kinds - set(KINDS)
        if odd:
            raise ValueError(f"not a kind: {', '.join(sorted(odd))}")


PLAUSIBLE = Domain()


def domain_of(*formats: Format, family: str = "mysql", is_plausible: bool = False) -> Domain:
    """Return the domain of what every one of ``formats`` carries exactly.

    Without formats it is everything that the family and the model know.
    """
    kinds = frozenset(
        kind
        for kind in KINDS
        if all(each.carries.kinds[kind].verdict == "exact" for each in formats)
    )
    if is_plausible:
        kinds &= PLAUSIBLE_KINDS
    return Domain(get_family(family), kinds, is_plausible=is_plausible)
