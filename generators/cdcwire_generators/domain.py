"""The values to generate: those that a source database has, or all that a format can carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire.model.carries import KINDS
from cdcwire.model.events import MarkerKind, ProgressKind
from cdcwire_generators.families import Family, get_family
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import get_generators
from cdcwire_generators.positions import POSITION_FIELDS

# TiCDC writes 0 for these floats, MySQL has no such decimals, and its text columns hold UTF-8.
_NOT_IN_A_SOURCE = frozenset({"float not finite", "decimal not finite", "text ill-formed"})
PLAUSIBLE_KINDS = frozenset(KINDS) - _NOT_IN_A_SOURCE - {"unavailable"}
_BASE_FIELDS = ("commit_ts", "partition")
# A table's key: shapes that all sinks take, that make a handle key, and that a schema file has.
KEY_SHAPES = ("primary", "none", "composite", "unique", "nullable unique")
_HANDLE_SHAPES = ("primary", "composite", "unique")
_PRIMARY_SHAPES = ("primary", "composite")
_DECLARED = "mysql declared"
_POSTGRESQL, _CDL = "postgresql", "postgresql by cdl"
_POSITIONS = (
    *("commit_ts", "partition", "sequence_id", "commit_ms", "sent_ms"),
    *("lsn", "tx_id"),
)


def _mysql() -> Family:
    return get_family("mysql")


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a strategy may draw.

    - ``kinds``: the names in ``cdcwire.model.carries.KINDS`` of the values that are drawn.
    - ``position_fields``: the fields of a position that are filled, all from one counter.
    - ``is_plausible``: draw only values that the source can hold. If False, also draw values that
      only the wire can carry, such as a year of 2**63 - 1 or an invalid date.
    - ``progress``: the kind of the progress events; None draws none.
    - ``markers``: the kinds of marker that are drawn; ``has_marker_ids`` gives them an id.
    - ``has_schema_changes``: draw schema changes; ``needs_queries`` allows no empty statement.
    - ``has_path_names``: schemas and tables have names that are valid in paths.
    - ``has_field_names``: all names are valid in Avro without change.
    - ``key_shapes``: the members of KEY_SHAPES that keys of tables may have.
    - ``has_one_table``: all events of a stream have one table.
    - ``has_reads``: rows may come from a snapshot.
    """

    family: Family = field(default_factory=_mysql)
    kinds: frozenset[str] = PLAUSIBLE_KINDS
    position_fields: tuple[str, ...] = _BASE_FIELDS
    is_plausible: bool = True
    progress: ProgressKind | None = "resolved"
    markers: tuple[MarkerKind, ...] = ()
    has_marker_ids: bool = True
    has_schema_changes: bool = True
    needs_queries: bool = False
    has_path_names: bool = False
    has_field_names: bool = False
    key_shapes: tuple[str, ...] = KEY_SHAPES
    has_one_table: bool = False
    has_reads: bool = False

    def __post_init__(self) -> None:
        odd = self.kinds - set(KINDS)
        if odd:
            raise ValueError(f"not a kind: {', '.join(sorted(odd))}")


PLAUSIBLE = Domain()


def domain_of(
    *formats: Format,
    family: str | None = None,
    is_plausible: bool = False,
    options: Sequence[Mapping[str, OptionValue]] = (),
) -> Domain:
    """Return the domain that every one of ``formats`` carries exactly.

    ``options``: those of each format that name its source database, where they do. Without
    formats it is everything that the family and the model know.
    """
    kinds = frozenset(
        kind
        for kind in KINDS
        if all(each.carries.kinds[kind].verdict == "exact" for each in formats)
    )
    if is_plausible:
        kinds &= PLAUSIBLE_KINDS
    feeds = _feeds(formats, options)
    found = _domain(formats, feeds, kinds, family, is_plausible)
    # Without its statement a schema change is not whole.
    all_have_statements = all(feed.has_statements for feed in feeds)
    return replace(found, has_schema_changes=found.has_schema_changes and all_have_statements)


