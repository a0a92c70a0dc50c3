"""The members ``data`` and ``old``: rows, each an object of texts by column.

A row is read with the kinds of its columns, so that an invalid value is found at its byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import Form, Quote, expect_array, expect_object, items_of, wrong
from cdcwire.core.strict_json import Member
from cdcwire.formats.canal_json.columns import NO_DEFINITION, Definition
from cdcwire.formats.canal_json.members import MYSQL_TYPE, NAME, ROWS, RULES
from cdcwire.formats.canal_json.values import Read, value_clause, value_reader

# Columns of one row with their texts, in the order of the message.
Row: TypeAlias = "tuple[tuple[str, str | None], ...]"
Rows: TypeAlias = "tuple[Row | None, ...]"
Types: TypeAlias = "Mapping[str, str]"  # mysqlType by column


class RowReader:
    """The common parts of the rows of one message: how the values of a column are read."""

    def __init__(self, types: Types, definition: Definition = NO_DEFINITION) -> None:
        self._types = types
        self._definition = definition
        self._known: dict[str, tuple[Read, str]] = {}

    def value(self, member: Member) -> str | None:
        """Return the text of a value, or None for NULL. Raises: DecodeError."""
        name, text = member.name, member.value
        read, clause = self._known.get(name) or self._learn(member)
        if text is None:
            return None
        if not isinstance(text, str):
            error = wrong(text, "a string", member.start, clause)
            error.path = (name,)
            raise error
        try:
            read(text)
        except ValueError as error:
            raise DecodeError(str(error), member.start, clause, (name,)) from None
        return text

    def _learn(self, member: Member) -> tuple[Read, str]:
        name = member.name
        try:
            kind = self._definition.column(name, self._types.get(name)).type
        except ValueError as error:
            raise DecodeError(str(error), member.name_start, MYSQL_TYPE, (name,)) from None
        self._known[name] = found = (value_reader(kind), value_clause(kind))
        return found


def read_rows(given: Member | None, clause: str, reader: RowReader) -> Rows | None:
    """Return the rows of ``data`` or ``old``; None where there are none. Raises: DecodeError."""
    if given is None:
        return None
    rows = []
    with step(given.name):
        for index, item in enumerate(items_of(expect_array(given, clause))):
            with step(index):
                rows.append(None if item.value is None else _read_row(item, clause, reader))
    return tuple(rows)


def _read_row(item: Member, clause: str, reader: RowReader) -> Row:
    return tuple((each.name, reader.value(each)) for each in expect_object(item, clause).members)


def _unread(given: Member, data: bytes, clause: str) -> Any:
    return given


def _write_rows(rows: Rows, clause: str, quoted: Quote) -> str:
    texts = []
    for index, row in enumerate(rows):
        with step(index):
            texts.append("null" if row is None else _write_row(row, quoted))
    return f"[{','.join(texts)}]"


def _write_row(row: Row, quoted: Quote) -> str:
    names: set[str] = set()
    members = []
    for name, text in row:
        with step(name):
            if name in names:
                raise EncodeError("a column is duplicated", ROWS)
            names.add(name)
            written = "null" if text is None else write_value_text(text, quoted)
            members.append(f"{NAME.write(name, ROWS, quoted)}:{written}")
    return f"{{{','.join(members)}}}"


def write_value_text(text: str, quoted: Quote) -> str:
    """Return the JSON of a value. Lone surrogates of bad bytes become escapes of U+FFFD.

    Raises: EncodeError.
    """
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        problem = f"U+{ord(text[error.start]):04X} is not a character"
        raise EncodeError(problem, RULES.string_clause) from None
    return quoted(text)


# A row is read by ``RowReader``, which needs the types of all columns.
ROWS_FORM: Form[Rows] = Form(_unread, _write_rows)
