"""Column selectors by the names that a feed has, where a changefeed routes tables to other names.

Selectors name tables as they are in the source. With ``target-schema`` and ``target-table`` of
``dispatchers`` a feed has other names, so the selectors are turned into ones that match these. The
first route that matches a table counts, and so does the first selector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

_SCHEMA, _TABLE = "target-schema", "target-table"
# A schema and a table, each a name or a pattern. Left out: !, quotes, escapes, and regular
# expressions between slashes.
_PLAIN = re.compile(r"""([^.!/\\"'`@]+)\.([^.!/\\"'`@]+)""")

Pattern: TypeAlias = tuple[str, str]


def routed_selectors(selectors: object, dispatchers: object) -> object | None:
    """Return the selectors for a feed's names; unchanged without routes.

    The tables of a route have theirs first. None: a pattern has a form that is not turned.
    """
    routes = [each for each in _objects(dispatchers) if each.get(_SCHEMA) or each.get(_TABLE)]
    if not routes or not _objects(selectors):
        return selectors
    found = []
    for selector in _objects(selectors):
        matcher: list[str] = []
        for route in routes:
            selected, routed = _patterns(selector), _patterns(route)
            if selected is None or routed is None:
                return None
            matcher += _targets(selected, routed, route)
        found.append({**selector, "matcher": [*dict.fromkeys(matcher)]})
    return [*(each for each in found if each["matcher"]), *_objects(selectors)]


def _objects(found: object) -> list[dict[str, object]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _patterns(rule: Mapping[str, object]) -> list[Pattern] | None:
    matcher = rule.get("matcher")
    texts = matcher if isinstance(matcher, list) else [""]
    found = [_PLAIN.fullmatch(each) if isinstance(each, str) else None for each in texts]
    return None if None in found else [(each[1], each[2]) for each in found if each]


def _targets(
    selected: Sequence[Pattern], routed: Sequence[Pattern], route: Mapping[str, object]
) -> Iterator[str]:
    """Yield the patterns of the names that a route gives the selected tables."""
    for left in selected:
        for right in routed:
            schema, table = map(_both, left, right)
            if schema and table:
                target = (str(route.get(_SCHEMA) or schema), str(route.get(_TABLE) or table))
                yield ".".join(
                    each.replace("{schema}", schema).replace("{table}", table) for each in target
                )


def _both(left: str, right: str) -> str | None:
    """Return the narrower one of two patterns; None if neither is a part of the other."""
    if fnmatchcase(left.lower(), right.lower()):
        return left
    return right if fnmatchcase(right.lower(), left.lower()) else None
