"""pandas.read_csv as a testee.

    cdcwire verify csv -- python adapters/python/read_pandas.py

Integers are read as Int8 to UInt64, which have a NULL and all their bits. Floats are read as
float64, since Float64 loses the sign of zero; TiCDC never sends NaN. All other columns are read as
text: no type of pandas has zero dates, and decimals are made of the text. NULL is looked for in
columns that can be NULL, and there in quoted fields too. A delimiter of several characters is a
pattern and takes the Python engine, which then knows no quotes. A record that is too short is
filled up. One that is too long is an error. In the first record it is a warning, which counts as an
error here.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence

import pandas
from testee import serve
from ticdc_csv import WITHOUT_LAYOUT, Field, Row, Settings, decoder

_WIDTHS = {"int8": 8, "int16": 16, "int24": 32, "int32": 32, "int64": 64, "year": 16, "bit": 64}

warnings.simplefilter("error", pandas.errors.ParserWarning)


def read(value: bytes, settings: Settings, fields: Sequence[Field]) -> Iterator[Row]:
    """Yield the rows of the frame."""
    is_long = len(settings.delimiter) > 1
    frame = pandas.read_csv(
        io.BytesIO(value),
        engine="python" if is_long else "c",
        sep=re.escape(settings.delimiter) if is_long else settings.delimiter,
        lineterminator=settings.terminator if len(settings.terminator) == 1 else None,
        quotechar=settings.quote or '"',
        quoting=csv.QUOTE_MINIMAL if settings.quote else csv.QUOTE_NONE,
        escapechar=settings.escape,
        header=None,
        skiprows=1 if settings.has_header else 0,
        names=range(len(fields)),
        index_col=False,
        dtype={index: _type_of(field) for index, field in enumerate(fields)},
        na_values={index: [settings.null] for index, field in enumerate(fields) if field.nullable},
        keep_default_na=False,
        skip_blank_lines=False,
        encoding="utf-8",
        encoding_errors="surrogateescape",
    )
    for row in frame.itertuples(index=False, name=None):
        yield [None if pandas.isna(cell) else cell for cell in row]


def _type_of(field: Field) -> str:
    kind, _, unsigned = field.kind.partition(" ")
    if kind in _WIDTHS:
        return f"{'UInt' if unsigned or kind == 'bit' else 'Int'}{_WIDTHS[kind]}"
    return "float64" if field.is_float else "object"


if __name__ == "__main__":
    serve(
        "pandas.read_csv",
        pandas.__version__,
        "csv",
        decoder(read),
        rejections=(ValueError, TypeError, ArithmeticError, pandas.errors.ParserWarning),
        without=WITHOUT_LAYOUT,
    )
