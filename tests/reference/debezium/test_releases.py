"""Changes of values by Debezium's releases, as the connectors themselves read them."""

from __future__ import annotations

import pytest

from cdcwire.core.comparing import ReleaseChange
from cdcwire.debezium.releases import RELEASES
from cdcwire.model.kinds import UNAVAILABLE


def explaining(kind: str, before: object, after: object) -> list[tuple[int, ...]]:
    return [each.since for each in RELEASES if each.explains(kind, before, after)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after"),
    [  # what MySQL's connector 1.9.8 reads of the bytes of a binlog
        ("-100:04:03", "-100:00:00"),
        ("-01:02:03", "-01:02:00"),
        ("-838:59:59.048576", "-838:59:59"),  # TIME(6)
        ("-10:04:05.147483", "-10:00:00"),  # TIME(2)
        ("-01:02:04.147483", "-01:02:03"),  # TIME(4)
    ],
)
def test_negative_time_was_read_wrongly_before_2_5_3(before: str, after: str) -> None:
    assert explaining("time", before, after) == [(2, 5, 3)]
    assert explaining("time", after, before) == []
    assert explaining("text", before, after) == []
    assert explaining("time", before.removeprefix("-"), after.removeprefix("-")) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [("-100:04:04", "-100:00:00"), ("-01:02:03", "-01:02:01"), ("-00:00:02", "-00:00:01")],
)
def test_other_times_are_not_explained(before: str, after: str) -> None:
    assert explaining("time", before, after) == []


@pytest.mark.parametrize(
    ("kind", "before", "after", "expected"),
    [
        ("timestamp", "1970-01-01 00:00:00", None, [(3, 6)]),
        ("timestamp", "1970-01-01 00:00:01", None, []),
        ("timestamp", "1970-01-01 00:00:00", "2024-01-01 00:00:00", [(3, 6)]),
        ("timestamp", "1970-01-01 00:00:01", "2024-01-01 00:00:00", []),
        ("datetime", "1970-01-01 00:00:00", None, []),
        ("text", None, UNAVAILABLE, [(3, 6)]),
        ("bytes", None, UNAVAILABLE, [(3, 6)]),
        ("text", "", UNAVAILABLE, []),
        ("int32", None, UNAVAILABLE, []),
    ],
)
def test_values_of_3_6(kind: str, before: object, after: object, expected: object) -> None:
    assert explaining(kind, before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [  # what the snapshot of MySQL's connector 1.9.8 reads of the text
        ("00:00:00.001", "-00:00:00.001", [(2, 5, 3)]),
        ("00:59:59", "-00:59:59", [(2, 5, 3)]),
        ("01:00:00", "-01:00:00", []),
        ("-00:00:01", "00:00:01", []),
        (None, "-00:00:01", []),
    ],
)
def test_sign_of_a_time_of_less_than_an_hour(before: object, after: str, expected: object) -> None:
    assert explaining("time", before, after) == expected


@pytest.mark.parametrize(
    ("kind", "before", "after", "is_explained"),
    [  # as connector 3.2.0 sent them of PostgreSQL's values
        ("datetime", "0000-12-30 00:00:00", "0001-01-01 00:00:00", True),
        ("datetime", "1582-10-20 00:00:00", "1582-10-10 00:00:00", True),
        ("timestamp", "-0043-03-13 12:00:00", "-0043-03-15 12:00:00", True),
        ("timestamp", "0000-12-30 00:00:00.000001", "0001-01-01 00:00:00.000001", True),
        ("datetime", "1582-10-20 00:00:01", "1582-10-10 00:00:00", False),
        ("datetime", "1582-10-25 00:00:00", "1582-10-15 00:00:00", False),
        ("datetime", "1582-10-10 00:00:00", "1582-10-20 00:00:00", False),
        ("text", "1582-10-20 00:00:00", "1582-10-10 00:00:00", False),
        ("datetime", "1969-12-31 23:59:30.424192", "infinity", True),
        ("datetime", "1970-01-01 00:00:22.375808", "-infinity", True),
        ("datetime", "1970-01-01 00:00:22.375808", "infinity", False),
        ("decimal(19,2)", "-92233720368547760.00", "-92233720368547758.08", True),
        ("decimal(19,2)", "-92233720368547760.00", "-92233720368547758.00", True),
        ("decimal(19,2)", "92233720368547760.00", "92233720368547700.00", False),
        ("decimal(19,2)", "1.5", "1.50", False),
        ("decimal(19,2)", "NaN", "1.50", False),
    ],
)
def test_snapshots_of_postgresql_before_3_6(
    kind: str, before: str, after: str, is_explained: bool
) -> None:
    assert explaining(kind, before, after) == [(3, 6)] * is_explained


@pytest.mark.parametrize(
    ("kind", "before", "after", "expected"),
    [
        ("int64", "-1", "4294967295", [(3, 6, 1)]),
        ("int64", "-2147483648", "2147483648", [(3, 6, 1)]),
        ("int64", "-1", "18446744073709551615", []),
        ("int64", "1", "4294967297", []),
        ("int64", None, "4294967295", []),
        # The labels a,b and e\f as rows have them: the latter is written 'e\\f' in SQL.
        ("text", r"a\,b", "a,b", [(3, 7)]),
        ("enum(e\\f,b)", r"e\f", r"e\\f", [(3, 7)]),
        ("text", "a;b", "a,b", []),
        ("text", "a,b", r"a\,b", []),
        ("int32", "1", None, []),
    ],
)
def test_values_of_declared_columns(
    kind: str, before: object, after: object, expected: object
) -> None:
    assert explaining(kind, before, after) == expected


@pytest.mark.parametrize(
    ("older", "newer", "is_between"),
    [
        ((2, 5), (3, 6), True),  # 2.5 may be 2.5.2
        ((2, 5, 2), (2, 5, 3), True),
        ((2, 4), (2, 5), True),  # 2.5 may be 2.5.4
        ((2, 4), (2, 5, 2), False),
        ((2, 5, 3), (3, 6), False),
        ((2, 6), (3, 6), False),
        ((1, 9), (2, 4), False),
    ],
)
def test_change_is_between_two_versions(
    older: tuple[int, ...], newer: tuple[int, ...], is_between: bool
) -> None:
    assert ReleaseChange((2, 5, 3), "", frozenset()).is_between(older, newer) is is_between


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [  # of a DECIMAL(10,7) with decimal.handling.mode=string
        ("1E-7", "0.0000001", [(1, 9)]),
        ("-1.5E-7", "-0.00000015", [(1, 9)]),
        ("0E-7", "0.0000000", [(1, 9)]),
        ("0E-7", "0", []),
        ("1E-7", "0.0000002", []),
        ("0.0000001", "1E-7", []),
    ],
)
def test_exponents_of_decimals_before_1_9(before: str, after: str, expected: object) -> None:
    assert explaining("text", before, after) == expected
    assert explaining("json", before, after) == []
