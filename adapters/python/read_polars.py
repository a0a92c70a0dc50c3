"""polars.read_csv as a testee.

    cdcwire verify csv -- python adapters/python/read_polars.py

All integers, decimals of up to 38 digits (longer ones as text). The delimiter is one byte, the line
end LF or CR LF. A quoted null text is NULL too. Only where the null text is empty, the setting
``empty_string_is_null`` distinguishes a bare empty field from a quoted one. There is no escape
without quotes, and text is valid UTF-8 or refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars
from testee import serve
from ticdc_csv import WITHOUT_LAYOUT, Field, Row, Settings, decoder

_INTEGERS = {
    "int8": "Int8",
    "int16": "Int16",
    "int24": "Int32",
    "int32": "Int32",
    "int64": "Int64",
    "year": "Int16",
    "bit": "UInt64",
}


def read(value: bytes, settings: Settings, fields: Sequence[Field]) -> Sequence[Row]:
    """Return the rows of the frame."""
    frame = polars.read_csv(
        value,
        has_header=False,
        skip_lines=1 if settings.has_header else 0,
        schema={str(index): _type_of(field) for index, field in enumerate(fields)},
        separator=settings.delimiter,
        quote_char=settings.quote or None,
        eol_char=settings.terminator[-1:],
        null_values={
            str(index): settings.null
            for index, field in enumerate(fields)
            if field.nullable and settings.null
        },
        empty_string_is_null=settings.null == "",
        missing_columns="raise",
        extra_columns="raise",
    )
    rows: list[Row] = frame.rows()
    return rows


def _type_of(field: Field) -> polars.DataType:
    kind, _, unsigned = field.kind.partition(" ")
    if kind in _INTEGERS:
        return getattr(polars, f"U{_INTEGERS[kind]}" if unsigned else _INTEGERS[kind])()
    if field.is_float:
        return polars.Float32() if kind == "float32" else polars.Float64()
    if kind == "decimal" and field.parameters and field.parameters[0] <= 38:
        return polars.Decimal(*field.parameters)
    return polars.String()


if __name__ == "__main__":
    serve(
        "polars.read_csv",
        polars.__version__,
        "csv",
        decoder(read),
        rejections=(polars.exceptions.PolarsError, ValueError, ArithmeticError),
        without=WITHOUT_LAYOUT,
    )
