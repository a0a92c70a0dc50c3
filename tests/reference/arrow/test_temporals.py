"""Dates and times: text in one form, or native and exact."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.arrow.building import CLAUSE_NATIVE, CLAUSE_TYPES, ConversionError
from cdcwire.arrow.temporals import TemporalType, cut_fractions, text_converter, texts_maker
from cdcwire.arrow.types import UTC, SchemaError, canonical_kind
from cdcwire.arrow.values import column_builder
from cdcwire.model.kinds import DatetimeType, DateType, TextType, TimestampType, TimeType, Type

TEXT = pa.string()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10:00:00.500", "10:00:00.5"),
        ("10:00:00.000", "10:00:00"),
        ("10:00:00", "10:00:00"),
        ("-838:59:59.000001", "-838:59:59.000001"),
        ("2020-01-10 10:10:10.10", "2020-01-10 10:10:10.1"),
        ("0000-00-00 00:00:00", "0000-00-00 00:00:00"),
        ("2020-10-10", "2020-10-10"),
        ("1.50", "1.50"),
        (None, None),
    ],
)
def test_fraction_loses_its_zeros_at_the_end(text: str | None, expected: str | None) -> None:
    texts = pa.array([text, "00:00:00.10"])
    assert cut_fractions(texts).to_pylist() == [expected, "00:00:00.1"]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (DateType(), "2024-02-29Z", "2024-02-29"),
        (TimeType(), "23:59:59.50Z", "23:59:59.5"),
        (DatetimeType(), "2024-02-29T12:34:56.789Z", "2024-02-29 12:34:56.789"),
        (DatetimeType(), "+12024-02-29T12:34:56Z", "+12024-02-29 12:34:56"),
        (DatetimeType(), "2024-02-29T12:34:56", "2024-02-29T12:34:56"),  # as sent
        (DatetimeType(), "-290308-12-21T19:59:27.6Z", "-infinity"),
        (DateType(), "+292278994-08-16Z", "infinity"),
        (TimeType(zone=""), "12:34:56Z", "12:34:56Z"),
        (DateType(), None, None),
    ],
)
def test_signs_of_iso_8601_go_from_values_without_a_zone(
    kind: Type, text: str | None, expected: str | None
) -> None:
    """With ``isostring`` Debezium's texts end with a Z that names no zone."""
    found = column_builder(kind, kind, TEXT).build([text, None])
    assert found.to_pylist() == [expected, None]


def test_text_of_iso_8601_is_a_native_date_too() -> None:
    found = column_builder(DateType(), DateType(), pa.date32()).build(["2024-02-29Z"])
    assert found.to_pylist() == [date(2024, 2, 29)]


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("start", [0, 1, 2])
def test_fraction_loses_its_zeros_in_a_slice(start: int, length: int) -> None:
    sent = ["10:00:00", "11:00:00.500", "12:00:00"]
    expected = ["10:00:00", "11:00:00.5", "12:00:00"]
    found = cut_fractions(pa.array(sent).slice(start, length))
    assert found.to_pylist() == expected[start : start + length]


@pytest.mark.parametrize(
    ("kind", "target", "text", "expected"),
    [
        (DateType(), pa.date32(), "0001-01-01", date(1, 1, 1)),
        (DateType(), pa.date32(), "9999-12-31", date(9999, 12, 31)),
        (TimeType(), pa.duration("us"), "838:59:59", timedelta(hours=838, minutes=59, seconds=59)),
        (TimeType(), pa.duration("us"), "-00:00:00.000001", timedelta(microseconds=-1)),
        (TimeType(), pa.time64("ns"), "23:59:59.5", time(23, 59, 59, 500000)),
        (
            DatetimeType(),
            pa.timestamp("us"),
            "1000-01-01 00:00:00.000001",
            datetime(1000, 1, 1, microsecond=1),  # noqa: DTZ001  (DATETIME has no zone)
        ),
    ],
)
def test_native_value_is_exact(kind: Type, target: pa.DataType, text: str, expected: Any) -> None:
    found = column_builder(kind, kind, target).build([text, None])
    assert found.to_pylist() == [expected, None]


