"""A quick test of a column's bytes says yes only to what the pattern of its kind says yes to."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="needs the extra spark")

import pyarrow as pa

from cdcwire.model import kinds
from cdcwire.mysql.value_texts import pattern
from cdcwire_conformance.formats.csv.arrow_values import FLOAT, is_usual

USUAL: list[tuple[kinds.Type, str, list[str]]] = [
    (kinds.DateType(), pattern(kinds.DateType()), ["0000-00-00", "2024-12-31", "9999-02-30"]),
    (
        kinds.DatetimeType(0),
        pattern(kinds.DatetimeType(0)),
        ["2024-12-31 23:59:59", "0000-00-00 00:00:00"],
    ),
    (kinds.TimestampType(3), pattern(kinds.TimestampType(3)), ["2024-12-31 23:59:59.999"]),
    (kinds.TimeType(0), pattern(kinds.TimeType(0)), ["00:00:00", "-799:59:59", "100:00:00"]),
    (kinds.TimeType(2), pattern(kinds.TimeType(2)), ["23:59:59.99", "-00:00:00.00"]),
    (kinds.DecimalType(5, 2), pattern(kinds.DecimalType(5, 2)), ["0", "-0.5", "999.99", "10"]),
    (kinds.DecimalType(3, 0), pattern(kinds.DecimalType(3, 0)), ["0", "-100", "999"]),
    (kinds.DecimalType(), pattern(kinds.DecimalType()), ["0", "1234567890.123456789"]),
    (kinds.FloatType(64), FLOAT, ["0", "-0", "0.5", "-17.25", "123456789012345680000"]),
]
IDS = [str(kind) for kind, _, _ in USUAL]


@pytest.mark.parametrize(("kind", "expression", "texts"), USUAL, ids=IDS)
def test_usual_texts_are_usual_alone_and_together(
    kind: kinds.Type, expression: str, texts: list[str]
) -> None:
    for values in (texts, *([text] for text in texts), [None, *texts, None]):
        assert is_usual(kind, pa.array(values, pa.binary()))
    assert is_usual(kind, pa.array(["x", *texts, "x"], pa.binary())[1:-1])


@st.composite
def columns(draw: st.DrawFn) -> tuple[kinds.Type, str, list[str]]:
    """Texts of a kind, some of them with a few signs replaced, removed or added."""
    kind, expression, texts = draw(st.sampled_from(USUAL))
    found = []
    for text in draw(st.lists(st.sampled_from(texts), min_size=1, max_size=4)):
        at, cut = draw(st.integers(0, len(text))), draw(st.integers(0, 2))
        put = draw(st.text("0123456789.-+: e", max_size=2))
        found.append(text[:at] + put + text[at + cut :])
    return kind, expression, found


@settings(max_examples=500, deadline=None)
@given(columns())
@example((kinds.FloatType(64), FLOAT, ["1.5.5", "15"]))
@example((kinds.FloatType(64), FLOAT, ["1.", "5"]))
@example((kinds.FloatType(64), FLOAT, ["1", ".5"]))
@example((kinds.FloatType(64), FLOAT, ["-", "5.5"]))
@example((kinds.FloatType(64), FLOAT, ["5-5", "-5"]))
@example((kinds.FloatType(64), FLOAT, ["05", "5.5"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["099:00:00"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["839:00:00"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["--0:00:00", "00:00:00"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["1.0:00:00"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["00:60:00"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["0:00:00", "1:00:00"]))
@example((kinds.TimeType(0), pattern(kinds.TimeType(0)), ["0"]))
@example((kinds.DecimalType(3, 0), pattern(kinds.DecimalType(3, 0)), ["5.5"]))
@example((kinds.DecimalType(2, 2), pattern(kinds.DecimalType(2, 2)), ["1.5"]))
@example((kinds.DateType(), pattern(kinds.DateType()), ["2024-00-32"]))
@example((kinds.DatetimeType(0), pattern(kinds.DatetimeType(0)), ["2024-01-01 24:00:00"]))
def test_no_text_is_usual_that_the_pattern_refuses(
    column: tuple[kinds.Type, str, list[str]],
) -> None:
    kind, expression, texts = column
    if is_usual(kind, pa.array(texts, pa.binary())):
        assert all(re.fullmatch(expression, text, re.ASCII) for text in texts)
