"""The rules of DataHub Blob: records that are a message by themselves, and bodies.

A record is one JSON object, so it can't lose its last byte; white space after it may go. Other
changes:

* A member that its op needs is left out.
* The op is undefined.
* A value, a sequence id, the version: texts lose their quotes, and the rest is not JSON.

Base64 and frames are not changed: a record in a body is the same as by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.datahub.ops import OPS, QUERY, Op
from cdcwire.model.events import Path
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules
from cdcwire_conformance.families import datahub_mutations as datahub_bodies
from cdcwire_conformance.families.datahub_mutations import without_members, without_quotes

_LONG_PART = 256  # every byte of a text is alike; its fields are what differs
_OP = ("payload", "op")
_IMAGE_PATH = 4  # payload, after, dataColumn, a name
_NAMES_OF_SOURCE = frozenset({"dbName", "tableName"})
_QUOTED = frozenset(
    {
        ("version",),
        ("payload", "sequenceId"),
    }
)
_TEXT = re.compile(rb'"[^"]*"$')


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members of a record, or in a body."""
    op = next((_op_of(raw, span) for span in spans if span.path == _OP), None)
    if op is None:
        yield from datahub_bodies.changes(raw, spans, options)
        return
    yield from without_members(raw, spans, partial(_is_needed, op))
    for span in spans:
        if span.path == _OP:
            yield _with_text(raw, span, "UPSERT")
        elif span.path in _QUOTED or _is_value(span):
            yield from without_quotes(raw, span)


def _op_of(raw: bytes, span: Span) -> Op | None:
    found = _TEXT.search(raw[span.start : span.end])
    return None if found is None else OPS.get(found[0][1:-1].decode("utf-8", "replace"))


def _is_needed(op: Op, path: Path) -> bool:
    """Return whether an op needs the member at a path."""
    is_row, is_ddl = op.group == "row", op.group == "ddl"
    match path:
        case _ if path in _ALWAYS:
            return True
        case ("payload", "sequenceId"):
            return op.group != "heartbeat"
        case ("payload", "before", *inside):
            return op.has_before and inside in ([], ["dataColumn"])
        case ("payload", "after", *inside):
            return op.has_after and inside in ([], ["dataColumn"])
        case ("payload", "ddl") | ("payload", "ddl", "text"):
            return is_ddl
        case ("schema", "source"):
            return is_row or is_ddl
        case ("schema", "source", name):
            return (is_row or is_ddl) and op.name != QUERY and name in _NAMES_OF_SOURCE
        case ("schema", "dataColumn"):
            return is_row
        case ("schema", "dataColumn", int(), "name" | "type"):
            return True
        case _:
            return False


_ALWAYS: frozenset[Path] = frozenset(
    {
        ("schema",),
        ("payload",),
        _OP,
        ("payload", "timestamp"),
        ("payload", "timestamp", "eventTime"),
    }
)


def _is_value(span: Span) -> bool:
    return len(span.path) == _IMAGE_PATH and span.path[2] == "dataColumn"


def _with_text(raw: bytes, span: Span, text: str) -> Change:
    own = _TEXT.sub(b'"' + text.encode() + b'"', raw[span.start : span.end])
    title = f"the member {span.path[-1]} at byte {span.start} is {text}"
    made = raw[: span.start] + own + raw[span.end :]
    return Change("tag", span.start, f"={text}", title, made)


RULES = FormatRules(
    parts=("value",),
    legal_sizes=datahub_bodies.legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    layers=datahub_bodies.layers,
)
