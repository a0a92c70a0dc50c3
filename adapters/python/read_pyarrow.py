"""pyarrow.csv as a testee.

    cdcwire verify csv -- python adapters/python/read_pyarrow.py

It distinguishes a quoted null text from a bare one, and reads text as binary columns, so that
ill-formed UTF-8 comes through. Each integer has its width; decimals of up to 38 digits are
decimal128, longer ones text. The delimiter has one character, the line end is any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow
from pyarrow import csv
from testee import serve
from ticdc_csv import WITHOUT_LAYOUT, Field, Row, Settings, decoder

_WIDTHS = {"int8": 8, "int16": 16, "int24": 32, "int32": 32, "int64": 64, "year": 16, "bit": 64}


def read(value: bytes, settings: Settings, fields: Sequence[Field]) -> Iterator[Row]:
    """Yield the rows of the table."""
    names = [str(index) for index in range(len(fields))]
    table = csv.read_csv(
        pyarrow.BufferReader(value),
        read_options=csv.ReadOptions(
            use_threads=False,  # a thread that is at work when Python ends makes the program abort
            column_names=names,
            skip_rows=1 if settings.has_header else 0,
            block_size=len(value) + 1,  # a record may not be longer than a block
        ),
        parse_options=csv.ParseOptions(
            delimiter=settings.delimiter,
            quote_char=settings.quote or False,
            double_quote=True,
            escape_char=settings.escape or False,
            newlines_in_values=bool(settings.quote),
            ignore_empty_lines=False,
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict(zip(names, map(_type_of, fields), strict=True)),
            null_values=[settings.null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=not settings.quote,
        ),
    )
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def _type_of(field: Field) -> pyarrow.DataType:
    kind, _, unsigned = field.kind.partition(" ")
    if kind in _WIDTHS:
        letter = "uint" if unsigned or kind == "bit" else "int"
        return getattr(pyarrow, f"{letter}{_WIDTHS[kind]}")()
    if field.is_float:
        return getattr(pyarrow, kind)()
    if kind == "decimal" and field.parameters and field.parameters[0] <= 38:
        return pyarrow.decimal128(*field.parameters)
    return pyarrow.binary() if kind == "text" else pyarrow.string()


if __name__ == "__main__":
    serve(
        "pyarrow.csv",
        pyarrow.__version__,
        "csv",
        decoder(read),
        rejections=(pyarrow.ArrowException, ValueError, ArithmeticError),
        without=WITHOUT_LAYOUT,
    )
