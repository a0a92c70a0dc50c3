"""The families of source databases: which column types they have, and how they describe columns.

A family is data, read by the strategies and by the workloads.
"""

from __future__ import annotations

from cdcwire_generators.families.datahub import DATAHUB
from cdcwire_generators.families.declared import DECLARED, INDEXED
from cdcwire_generators.families.family import ColumnType, Family, SchemaChangeType
from cdcwire_generators.families.mysql import MYSQL
from cdcwire_generators.families.postgresql import CDL, POSTGRESQL

__all__ = ["ColumnType", "Family", "SchemaChangeType", "get_family"]

_FAMILIES = {family.name: family for family in (MYSQL, DECLARED, INDEXED, DATAHUB, POSTGRESQL, CDL)}


def get_family(name: str) -> Family:
    """Return the family of this name. Raises: ValueError that lists the names there are."""
    if name not in _FAMILIES:
        raise ValueError(f"family {name!r} is not known; there are: {', '.join(_FAMILIES)}")
    return _FAMILIES[name]