def source_domain_of(*formats: Format) -> Domain:
    """Return the domain of the values that a source database gives to the producers of ``formats``.

    An index of 0 has no label, so ENUM is given by its label where a format writes labels.
    """
    kinds = {kind for kind in PLAUSIBLE_KINDS if all(_takes(each, kind) for each in formats)}
    return _domain(formats, _feeds(formats), frozenset(kinds), None, True)


def fullest_options(*formats: Format) -> dict[str, OptionValue]:
    """Return the options under which formats carry the most event fields, by their verdicts."""
    return {
        name: value
        for each in formats
        for verdict in each.carries.fields.values()
        if verdict.verdict == "option"
        for name, value in (verdict.setting,)
    }


def shared_fields(*formats: Format) -> tuple[str, ...]:
    """Return the fields of a position that all of ``formats`` carry, and streams have."""
    return tuple(
        field
        for field in _POSITIONS
        if all(each.carries.fields[field].verdict in ("exact", "option") for each in formats)
    )


def with_position_fields(domain: Domain, fields: tuple[str, ...]) -> Domain:
    """Return a domain that fills these fields too; a partition only if it is one of them.

    Rows of several partitions have no order among them, which shows where it is not carried.
    """
    filled = {*domain.position_fields, *fields} - ({"partition"} - set(fields))
    return replace(domain, position_fields=tuple(f for f in POSITION_FIELDS if f in filled))


def _takes(through: Format, kind: str) -> bool:
    verdict = through.carries.kinds[kind]
    return verdict.verdict in ("exact", "lossy") or (
        verdict.verdict == "as" and kind != "enum by index"
    )


def _feeds(
    formats: Sequence[Format], options: Sequence[Mapping[str, OptionValue]] = ()
) -> list[FeedTraits]:
    feeds = [get_generators(each.name).feed for each in formats]
    if not options:
        return feeds
    return [feed.of_source(feed, own) for feed, own in zip(feeds, options, strict=True)]


def _domain(
    formats: Sequence[Format],
    feeds: Sequence[FeedTraits],
    kinds: frozenset[str],
    family: str | None,
    is_plausible: bool,
) -> Domain:
    if family is None:
        family = _common_family({feed.family for feed in feeds})
    said = {feed.progress for feed in feeds} or {"resolved"}
    markers = [frozenset(feed.markers) for feed in feeds] or [frozenset()]
    key_shapes: tuple[str, ...] = KEY_SHAPES
    if any(feed.needs_key for feed in feeds):
        # A declaration has only the primary key.
        is_primary = family == _DECLARED or any(feed.needs_primary_key for feed in feeds)
        key_shapes = _PRIMARY_SHAPES if is_primary else _HANDLE_SHAPES
    needed = {*_BASE_FIELDS, *(field for feed in feeds for field in feed.position_fields)}
    return Domain(
        get_family(family),
        kinds,
        tuple(field for field in POSITION_FIELDS if field in needed),
        is_plausible or any(feed.is_plausible for feed in feeds),
        progress=said.pop() if len(said) == 1 else None,
        markers=tuple(sorted(frozenset.intersection(*markers))),
        has_marker_ids=all(feed.has_marker_ids for feed in feeds),
        has_schema_changes=all(_has_field(each, "schema change") for each in formats)
        and len({feed.has_statements for feed in feeds}) < 2,
        needs_queries=any(feed.needs_queries for feed in feeds),
        has_path_names=any(feed.has_path_names for feed in feeds),
        has_field_names=any(feed.has_field_names for feed in feeds),
        key_shapes=key_shapes,
        has_one_table=any(feed.has_one_table for feed in feeds),
        has_reads=bool(feeds) and all(feed.has_reads for feed in feeds),
    )


def _common_family(families: set[str]) -> str:
    """Return the family whose columns all can describe: those declared in full."""
    if len(families) < 2:
        return next(iter(families), "mysql")
    if families == {_POSTGRESQL, _CDL}:
        return _CDL
    return "mysql indexed" if families == {"mysql", "mysql indexed"} else _DECLARED


def _has_field(through: Format, field: str) -> bool:
    return through.carries.fields[field].verdict != "no"