@pytest.mark.parametrize(
    ("kind", "target", "text"),
    [
        (DateType(), pa.date32(), "0000-00-00"),
        (DateType(), pa.date32(), "0000-01-01"),
        (DateType(), pa.date32(), "2021-02-30"),
        (DateType(), pa.date32(), "2021-02-03 00:00:00"),
        (TimeType(), pa.time64("ns"), "24:00:00"),
        (TimeType(), pa.time64("ns"), "-00:00:01"),
        (TimeType(), pa.duration("us"), "10:60:00"),
        (TimeType(), pa.duration("us"), "10:00:00.1234567"),
        (DatetimeType(), pa.timestamp("us"), "0000-00-00 00:00:00"),
        (DatetimeType(), pa.timestamp("us"), "0000-12-31 00:00:00"),
        (DatetimeType(), pa.timestamp("us"), "2020-01-01"),
        (DatetimeType(), pa.timestamp("us"), "2020-01-01T00:00:00"),
        (DatetimeType(), pa.timestamp("us"), "2020-01-01 00:00:00.1234567"),
        (DatetimeType(), pa.timestamp("us"), "9999-99-99 00:00:00"),
    ],
)
def test_native_value_that_would_not_be_exact_is_refused(
    kind: Type, target: pa.DataType, text: str
) -> None:
    with pytest.raises(ConversionError) as caught:
        column_builder(kind, kind, target).build([text])
    assert caught.value.clause == CLAUSE_NATIVE
    assert text in caught.value.problem


@pytest.mark.parametrize(
    ("wire", "value", "expected"),
    [
        (DateType("d"), 1, "1970-01-02"),
        (TimeType(None, "ms"), -1500, "-00:00:01.5"),
        (TimeType(6, "us"), 1_500_000, "00:00:01.5"),
        (DatetimeType(None, "ms"), 1_500, "1970-01-01 00:00:01.5"),
        (DatetimeType(None, "ns"), 1_000_000_000, "1970-01-01 00:00:01"),
    ],
)
def test_count_becomes_the_text(wire: Type, value: int, expected: str) -> None:
    assert isinstance(wire, (DateType, TimeType, DatetimeType))
    assert column_builder(wire, canonical_kind(wire), TEXT).build([value]).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        (TimestampType(zone="+09:00"), "2020-01-01 09:00:00"),
        (TimestampType(zone=UTC), "2020-01-01 00:00:00"),
        (TimestampType(zone="UTC"), "2020-01-01 00:00:00.000"),
        (TimestampType(form="ms", zone=UTC), 1_577_836_800_000),
        (TimestampType(), "2020-01-01 02:00:00"),
        (DatetimeType(), "2020-01-01 02:00:00"),
        (DatetimeType(form="us"), 1_577_844_000_000_000),
    ],
)
def test_instant_is_reported_in_utc(wire: Type, value: Any) -> None:
    canonical = TimestampType(zone=UTC)
    text = column_builder(wire, canonical, TEXT, "+02:00").build([value])
    assert text.to_pylist() == ["2020-01-01 00:00:00"]
    native = column_builder(wire, canonical, pa.timestamp("us", "UTC"), "+02:00").build([value])
    assert native.to_pylist() == [datetime(2020, 1, 1, tzinfo=timezone.utc)]


@pytest.mark.parametrize("wire", [TimestampType(zone="+09:00"), TimestampType(), DatetimeType()])
def test_zero_timestamp_is_the_same_in_all_zones(wire: Type) -> None:
    build = column_builder(wire, TimestampType(zone=UTC), TEXT, "+02:00").build
    zeros = ["0000-00-00 00:00:00", "0000-00-00 00:00:00.000"]
    assert build(zeros).to_pylist() == ["0000-00-00 00:00:00"] * 2


@pytest.mark.parametrize(
    ("wire", "value", "expected"),
    [
        (TimestampType(zone=UTC), "1900-01-01 00:00:00", "1900-01-01 00:00:00"),
        (TimestampType(zone=UTC), "1900-01-01 00:00:00.000000", "1900-01-01 00:00:00"),
        (TimestampType(zone=UTC), "-0043-03-15 12:00:00.50", "-0043-03-15 12:00:00.5"),
        (TimestampType(zone="+09:00"), "-0043-03-15 21:00:00.5", "-0043-03-15 12:00:00.5"),
        (TimestampType(zone="+09:00"), "0001-01-01 00:00:00", "0000-12-31 15:00:00"),
        (TimestampType(form="ms", zone=UTC), 253_402_300_800_000, "+10000-01-01 00:00:00"),
        (TimestampType(zone=UTC), "infinity", "infinity"),
        (TimestampType(zone="+09:00"), "-infinity", "-infinity"),
    ],
)
def test_instant_has_one_text_in_utc(wire: Type, value: Any, expected: str) -> None:
    found = column_builder(wire, TimestampType(zone=UTC), TEXT).build([value])
    assert found.to_pylist() == [expected]


