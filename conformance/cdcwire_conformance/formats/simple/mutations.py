"""The rules of `simple`, in JSON.

A message is one JSON object, so it cannot lose its last byte; only white space after it can be cut.
These changes are made in rows:

* A member that a row needs is left out.
* The type is unknown.
* A value of a column loses its quotes, and what is left is not JSON.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules, reads_as_json
from cdcwire_conformance.families.compressed import compression_layers

_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 512
_NEEDED = frozenset({"version", "type", "commitTs", "buildTs"})
_ROW_TYPES = frozenset({"INSERT", "UPDATE", "DELETE"})
_TYPE = re.compile(rb'(,?"type":)"[A-Z]+"')
_VALUE = re.compile(rb'(,?"(?:[^"\\]|\\.)*":)"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SIDES = frozenset({"data", "old"})


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a message may end."""
    return set(range(len(raw.rstrip(_WHITE_SPACE)), len(raw)))


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members and values of a row."""
    if not any(span.path == ("type",) and span.value in _ROW_TYPES for span in spans):
        return
    for span in spans:
        start, end, own = span.start, span.end, raw[span.start : span.end]
        if not own.startswith((b'"', b',"')):
            continue
        name = str(span.path[0]) if len(span.path) == 1 else ""
        if name in _NEEDED:
            title = f"the member {name} at byte {start} is left out"
            yield Change("member", start, "-1", title, raw[:start] + raw[end:].lstrip(b","))
        if name == "type" and (found := _TYPE.fullmatch(own)):
            title = f"the type at byte {start} is UPSERT"
            yield Change(
                "tag", start, "=UPSERT", title, raw[:start] + found[1] + b'"UPSERT"' + raw[end:]
            )
        is_value = len(span.path) == len(_SIDES) and span.path[0] in _SIDES
        found = _VALUE.fullmatch(own) if is_value else None
        if found is not None and not reads_as_json(found[2]):
            title = f"the value at byte {start} has no quotes"
            yield Change("quote", start, "", title, raw[:start] + found[1] + found[2] + raw[end:])


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    layers=lambda part, raw, context: compression_layers(raw, context),
)
