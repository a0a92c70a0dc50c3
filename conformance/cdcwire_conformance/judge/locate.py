"""The byte that a difference is about, found among the spans of an explanation.

Formats name the fields of their bytes in their own words; this module knows which of them stand for
which part of an event. What is not found is no loss: the failure is then shown without a byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cdcwire.core.errors import DecodeError, Path
from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.core.reader import Span
from cdcwire.model.events import RowChange
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.cases import Focus, Judgement
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.judge.fields import record_fields
from cdcwire_conformance.judge.members import has_members, member_span

# Part of an event -> the last step of the spans that say it.
_NAMES: dict[str, tuple[str, ...]] = {
    "op": ("op", "type", "t"),
    "what": ("type", "t", "Type"),
    "code": ("ddl_type", "code", "type", "t", "Type"),
    "schema": ("schema", "scm", "database", "Schema"),
    "table": ("table", "tbl", "Table"),
    "query": ("query", "q", "sql", "Query"),
    "commit_ts": ("commit_ts", "commitTs", "watermarkTs", "TableVersion", "checkpoint-ts", "ts"),
    "partition": ("partition", "ptn"),
    "key": ("flags", "f", "h", "pkNames"),
    "row_id": ("row_id", "rid"),
    "claim_check": ("claim_check", "ccl", "claimCheckLocation"),
    "commit_ms": ("es",),
    "sent_ms": ("ts",),
    "message_id": ("id",),
    "row_key": ("rowkey",),
}
# Formats in which one of these words stands for something else.
_NAMES_OF: dict[tuple[str, str], tuple[str, ...]] = {
    ("canal-json", "commit_ts"): ("commitTs", "watermarkTs", "TableVersion", "checkpoint-ts"),
    ("avro", "op"): ("_tidb_op",),
    ("avro", "commit_ts"): ("_tidb_commit_ts", "commit_ts", "commitTs"),
    ("avro", "commit_ms"): ("_tidb_commit_physical_time",),
    # Names stand in the schema, which the id leads to.
    ("avro", "schema"): ("schema", "schema_id"),
    ("avro", "table"): ("table", "schema_id"),
    ("avro", "key"): ("schema_id",),
    ("avro", "checksum"): ("_tidb_row_level_checksum",),
    ("avro", "corrupted"): ("_tidb_corrupted",),
    ("avro", "checksum_version"): ("_tidb_checksum_version",),
    ("datahub-tuple", "op"): ("_operation_type_",),
    ("datahub-tuple", "half"): ("_after_image_",),
    ("datahub-tuple", "table"): ("_source_table_",),
    ("datahub-tuple", "sequence_id"): ("_sequence_id_",),
    ("datahub-tuple", "commit_ms"): ("_excute_time_", "_execute_time_"),
    ("datahub-blob", "what"): ("op",),
    ("datahub-blob", "half"): ("op",),
    ("datahub-blob", "database"): ("dbName",),
    ("datahub-blob", "schema"): ("schemaName", "dbName"),
    ("datahub-blob", "table"): ("tableName",),
    ("datahub-blob", "key"): ("primaryKey",),
    ("datahub-blob", "query"): ("text",),
    ("datahub-blob", "sequence_id"): ("sequenceId",),
    ("datahub-blob", "commit_ms"): ("eventTime",),
    ("datahub-blob", "sent_ms"): ("systemTime",),
    ("datahub-blob", "checkpoint_ms"): ("checkpointTime",),
    ("datahub-blob", "db_type"): ("dbType",),
    ("datahub-blob", "db_version"): ("dbVersion",),
    ("datahub-blob", "ddl_meta"): ("ddlMeta",),
}
# Formats of one event a message, which no number leads to -> where a side's columns are, the
# likeliest place first.
_PLACES: dict[str, dict[str, tuple[Path, ...]]] = {
    "avro": {
        "after": (("value",),),
        "before": (("value", "_ticdc_before"), ("key",), ("value",)),
    },
    "datahub-blob": {
        "after": (("payload", "after", "dataColumn"),),
        "before": (("payload", "before", "dataColumn"),),
    },
}
# Formats whose messages may hold records in several encodings.
_OF_BODIES = frozenset({"datahub-tuple", "datahub-blob"})
# Side of a row -> the words of the group or member that holds it, the likeliest first.
_SIDES: dict[str, tuple[str, ...]] = {
    "after": ("new", "after", "u", "data"),
    "before": ("old", "before", "p", "d", "data"),
}
_RECORDS = "records"  # of CSV: one image each, and no word for its side


def with_focus(judgement: Judgement, case: Case, codec: Format) -> Judgement:
    """Return a judgement of a decoded case with the byte of its first difference, if found."""
    if judgement.focus is not None or not judgement.differences:
        return judgement
    focus = find_focus(judgement.differences[0], case, codec)
    if focus is None:
        return judgement
    return Judgement(judgement.problem, judgement.differences, judgement.notes, focus)


def find_focus(difference: Difference, case: Case, codec: Format) -> Focus | None:
    """Return the byte of the case's messages that a difference is about."""
    path = difference.path
    if len(path) < 2 or path[0] != "events" or not isinstance(path[1], int):
        return None
    try:
        context = codec.prepared(case.messages, case.context())
    except ValueError:  # a setting that the reference can't serve
        return None
    found = _message_of_event(path[1], path[2:3] == ("after",), case.messages, codec, context)
    if found is None:
        return None
    message, index = found
    spans: Sequence[Span] = codec.explain(message, context).spans
    if codec.name in _OF_BODIES:
        spans = record_fields(spans)
    if has_members(codec.name):
        span = member_span(codec.name, path[2:], spans)
    else:
        span = _find_span(index, path[2:], spans, codec.name)
    return None if span is None else Focus(message, span.part, span.start, "where the value stands")


