"""Shared layouts of the fast decoders."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cdcwire.mysql.layouts import Layouts, row_value
from cdcwire.mysql.values import WireValue

ID = ("id", 3, 11)
AT = ("at", 7, 65)


def test_layouts_of_equal_columns_are_one_object() -> None:
    layouts = Layouts(None)
    assert layouts.of((ID, AT)) is layouts.of((ID, AT))
    assert layouts.of((ID, AT)) is not layouts.of((AT, ID))


def test_layouts_know_the_time_zone() -> None:
    (column,) = Layouts("Asia/Shanghai").of((AT,)).columns
    assert getattr(column.type, "zone", None) == "Asia/Shanghai"


@pytest.mark.parametrize(
    ("code", "flags", "wire", "row", "model"),
    [
        (3, 0, 1, 1, 1),
        (4, 65, 0.1, 0.10000000149011612, 0.10000000149011612),
        (15, 64, b"a", "a", "a"),
        (15, 64, b"\xff", b"\xff", b"\xff"),
        (15, 65, b"a", b"a", b"a"),
        (246, 65, "1.50", "1.50", Decimal("1.50")),
        (225, 65, "[1,-2.5]", "[1,-2.5]", (1.0, -2.5)),
        (246, 65, None, None, None),
    ],
)
def test_values_go_from_the_wire_to_rows_and_from_rows_to_the_model(
    code: int, flags: int, wire: WireValue, row: WireValue, model: object
) -> None:
    assert row_value(wire, code, flags) == row
    image = Layouts(None).of((("c", code, flags),)).image((row,))
    assert image.values == (model,)
