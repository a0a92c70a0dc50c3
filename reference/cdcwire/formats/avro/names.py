"""Names: any text made an Avro name, full names of records, and what they say about a table.

Sanitising goes one way: the original spelling is lost, and two names may become one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from cdcwire.core.errors import EncodeError

CLAUSE = "avro: names"
NAMESPACE_CLAUSE = "avro: namespace"

_FIRST = re.compile(r"[A-Za-z_]")
_NOT_LATER = re.compile(r"[^A-Za-z0-9_]")


def sanitize(name: str) -> str:
    """Return ``name`` as an Avro name, character by character.

    Shape: a first character other than a letter or underscore becomes an underscore, and an ASCII
    digit is kept after it. Every later character other than a letter, digit or underscore becomes
    an underscore.
    Source: avro, "names".
    """
    if not name:
        return name
    first, rest = name[0], _NOT_LATER.sub("_", name[1:])
    if _FIRST.match(first):
        return first + rest
    return f"_{first if first in '0123456789' else ''}{rest}"


def namespace_of(changefeed_namespace: str, schema: str | None) -> str:
    """Return the namespace of a table's records. Source: avro, "namespace"."""
    parts = (changefeed_namespace, schema) if schema else (changefeed_namespace,)
    return ".".join(map(sanitize, parts))


def schema_of_namespace(namespace: str) -> str | None:
    """Return the table's schema: the second part of a namespace, None if it has no such part."""
    parts = namespace.split(".")
    return parts[1] if len(parts) > 1 and parts[1] else None


def check_unique(names: Iterable[str], sanitized: Iterable[str]) -> None:
    """Raise EncodeError when two fields of a record would have one name."""
    pairs = list(zip(names, sanitized, strict=True))
    counts = Counter(field for _, field in pairs)
    for _, field in pairs:
        if counts[field] > 1:
            twice = ", ".join(repr(name) for name, other in pairs if other == field)
            raise EncodeError(f"{twice:.200} would all be the field {field!r:.80}", CLAUSE)
