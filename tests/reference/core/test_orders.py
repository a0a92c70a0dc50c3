"""The places of positions in the orders that formats declare."""

from __future__ import annotations

import pytest

from cdcwire.core.orders import (
    BINLOG,
    CHANGE_LSN,
    GTID,
    LSN,
    RS_ID,
    SCN,
    NoPlace,
    Order,
    Place,
    shown_place,
)
from cdcwire.model.events import Position

UUID = "24DA167-0C0C-11E8-8442-00059A3C7B00".rjust(36, "0")


def binlog(file: str = "mysql-bin.000009", pos: int = 154, row: int = 0) -> Position:
    return Position(file=file, pos=pos, row=row, server_id=1)


IN_ORDER: list[tuple[str, Order, list[Position]]] = [
    ("lsn", LSN, [Position(lsn=9), Position(lsn=10)]),
    (
        "binlog",
        BINLOG,
        [
            binlog(),
            binlog(row=2),
            binlog(row=10),
            binlog(pos=1054),
            binlog("mysql-bin.000010", 4),
            binlog("mysql-bin.1000000", 4),
        ],
    ),
    ("MySQL GTID", GTID, [Position(gtid=f"{UUID}:{number}") for number in (9, 10)]),
    # The server of a MariaDB GTID changes with the primary; its number goes on.
    ("MariaDB GTID", GTID, [Position(gtid="0-2-9"), Position(gtid="0-1-10")]),
    (
        "SQL Server",
        CHANGE_LSN,
        [
            Position(commit_lsn="00000027:00000ac0:0002", change_lsn=lsn, event_serial_no=number)
            for lsn, number in (
                ("00000027:00000A80:0009", 1),
                ("00000027:00000a80:000a", 1),
                ("00000027:00000a80:000A", 2),
                ("00000028:00000000:0001", 1),
            )
        ],
    ),
    (
        "Oracle",
        RS_ID,
        [
            Position(commit_scn="99", scn=scn, rs_id=rs_id, ssn=ssn)
            for scn, rs_id, ssn in (
                ("98", " 0x000073.0001d7d8.0010 ", 0),
                ("98", " 0x000073.0001d7d8.0010 ", 1),
                ("98", " 0x000073.0001d7D9.0010 ", 0),
                ("100", " 0x000001.00000001.0010 ", 0),
            )
        ],
    ),
    (
        "SCN",
        SCN,
        [Position(commit_scn="9", scn="18446744073709551615"), Position(commit_scn="10", scn="1")],
    ),
]


@pytest.mark.parametrize(
    ("order", "positions"), [c[1:] for c in IN_ORDER], ids=[c[0] for c in IN_ORDER]
)
def test_places_sort_as_their_positions(order: Order, positions: list[Position]) -> None:
    places = [order.place(position) for position in positions]
    values = [place.value for place in places if place is not None]
    assert len(set(values)) == len(positions)
    assert sorted(values, key=lambda value: value) == values
    assert len({place.scope for place in places if place is not None}) == 1


@pytest.mark.parametrize(
    ("order", "one", "other"),
    [
        (BINLOG, binlog(), Position(file="mysql-bin.000009", pos=154, row=0, server_id=2)),
        (BINLOG, binlog(), binlog("mariadb-bin.000009")),
        (GTID, Position(gtid=f"{UUID}:5"), Position(gtid="0" * 36 + ":5")),
        (GTID, Position(gtid=f"{UUID}:5"), Position(gtid=f"{UUID}:tag:5")),
        (GTID, Position(gtid="0-1-5"), Position(gtid="1-1-5")),
    ],
    ids=["servers", "files", "UUIDs", "tags", "domains"],
)
def test_places_of_different_sources_have_different_scopes(
    order: Order, one: Position, other: Position
) -> None:
    places = order.place(one), order.place(other)
    assert places[0] is not None
    assert places[1] is not None
    assert places[0].scope != places[1].scope


def test_position_that_lacks_a_member_has_no_place() -> None:
    assert BINLOG.place(Position(file="mysql-bin.000009", pos=4, server_id=1)) is None
    assert CHANGE_LSN.place(Position(change_lsn="1:2:3", event_serial_no=1)) is None


def test_db2_has_no_serial_numbers() -> None:
    place = CHANGE_LSN.place(Position(commit_lsn="0000:0001", change_lsn="0000:0002"))
    assert place is not None


@pytest.mark.parametrize(
    ("order", "position", "problem"),
    [
        (BINLOG, binlog("binlog"), "file 'binlog' has no number at its end"),
        (GTID, Position(gtid="0-1"), "gtid '0-1' is not a GTID"),
        (SCN, Position(commit_scn="1" * 21, scn="1"), "is not a number of up to 20 digits"),
        (
            CHANGE_LSN,
            Position(commit_lsn="x", change_lsn="1"),
            "is not groups of hexadecimal digits",
        ),
    ],
    ids=["file", "gtid", "scn", "lsn"],
)
def test_value_without_an_order_is_refused(order: Order, position: Position, problem: str) -> None:
    with pytest.raises(NoPlace, match=problem):
        order.place(position)
    assert order.place_or_none(position) is None


def test_place_is_shown_without_leading_zeros() -> None:
    place = BINLOG.place(binlog())
    assert place == Place(place.value if place else "", ("server_id 1", "file mysql-bin."))
    assert shown_place(str(place.value if place else "")) == "9:154:0"
