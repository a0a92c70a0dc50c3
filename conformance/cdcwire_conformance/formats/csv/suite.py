"""The suite's facts about csv, and the rules of its derived cases.

A record is whole with its terminator. So a file can lose or gain any byte except at the end of a
record. A cut there leaves a shorter file that is legal. Half a terminator ends a record too, for
readers that know all line ends. Quotes are left alone: many readers take text without and numbers
with them. Other changes:

* A field is left out or repeated: the number of fields of a record is fixed.
* The operation is an undefined letter.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.formats.csv.settings import Settings, read_settings
from cdcwire.formats.csv.tables import Definitions
from cdcwire.model.events import Table
from cdcwire_conformance.families.mysql import is_read
from cdcwire_conformance.formats.csv.known_wrong import KNOWN_WRONG
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json, mend_text
from cdcwire_conformance.mutations import Change, FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.column_decoders import StoredColumns

_CRLF = b"\r\n"
_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 1024


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a file may end: after a record or the header, and as one without bytes.

    In a file without records: before the white space at its end.
    """
    if any(span.clause.startswith("storage: ") for span in spans):
        return range(len(raw.rstrip(_WHITE_SPACE)), len(raw))
    ends: dict[tuple[str | int, ...], int] = {}
    for span in spans:
        if span.path[:1] in (("records",), ("header",)):
            ends[span.path[:2]] = max(span.end, ends.get(span.path[:2], 0))
    halves = (end - 1 for end in ends.values() if raw[:end].endswith(_CRLF))
    return frozenset({0, *ends.values(), *halves})


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of records."""
    signs = {name: str(options[name]).encode() for name in ("quote", "delimiter", "terminator")}
    fields = [span for span in spans if span.path[:1] == ("records",)]
    last = {span.path[:2]: span.start for span in fields}
    for span, after in pairwise([*fields, None]):
        assert span is not None
        is_last = span.start == last[span.path[:2]]
        sign = signs["terminator"] if is_last else signs["delimiter"]
        field = raw[span.start : span.end]
        if not field.endswith(sign) or (not is_last and (after is None or after.start != span.end)):
            continue  # of a long file not all fields are here
        if span.path[-1] == "op":
            yield _with_unknown_operation(raw, span, sign, signs)
        if not is_last:
            rest = raw[span.end :]
            title = f"the field at byte {span.start} is left out"
            yield Change("field", span.start, "-1", title, raw[: span.start] + rest)
            title = f"the field at byte {span.start} appears twice"
            yield Change("field", span.start, "+1", title, raw[: span.end] + field + rest)


def _with_unknown_operation(
    raw: bytes, span: Span, sign: bytes, signs: Mapping[str, bytes]
) -> Change:
    content = signs["quote"] + b"X" + signs["quote"] + sign
    made = raw[: span.start] + content + raw[span.end :]
    return Change("tag", span.start, "=X", f"the operation at byte {span.start} is X", made)


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    is_read=is_read,
)

_TEXTS = frozenset({"csv: text values", "csv: record", "storage: schema text"})
_VALUES = frozenset(
    {
        *("csv: integer values", "csv: bit and year values", "csv: float values"),
        *("csv: decimal values", "csv: temporal values", "csv: enum and set values"),
        *("csv: json values", "csv: vector values", "csv: limits", "csv: kinds of fields"),
    }
)
_OPERATION_TABLE_SCHEMA = 3


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return a file of rows with ASCII text, or another file with plainer JSON."""
    is_rows = error.clause.startswith("csv: ")
    return mend_text(message, error, _TEXTS) if is_rows else mend_json(message, error)


def _forgives(error: DecodeError, message: Message, context: Context) -> bool:
    """Return whether an error is about a value, in a file whose records are whole."""
    if error.clause not in _VALUES or error.path[-1:] == ("op",):
        return False
    settings = read_settings(context)
    counts = list(_field_counts(message.value or b"", settings))
    if settings.output_field_header:
        counts = counts[1:]
    flags = (settings.include_commit_ts, settings.output_old_value, settings.output_handle_key)
    before = _OPERATION_TABLE_SCHEMA + sum(flags)
    possible = [
        {len(columns), sum("virtual" not in column.roles for column in columns)}
        for table in context.tables
        for columns in (table.columns or (),)
        if table.version is None or len(context.tables) == 1 or _is_of_version(message, table)
    ]
    return any(all(count - before in sizes for count in counts) for sizes in possible)


def _is_of_version(message: Message, table: Table) -> bool:
    return isinstance(message, StoredFile) and f"/{table.version}/" in message.path


def _field_counts(value: bytes, settings: Settings) -> Iterator[int]:
    """Yield the number of fields of each record; 0 for bytes that are not a record."""
    ends = b"(?P<delimiter>%b)|%b" % (re.escape(settings.delimiter), re.escape(settings.terminator))
    quote = re.escape(settings.quote)
    quoted = rb"%b(?:(?!%b).|%b%b)*%b" % ((quote,) * 5) if quote else rb"(?:\\.|(?!%b).)*" % ends
    bare = rb"(?:(?!%b).)*" % ends.replace(b"?P<delimiter>", b"?:")
    field = re.compile(
        rb"(?:%b|%b)(?:%b)" % (quoted.replace(b"?P<delimiter>", b"?:"), bare, ends), re.DOTALL
    )
    count = place = 0
    while place < len(value):
        found = field.match(value, place)
        if found is None:
            yield 0
            return
        count, place = count + 1, found.end()
        if found["delimiter"] is None:
            yield count
            count = 0


LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("storage: names", "storage: separators", "storage: file numbers"),
            *("storage: index files", "storage: schema hash", "storage: versions"),
            "csv: header line",
        }
    ),
    scalars=frozenset({"storage: metadata", "storage: schema columns"}),
    mend=_mend,
    forgives=_forgives,
)


def _stored_columns(context: Context) -> StoredColumns:
    from cdcwire_conformance.formats.csv.arrow_batches import CsvColumns

    return CsvColumns(Definitions(context.tables), read_settings(context))


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    stored_columns=_stored_columns,
    size=SizeFacts(
        color="#6a9f58",
        note=(
            "A batch of `csv` is a file of one table. With the producer's default settings "
            "its records have neither commit timestamps nor old values."
        ),
    ),
)
