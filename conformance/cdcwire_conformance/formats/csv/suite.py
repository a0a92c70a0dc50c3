"""The suite's facts about csv."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message, StoredFile
from cdcwire.formats.csv.settings import Settings, read_settings
from cdcwire.formats.csv.tables import Definitions
from cdcwire.model.events import Table
from cdcwire_conformance.formats.csv.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.csv.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json, mend_text
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.column_decoders import StoredColumns


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
