"""DuckDB's read_csv as a testee.

    cdcwire verify csv -- python adapters/python/read_duckdb.py

It distinguishes a quoted null text from a bare one, and has delimiters of up to four bytes. It has
all integers, and decimals of up to 38 digits; longer ones are read as text. An escape without
quotes needs ``strict_mode`` off, and may not occur in the null text. Text is valid UTF-8 or
refused.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
from testee import serve
from ticdc_csv import WITHOUT_LAYOUT, Field, Row, Settings, decoder

_INTEGERS = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int24": "INTEGER",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "year": "SMALLINT",
    "bit": "UBIGINT",
}
_QUERY = """
FROM read_csv($file, auto_detect = false, columns = $columns, header = false, skip = $skip,
    delim = $delim, quote = $quote, escape = $escape, new_line = $new_line,{extra}
    nullstr = $null, allow_quoted_nulls = $quoted_nulls, max_line_size = $longest)
"""


def read(value: bytes, settings: Settings, fields: Sequence[Field]) -> Sequence[Row]:
    """Return the rows of the query."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.csv")
        file.write_bytes(value)
        parameters: dict[str, object] = {
            "file": str(file),
            "columns": {str(index): _type_of(field) for index, field in enumerate(fields)},
            "skip": 1 if settings.has_header else 0,
            "delim": settings.delimiter,
            "quote": settings.quote,
            "escape": settings.quote or settings.escape or "",
            "new_line": settings.terminator.replace("\r", "\\r").replace("\n", "\\n"),
            "null": settings.null,
            "quoted_nulls": not settings.quote,
            "longest": max(len(value), 1 << 21),
        }
        # Only where it has to be off: set to true beside new_line, DuckDB 2.0.0 loses records.
        extra = " strict_mode = false," if settings.escape else ""
        if settings.null == "" and (never_null := _never_null(fields)):
            extra += " force_not_null = $never_null,"
            parameters["never_null"] = never_null
        query = _QUERY.format(extra=extra)
        try:
            rows: list[Row] = _CONNECTION.execute(query, parameters).fetchall()
        except duckdb.Error as error:
            # The reason stands between the line at fault and the advice.
            reason = re.split(r"\n\n|\nPossible", str(error))[0].splitlines()[-1]
            raise ValueError(reason) from error
    return rows


def _never_null(fields: Sequence[Field]) -> list[str]:
    """Return the text columns that can't be NULL: they are read as empty text instead."""
    return [
        str(index)
        for index, field in enumerate(fields)
        if not field.nullable and _type_of(field) == "VARCHAR"
    ]


def _type_of(field: Field) -> str:
    kind, _, unsigned = field.kind.partition(" ")
    if kind in _INTEGERS:
        return f"U{_INTEGERS[kind]}" if unsigned else _INTEGERS[kind]
    if field.is_float:
        return "FLOAT" if kind == "float32" else "DOUBLE"
    if kind == "decimal" and field.parameters and field.parameters[0] <= 38:
        return "DECIMAL({}, {})".format(*field.parameters)
    return "VARCHAR"


_CONNECTION = duckdb.connect()

if __name__ == "__main__":
    serve(
        "DuckDB read_csv",
        duckdb.__version__,
        "csv",
        decoder(read),
        rejections=(ValueError, ArithmeticError),
        without=WITHOUT_LAYOUT,
    )