@pytest.mark.parametrize("text", ["-0043-03-15 12:00:00", "+10000-01-01 00:00:00", "infinity"])
def test_native_instant_is_exact_or_refused(text: str) -> None:
    kind = TimestampType(zone=UTC)
    build = column_builder(kind, kind, pa.timestamp("us", "UTC")).build
    moment = datetime(1900, 1, 1, tzinfo=timezone.utc)
    assert build(["1900-01-01 00:00:00.000000"]).to_pylist() == [moment]
    with pytest.raises(ConversionError) as caught:
        build([text])
    assert caught.value.clause == CLAUSE_NATIVE


@pytest.mark.parametrize("text", ["2020-13-01 00:00:00", "soon"])
def test_text_that_is_not_an_instant_can_not_change_its_zone(text: str) -> None:
    with pytest.raises(ConversionError) as caught:
        column_builder(TimestampType(zone="+09:00"), TimestampType(zone=UTC), TEXT).build([text])
    assert caught.value.clause == CLAUSE_TYPES
    assert text in caught.value.problem


def test_instant_of_known_zone_does_not_become_a_datetime() -> None:
    with pytest.raises(SchemaError):
        column_builder(TimestampType(zone=UTC), DatetimeType(), TEXT)


def test_instant_of_unknown_zone_stays_as_sent() -> None:
    build = column_builder(TimestampType(), TimestampType(), TEXT).build
    assert build(["2020-01-01 02:00:00.50"]).to_pylist() == ["2020-01-01 02:00:00.5"]


COUNTS_A_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
CANONICAL = (DatetimeType(), TimestampType(zone=None), TimestampType(zone=UTC))
ZONES = (None, UTC, "Asia/Shanghai")
KINDS: tuple[TemporalType, ...] = (
    *(DatetimeType(form=form) for form in ("text", "ms", "us", "ns")),
    *(TimestampType(None, form, zone) for form in ("text", "ms", "us", "ns") for zone in ZONES),
)
ISO_TEXTS = st.builds(
    "{}-{:02d}-{:02d}{}{:02d}:59:00{}{}".format,
    st.sampled_from(["0000", "0001", "1969", "2024", "9999"]),
    st.integers(1, 12),
    st.integers(1, 31),
    st.sampled_from("TTTT "),
    st.integers(0, 24),
    st.sampled_from(["", ".5", ".000", ".123456", ".1234567"]),
    st.sampled_from(["Z", "Z", "Z", "", "+08:00"]),
)


def counts(unit: str) -> st.SearchStrategy[int]:
    """Return counts around the years 1 and 9999, of usual days, and those of infinities."""
    ends = st.sampled_from([-62_135_596_800, 253_402_300_800, 0])
    near = st.builds(lambda end, by: end * COUNTS_A_SECOND[unit] + by, ends, st.integers(-2, 2))
    return st.one_of(near, st.integers(0, 2**63), st.sampled_from([9223372036825200, 2**70]))


@given(
    st.data(), st.sampled_from(KINDS), st.sampled_from(CANONICAL), st.sampled_from([UTC, "+08:00"])
)
def test_column_has_the_texts_of_its_single_values(
    data: st.DataObject, wire: TemporalType, canonical: TemporalType, time_zone: str
) -> None:
    one = ISO_TEXTS if wire.form == "text" else counts(wire.form)
    values = data.draw(st.lists(st.one_of(st.none(), one), max_size=3))
    convert = text_converter(wire, canonical, time_zone) or str

    def texts_or_error(read: Any) -> Any:
        try:
            return cut_fractions(read()).to_pylist()
        except ValueError as error:
            return str(error)

    singly = texts_or_error(
        lambda: pa.array([None if v is None else convert(v) for v in values], pa.string())
    )
    assert texts_or_error(lambda: texts_maker(wire, canonical, time_zone)(values)) == singly


@pytest.mark.parametrize("odd", ["2024-02-30 10:00:00", "2024-02-29T10:00:00Z", "infinity", None])
@pytest.mark.parametrize("zone", [None, UTC])
def test_untyped_instants_together_have_the_texts_that_each_has_alone(
    zone: str | None, odd: str | None
) -> None:
    texts = ["2024-02-29 10:00:00.120", "0000-00-00 00:00:00", "0001-01-01 23:59:59.999999"]
    build = column_builder(TextType(), TimestampType(zone=zone), TEXT).build
    expected = ["2024-02-29 10:00:00.12", "0000-00-00 00:00:00", "0001-01-01 23:59:59.999999"]
    assert build(texts).to_pylist() == expected
    assert build([*texts, odd]).to_pylist()[:-1] == expected
