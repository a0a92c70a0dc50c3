"""Changes of values by Debezium's releases, as the connectors themselves read them."""

from __future__ import annotations

import pytest

from cdcwire.core.releases import ReleaseChange
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
        ("timestamp", "1970-01-01 00:00:00", "2024-01-01 00:00:00", []),
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
