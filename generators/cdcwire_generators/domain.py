"""Which values are to be made: those that a source database has, or all that a format can carry."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdcwire.format import Format, OptionValue
from cdcwire.model.carries import KINDS
from cdcwire.model.events import ProgressKind
from cdcwire_generators.carried import PROGRESS
from cdcwire_generators.families import Family, get_family

# TiCDC writes 0 for these floats, MySQL has no such decimals, and its text columns hold UTF-8.
_NOT_IN_A_SOURCE = frozenset({"float not finite", "decimal not finite", "text ill-formed"})
PLAUSIBLE_KINDS = frozenset(KINDS) - _NOT_IN_A_SOURCE - {"unavailable"}
# The formats of the storage sink: they read nothing but what a producer writes, take a column from
# its declaration, and names of schemas and tables are directories.
_OF_STORAGE = frozenset({"csv", "canal-json"})
# A table's key: shapes that all sinks take, that make a handle key, and that a schema file tells.
KEY_SHAPES = ("primary", "none", "composite", "unique", "nullable unique")
_HANDLE_SHAPES = ("primary", "composite", "unique")
_PRIMARY_SHAPES = ("primary", "composite")


def _mysql() -> Family:
    return get_family("mysql")


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a strategy may draw.

    ``kinds``: names of ``cdcwire.model.carries.KINDS``; a value of another kind is not made.
    ``position_fields``: which fields of a position are filled, all from one counter.
    ``is_plausible``: only values that the source can hold; else whatever the wire can carry in
    their place too, such as a year of 2**63 - 1 or a date that is no date.
    ``progress``: what progress events say; None: there are none. ``has_path_names``: names of
    schemas and tables may be those of directories. ``has_field_names``: names are those that Avro
    keeps as they are. ``key_shapes``: of KEY_SHAPES, those that tables have.
    """

    family: Family = field(default_factory=_mysql)
    kinds: frozenset[str] = PLAUSIBLE_KINDS
    position_fields: tuple[str, ...] = ("commit_ts", "partition")
    is_plausible: bool = True
    progress: ProgressKind | None = "resolved"
    has_path_names: bool = False
    has_field_names: bool = False
    key_shapes: tuple[str, ...] = KEY_SHAPES

    def __post_init__(self) -> None:
        odd = self.kinds - set(KINDS)
        if odd:
            raise ValueError(f"not a kind: {', '.join(sorted(odd))}")


PLAUSIBLE = Domain()


def domain_of(*formats: Format, family: str | None = None, is_plausible: bool = False) -> Domain:
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
    return _domain(formats, kinds, family, is_plausible)


def source_domain_of(*formats: Format) -> Domain:
    """Return the domain of what a source database gives to the producers of ``formats``.

    An index of 0 has no label, so ENUM is told by its label where a format writes labels.
    """
    kinds = {kind for kind in PLAUSIBLE_KINDS if all(_takes(each, kind) for each in formats)}
    return _domain(formats, frozenset(kinds), None, True)


def fullest_options(*formats: Format) -> dict[str, OptionValue]:
    """Return the options under which formats carry the most event fields, by their verdicts."""
    return {
        verdict.detail: True
        for each in formats
        for verdict in each.carries.fields.values()
        if verdict.verdict == "option"
    }


def _takes(through: Format, kind: str) -> bool:
    verdict = through.carries.kinds[kind]
    return verdict.verdict in ("exact", "lossy") or (
        verdict.verdict == "as" and kind != "enum by index"
    )


def _domain(
    formats: tuple[Format, ...], kinds: frozenset[str], family: str | None, is_plausible: bool
) -> Domain:
    is_stored = any(each.name in _OF_STORAGE for each in formats)
    # Avro takes a column from its declaration too; it needs a handle key for a row that is deleted.
    has_records = any(each.name == "avro" for each in formats)
    if family is None:
        family = "mysql declared" if is_stored else "mysql indexed" if has_records else "mysql"
    said = {PROGRESS[each.name] for each in formats} or {"resolved"}
    key_shapes: tuple[str, ...] = KEY_SHAPES
    if has_records:
        key_shapes = _PRIMARY_SHAPES if is_stored else _HANDLE_SHAPES
    return Domain(
        get_family(family),
        kinds,
        is_plausible=is_plausible or is_stored or has_records,
        progress=said.pop() if len(said) == 1 else None,
        has_path_names=is_stored,
        has_field_names=has_records,
        key_shapes=key_shapes,
    )