def _message_of_event(
    event_index: int,
    is_after: bool,
    messages: Sequence[Message],
    codec: Format,
    context: Context,
) -> tuple[Message, int] | None:
    """Return the message that holds an event, and the event's index in it.

    Two halves are one event; ``is_after`` tells which of them is meant.
    """
    left = event_index
    for message in messages:
        try:
            events = list(codec.decode(message, context))
        except (DecodeError, ValueError):  # ValueError: a setting that the reference can't serve
            return None
        for index, event in enumerate(events):
            half = event.half if isinstance(event, RowChange) else None
            if left == 0 and not (half == "before" and is_after):
                return message, index
            left -= half != "before"
    return None


def _find_span(
    event_index: int, path: Path, spans: Sequence[Span], format_name: str
) -> Span | None:
    of_event = [span for span in spans if _event_of(span.path) == event_index]
    whole = ("records", event_index)
    if any(span.path == whole for span in of_event):
        return _first(span for span in of_event if span.path == whole)
    places = _PLACES.get(format_name)
    if places is not None:
        of_event = list(spans)
    match path:
        case (("before" | "after") as side, str(column), *_) if places is not None:
            return _find_field(places[side], column, of_event)
        case (("before" | "after") as side, str(column), *_):
            return _find_column(side, column, of_event)
        case (("position" | "extra"), str(name), *_) | (str(name), *_):
            names = _NAMES_OF.get((format_name, name), _NAMES.get(name, (name,)))
            named = (span for span in of_event if span.path[-1:] and span.path[-1] in names)
            # A message of one event has members that no number leads to.
            shared = (span for span in spans if span.path and span.path[-1] in names)
            found = _likeliest(named, names)
            return found or _likeliest((s for s in shared if _is_shared(s.path)), names)
        case _:
            return _first(of_event)


def _event_of(path: Path) -> int | None:
    """Return the number of the event that a span belongs to: the first number in its path."""
    if path and path[0] in ("dictionary", "size_tables"):
        return None
    return next((step for step in path if isinstance(step, int)), None)


def _is_shared(path: Path) -> bool:
    return _event_of(path) is None and path[0] not in ("dictionary", "size_tables")


def _first(spans: Iterable[Span]) -> Span | None:
    return next(iter(spans), None)


def _likeliest(spans: Iterable[Span], names: Sequence[str]) -> Span | None:
    """Return the first span of the name that stands first among ``names``."""
    return min(spans, key=lambda span: names.index(str(span.path[-1])), default=None)


def _find_column(side: str, column: str, spans: Sequence[Span]) -> Span | None:
    """Return the span of a column's value, else of its name."""
    words = _SIDES[side]
    named = [
        span
        for span in spans
        if (column in span.path[2:] and _is_of_side(span.path, words))
        or (span.path[-1] in ("name", "names") and repr(column) in span.text)
    ]
    for span in sorted(named, key=lambda span: _rank(span.path, words)):
        if span.path[-1] == "name" and not _in_group(span.path, words, spans):
            continue
        stem = span.path[:-1] if span.path[-1] == "name" else span.path
        for last in ("value", "v", "length"):
            value = _first(each for each in spans if each.path == (*stem, last))
            if value is not None:
                return value
        return span
    return None


def _find_field(places: Sequence[Path], column: str, spans: Sequence[Span]) -> Span | None:
    """Return the span of a column's value in the first of the places that has one."""
    for holder in places:
        place = (*holder, column)
        found = [span for span in spans if span.path[: len(place)] == place]
        if found:
            # NULL has a branch of its union, and nothing behind it.
            return _first(span for span in found if span.path == place) or found[0]
    return None


def _is_of_side(path: Path, words: tuple[str, ...]) -> bool:
    return path[0] == _RECORDS or any(word in path[:-1] for word in words)


def _rank(path: Path, words: tuple[str, ...]) -> int:
    return next((rank for rank, word in enumerate(words) if word in path[:-1]), len(words))


def _in_group(path: Path, words: tuple[str, ...], spans: Sequence[Span]) -> bool:
    """Return whether the group of columns that a path leads into is of this side."""
    for size in range(len(path) - 1, 1, -1):
        kind = _first(span for span in spans if span.path == (*path[:size], "type"))
        if kind is not None and "columns" not in kind.path:
            return any(f"({word}" in kind.text for word in words)
    return True
