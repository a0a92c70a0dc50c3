"""The old names in a RENAME: its schema file is under the new name only.

This is not an SQL parser. It knows ``RENAME TABLE a TO b, …`` and ``ALTER TABLE a RENAME [TO] b``,
with
names that may be quoted; of anything else it says nothing.
"""

from __future__ import annotations

import re

RENAME_TABLE = 14
RENAME_TABLES = 47

_MAX_QUERY = 1 << 16
_NAME = r"(`(?:[^`]|``)+`|[^\s`.,;()'\"]+)"
_TABLE = rf"{_NAME}(?:\s*\.\s*{_NAME})?"
_RENAME = re.compile(r"\s*RENAME\s+TABLES?\s+", re.IGNORECASE)
_PAIR = re.compile(rf"{_TABLE}\s+TO\s+{_TABLE}\s*(,|;|\Z)\s*", re.IGNORECASE)
_ALTER = re.compile(
    rf"\s*ALTER\s+TABLE\s+{_TABLE}\s+RENAME\s*(?:\s(?:TO|AS)\s|=)?\s*{_TABLE}\s*;?\s*\Z",
    re.IGNORECASE,
)


def renamed_from(query: str, schema: str) -> list[tuple[str, str]]:
    """Return schema and name of each table before the RENAME. ``schema`` is of bare names."""
    if len(query) > _MAX_QUERY:
        return []
    found = _ALTER.fullmatch(query)
    if found is not None:
        return [_names(found, schema)]
    found = _RENAME.match(query)
    if found is None:
        return []
    names: list[tuple[str, str]] = []
    sign = ","
    end = found.end()
    while sign == ",":
        found = _PAIR.match(query, end)
        if found is None:
            return []
        names.append(_names(found, schema))
        sign, end = found.group(5), found.end()
    return names


def _names(found: re.Match[str], schema: str) -> tuple[str, str]:
    first, second = _plain(found.group(1)), found.group(2)
    return (schema, first) if second is None else (first, _plain(second))


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
