"""Checksums of rows: by TiDB's rule, worked out here in other words."""

from __future__ import annotations

import json
import struct
import zlib

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.simple.format import FORMAT
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column
from cdcwire.mysql.declared import parse_declared, type_of_declared

VERSION = 7
VALUES: dict[str, tuple[str, object, bytes]] = {
    "i": ("int", "-1", b"\xff" * 8),
    "u": ("bigint unsigned", "18446744073709551615", b"\xff" * 8),
    "y": ("year", "2024", struct.pack("<q", 2024)),
    "b": ("bit(12)", "2730", struct.pack("<q", 2730)),
    "e": ("enum('a','b')", "2", struct.pack("<q", 2)),
    "f": ("float", "1.5", struct.pack("<d", 1.5)),
    "d": ("decimal(5,2)", "-1.50", b"\x05\0\0\0-1.50"),
    "t": ("varchar(9)", "ü", b"\x02\0\0\0\xc3\xbc"),
    "x": ("varbinary(9)", "AP8=", b"\x02\0\0\0\0\xff"),
    "v": ("vector(2)", "[1,-2.5]", struct.pack("<I2f", 2, 1, -2.5)),
    "n": ("int", None, b""),
    "ts": (
        "timestamp",
        {"location": "+02:00", "value": "2024-01-02 03:04:05"},
        b"\x13\0\0\x002024-01-02 01:04:05",
    ),
}
SUM = zlib.crc32(b"".join(raw for _, _, raw in VALUES.values()))
TABLE = Table(
    "t",
    "s",
    columns=tuple(
        Column(name, type_of_declared(parse_declared(declared)), declared)
        for name, (declared, _, _) in VALUES.items()
    ),
    key=(),
    version=VERSION,
)
CONTEXT = Context(tables=(TABLE,))


def warnings(current: int = SUM, left_out: str = "", **more: object) -> tuple[str, ...]:
    head = {"version": 1, "database": "s", "table": "t", "type": "INSERT"}
    message = {
        **head,
        **dict.fromkeys(("commitTs", "buildTs"), 5),
        "schemaVersion": VERSION,
        "checksum": {"version": 1, "corrupted": False, "current": current, "previous": 0, **more},
        "data": {name: value for name, (_, value, _) in VALUES.items() if name != left_out},
    }
    value = json.dumps(message, ensure_ascii=False).encode()
    return FORMAT.warnings(KafkaMessage(None, value), CONTEXT)


def test_checksum_of_every_form_of_value_is_right() -> None:
    assert warnings() == ()


def test_other_checksum_is_a_warning_that_names_both() -> None:
    (warning,) = warnings(SUM ^ 1)
    assert str(SUM) in warning
    assert str(SUM ^ 1) in warning
    assert warning.endswith("(simple: checksum)")


def test_checksum_of_0_says_that_the_row_was_written_without_one() -> None:
    assert warnings(0) == ()


def test_corrupted_row_is_a_warning() -> None:
    (warning,) = warnings(corrupted=True)
    assert warning.endswith("(simple: checksum)")


@pytest.mark.parametrize("name", ["i", "ts"])
def test_row_without_a_column_of_its_table_is_not_verified(name: str) -> None:
    assert warnings(SUM ^ 1, left_out=name) == ()
