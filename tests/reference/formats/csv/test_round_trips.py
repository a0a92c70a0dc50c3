"""Events to files and back, under every combination of the settings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.formats.csv import FORMAT, Settings, explain, read_settings
from cdcwire.formats.csv import fast as fast_module
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.formats.csv.values import file_kind
from cdcwire.formats.csv.wire import read_file, write_file
from cdcwire.model.events import Event, Image, Op, Position, RowChange, Table
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import Column
from cdcwire.model.steps import join_halves

SIGNS = "|+*,;:\\nN\r\n\"'\0\té中\U0001f600NUL-1"
texts = st.text(alphabet=SIGNS, max_size=5)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int64 unsigned": st.integers(0, 2**64 - 1),
    "int8": st.integers(-128, 127),
    "bit(9)": st.integers(0, 511),
    "year": st.sampled_from([0, 1901, 2155]),
    "float32": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "decimal(9,2)": st.integers(-(10**9) + 1, 10**9 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    "date": st.sampled_from(["0000-00-00", "2022-01-02"]),
    "time(3)": st.sampled_from(["-838:59:59.000", "12:00:00.123"]),
    "timestamp(0)": st.just("2022-01-02 03:04:05"),
    "text": st.one_of(texts, st.just(b"\xff"), st.sampled_from(["NULL", "\\N", "", "x"])),
    "bytes": st.binary(max_size=5),
    "json": st.sampled_from(["null", '{"a": "b\\"c"}', "[1, 2]", "NULL"]),
    'enum(a,b"c,NULL)': st.sampled_from(["a", 'b"c', "NULL"]),
    "set(x,y,z)": st.sampled_from(["", "x", "x,z", "x,y,z"]),
    "vector": st.sampled_from([(), (1.0,), (-0.5, 2.0)]),
}
COLUMNS = tuple(
    Column(f"c{index},{kind}", file_kind(parse_kind(kind), Settings()), nullable=index % 3 != 0)
    for index, kind in enumerate(VALUES)
)
TABLE = Table("t,|", "s\"'", None, COLUMNS, (COLUMNS[0].name,), 7)

NAMES = ("delimiter", "quote", "null", "terminator")
TEXTS: tuple[tuple[str, ...], ...] = (
    (",", "|+|", "**", "\t", ";", "1|", "\\"),
    ('"', "'", "", "*", "|"),
    ("\\N", "NULL", "", "x", "é"),
    ("\r\n", "\n", "\r", ";", "-end-"),
)
OPS: tuple[Op, ...] = ("insert", "update", "delete")
FLAGS = (
    *("include-commit-ts", "output-old-value", "output-handle-key", "output-field-header"),
    "hex",
)


def allowed() -> list[dict[str, OptionValue]]:
    found: list[dict[str, OptionValue]] = []
    for each in product(*TEXTS):
        options: dict[str, OptionValue] = dict(zip(NAMES, each, strict=True))
        with suppress(OptionError):
            FORMAT.prepared((), Context(options))
            found.append(options)
    return found


ALLOWED = allowed()


@st.composite
def all_options(draw: st.DrawFn) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {**draw(st.sampled_from(ALLOWED)), "date-separator": "none"}
    flags: dict[str, OptionValue] = {flag: draw(st.booleans()) for flag in FLAGS}
    options["binary-encoding-method"] = "hex" if flags.pop("hex") else "base64"
    return options | flags


@st.composite
def images(draw: st.DrawFn) -> Image:
    values = []
    for column, strategy in zip(COLUMNS, VALUES.values(), strict=True):
        is_null = column.nullable and draw(st.booleans())
        values.append(None if is_null else draw(strategy))
    return Image(COLUMNS, tuple(values))


@st.composite
def feeds(draw: st.DrawFn, options: dict[str, OptionValue]) -> list[Event]:
    events: list[Event] = []
    table = Table(TABLE.name, TABLE.schema, key=TABLE.key)
    for commit_ts in range(draw(st.integers(1, 3))):
        op = draw(st.sampled_from(OPS))
        has_before = op == "delete" or (op == "update" and bool(options["output-old-value"]))
        before = draw(images()) if has_before else None
        after = draw(images()) if op != "delete" else None
        position = Position(commit_ts=commit_ts if options["include-commit-ts"] else None)
        extra: dict[str, Any] = {"handle_key": "-7"} if options["output-handle-key"] else {}
        events.append(RowChange(table, op, before, after, position, extra=extra))
    return events


def unmarked(event: Event) -> Event:
    assert isinstance(event, RowChange)
    extra = {name: each for name, each in event.extra.items() if name != "ambiguous_null"}
    return replace(event, extra=extra)


def image_of(event: Event, side: str) -> Image | None:
    image: Image | None = getattr(event, side)
    return image


@pytest.fixture(autouse=True)
def _patterns_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read even the smallest file in the fast way."""
    monkeypatch.setattr(fast_module, "_PRICE_OF_A_COLUMN", 0)


def test_all_texts_of_the_settings_are_among_the_combinations() -> None:
    assert len(ALLOWED) > 200
    for name, each in zip(NAMES, TEXTS, strict=True):
        assert {options[name] for options in ALLOWED} == set(each)


@hypothesis_settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_events_come_back_and_so_do_bytes(data: st.DataObject) -> None:
    """decode(write_file(e)) == e, but for NULLs that are marked; encode(decode(b)) == b."""
    options = data.draw(all_options())
    events = data.draw(feeds(options))
    context = Context(options, (TABLE,))
    (file,) = FORMAT.from_events(events, context=context)
    assert isinstance(file, StoredFile)
    halves = list(FORMAT.to_events(file, context=context))

    settings = read_settings(options)
    assert (
        write_file(read_file(file.value, settings, [each.name for each in COLUMNS]), settings)
        == file.value
    )
    (again,) = messages_of(map(unmarked, halves), settings, [TABLE])
    assert again == file

    decoder = RowDecoder(Context(tables=(TABLE,)), settings)
    assert decoder.decode_events(file) == halves

    found = explain(file, context=context)
    assert found.error is None
    assert [0, *(span.end for span in found.spans)][:-1] == [span.start for span in found.spans]
    assert found.spans[-1].end == len(file.value)

    marked = {
        name
        for half in halves
        if isinstance(half, RowChange)
        for name in str(half.extra.get("ambiguous_null", "")).split(",")
    }
    has_marks = marked != {""}
    assert not (has_marks and options["quote"])
    joined = list(map(unmarked, join_halves(halves)))
    if not has_marks:
        assert joined == events
        return
    for event, back in zip(events, joined, strict=True):
        for side in ("before", "after"):
            sent, read = image_of(event, side), image_of(back, side)
            assert (sent is None) == (read is None)
            for column, value in zip(COLUMNS, sent.values if sent else (), strict=False):
                assert read is not None
                assert read[column.name] in (value, None)
