"""Columns and tables: every type of a family, every shape of key, odd names."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import get_args

from hypothesis import strategies as st

from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, Role
from cdcwire_generators.domain import KEY_SHAPES, PLAUSIBLE, Domain
from cdcwire_generators.families import ColumnType, get_family
from cdcwire_generators.strategies.names import column_names, names, schema_names, table_names
from cdcwire_generators.strategies.values import has_values

_NO_ROLES: frozenset[Role] = frozenset()
_KEY_ROLES: dict[str, frozenset[Role]] = {
    "primary": frozenset({"primary", "handle"}),
    "composite": frozenset({"primary", "handle", "multiple"}),
    "unique": frozenset({"unique", "handle"}),
    "nullable unique": frozenset({"unique"}),
    "none": _NO_ROLES,
}
# The roles of a column other than the key: none, indexed, generated.
_OTHER_ROLES: tuple[frozenset[Role], ...] = (
    _NO_ROLES,
    frozenset({"multiple"}),
    frozenset({"generated"}),
    frozenset({"unique"}),
    frozenset({"unique", "multiple"}),
)
_DRAWN_ROLES = st.sampled_from(_OTHER_ROLES)
_INDEX_ROLES = frozenset({"primary", "handle", "unique", "multiple"})


@lru_cache(maxsize=64)
def column_types(
    *, family: str = "mysql", fits_key: bool | None = None, domain: Domain | None = None
) -> st.SearchStrategy[ColumnType]:
    """Give the column types of a family; those that a key may hold, or may not, where asked.

    ``domain``: types without a value in it are left out, except those that never have one.
    """
    found = [
        column_type
        for column_type in get_family(family).column_types
        if (fits_key is None or column_type.fits_key == fits_key)
        and (domain is None or column_type.is_always_null or has_values(column_type.type, domain))
    ]
    return st.sampled_from(found)


def columns(
    *,
    name: str | None = None,
    roles: frozenset[Role] | None = None,
    nullable: bool | None = None,
    domain: Domain = PLAUSIBLE,
) -> st.SearchStrategy[Column]:
    """Give columns as the codecs of the family read them. Arguments that are not given are drawn.

    A column of the primary key or of the handle key is never nullable, and columns with an index
    have a type that fits one.
    """
    odd = (roles or _NO_ROLES) - set(get_args(Role))
    if odd:
        raise ValueError(f"not a role: {', '.join(sorted(odd))}")
    if nullable and (roles or _NO_ROLES) & {"primary", "handle"}:
        raise ValueError("a column of the primary or handle key is not nullable")
    return _columns(name, roles, nullable, domain)


@st.composite
def _columns(
    draw: st.DrawFn,
    name: str | None,
    roles: frozenset[Role] | None,
    nullable: bool | None,
    domain: Domain,
) -> Column:
    if name is None:
        name = draw(names())
    if roles is None:
        roles = draw(_DRAWN_ROLES)
    fits_key = True if roles & _INDEX_ROLES else None
    family = domain.family.name
    column_type = draw(column_types(family=family, fits_key=fits_key, domain=domain))
    if column_type.is_always_null:
        nullable = True
    elif nullable is None:
        nullable = not roles & {"primary", "handle"} and draw(st.booleans())
    return domain.family.column(name, column_type, nullable, roles)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    key: str | None = None,
    min_columns: int = 1,
    max_columns: int = 6,
    domain: Domain = PLAUSIBLE,
) -> Table:
    """Give tables with all their columns. ``key``: one of KEY_SHAPES; drawn if None.

    The key columns are anywhere among the others.
    """
    if key is not None and key not in KEY_SHAPES:
        raise ValueError(f"key={key!r} is not one of {', '.join(KEY_SHAPES)}")
    if not 1 <= min_columns <= max_columns:
        raise ValueError(
            f"min_columns={min_columns} and max_columns={max_columns} are not in order"
        )
    if key == "composite" and max_columns < 2:
        raise ValueError("a composite key needs max_columns of at least 2")
    has_field_names = domain.has_field_names
    if key == "composite":
        min_columns = max(min_columns, 2)
    drawn_names = draw(
        column_names(min_size=min_columns, max_size=max_columns, has_field_names=has_field_names)
    )
    shapes = [shape for shape in domain.key_shapes if shape != "composite" or len(drawn_names) > 1]
    shape = key if key is not None else draw(st.sampled_from(shapes))
    key_size = {"none": 0, "composite": min(len(drawn_names), draw(st.integers(2, 3)))}.get(
        shape, 1
    )
    in_key = draw(st.permutations(range(len(drawn_names))))[:key_size]
    drawn = []
    for index, name in enumerate(drawn_names):
        roles = _KEY_ROLES[shape] if index in in_key else None
        nullable = True if roles == _KEY_ROLES["nullable unique"] else None
        drawn.append(draw(_columns(name, roles, nullable, domain)))
    handle = tuple(column.name for column in drawn if "handle" in column.roles)
    has_path_names = domain.has_path_names
    name = draw(table_names(has_path_names=has_path_names, has_field_names=has_field_names))
    schema = draw(schema_names(has_path_names=has_path_names, has_field_names=has_field_names))
    return Table(name, schema, columns=tuple(drawn), key=handle)


def row_table(table: Table) -> Table:
    """Return a table as row changes name it: its key, and no columns."""
    return replace(table, columns=None)
