"""The rules of Maxwell JSON.

A message is one JSON object, so it cannot lose its last byte; only white space after it can be cut.
These changes are made in rows:

* A member that a row needs is left out.
* The type is unknown.
* The name of the database or of the table loses its quotes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.formats.maxwell_json.message import SCHEMA_CHANGES
from cdcwire_conformance.corpus.mutations.rules import (
    Change,
    FormatRules,
    reads_as_json,
)

_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 512
_NEEDED = frozenset({"database", "table", "type", "ts", "data"})
_ROW_TYPES = frozenset({"insert", "update", "delete", "bootstrap-insert"})
_TYPE = re.compile(rb'(,?\s*"type"\s*:\s*)"[a-z-]+"')
_NAMES = frozenset({"database", "table"})
_NAME = re.compile(rb'([,{]?\s*"(?:database|table)"\s*:\s*)"([^"\\\s]+)"')


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a message may end."""
    return set(range(len(raw.rstrip(_WHITE_SPACE)), len(raw)))


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members of a row."""
    own = [span for span in spans if span.part == "value"]
    if not any(span.path == ("type",) and span.value in _ROW_TYPES for span in own):
        return
    members: dict[str, tuple[int, int]] = {}
    for span in own:
        if span.path:
            name = str(span.path[0])
            begin, end = members.get(name, (span.start, span.end))
            members[name] = (min(begin, span.start), max(end, span.end))
    for name, (start, end) in members.items():
        if name in _NEEDED:
            title = f"the member {name} at byte {start} is left out"
            feature = "position" if name == "ts" else None
            made = raw[:start] + raw[end:]
            yield Change("member", start, "-1", title, made, feature=feature)
        member = raw[start:end]
        if name == "type" and (found := _TYPE.fullmatch(member)):
            title = f"the type at byte {start} is upsert"
            made = raw[:start] + found[1] + b'"upsert"' + raw[end:]
            yield Change("tag", start, "=upsert", title, made)
        found = _NAME.fullmatch(member) if name in _NAMES else None
        if found is not None and not reads_as_json(found[2]):
            title = f"the value at byte {start} has no quotes"
            made = raw[:start] + found[1] + found[2] + raw[end:]
            yield Change("quote", start, "", title, made)


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether readers look into the key: that of a schema change is a random UUID."""
    is_schema_change = any(
        span.path == ("type",) and span.value in SCHEMA_CHANGES for span in spans
    )
    return not (is_schema_change and any(span.part == "key" for span in spans))


RULES = FormatRules(
    parts=("key", "value"),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    is_read=is_read,
)
