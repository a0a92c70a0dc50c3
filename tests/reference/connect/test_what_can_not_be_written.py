"""What CDL and Debezium refuse to write, as it would come back as something else, or not at all."""

from __future__ import annotations

import pytest

from cdcwire.connect.scalars import java_float_text
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.floats import read_float32
from cdcwire.model.kinds import Column, DatetimeType, IntType, TimeType, Type, Value, VectorType
from cdcwire.registry import get_format

FORMATS = ("cdl-json", "debezium-json")
ROW = Image((Column("id", IntType(32)),), (1,))
AT = Position(commit_ms=1)


def refusal(
    name: str, event: RowChange, options: dict[str, OptionValue] | None = None
) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        list(get_format(name).from_events([event], context=Context(options or {})))
    return caught.value


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("op", "before", "after", "side"),
    [
        ("insert", ROW, ROW, "before"),
        ("insert", None, None, "after"),
        ("read", ROW, ROW, "before"),
        ("update", ROW, None, "after"),
        ("delete", ROW, ROW, "after"),
        ("delete", None, None, "before"),
    ],
)
def test_row_with_an_image_that_its_op_has_not_is_refused(
    name: str, op: Op, before: Image | None, after: Image | None, side: str
) -> None:
    """No decoder takes such a message."""
    error = refusal(name, RowChange(Table("t", "s", key=()), op, before, after, AT))
    assert error.clause == f"{name}: images"
    assert error.path == ("events", 0, side)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("tx_id", ["007", "-0", "+1", "1.0", ""])
def test_transaction_id_in_another_form_than_it_comes_back_is_refused(
    name: str, tx_id: str
) -> None:
    position = Position(commit_ms=1, tx_id=tx_id)
    error = refusal(name, RowChange(Table("t", "s", key=()), "insert", None, ROW, position))
    assert error.path == ("events", 0, "position", "tx_id")


@pytest.mark.parametrize(
    ("kind", "value", "options"),
    [
        (TimeType(), "12:60:00", {}),
        (TimeType(), "12:00:60", {}),
        (DatetimeType(), "2024-01-01 24:00:00", {}),
        (DatetimeType(), "0000-00-00 00:00:00", {"dialect": "cdl"}),
        (DatetimeType(), "2024-01-01 12:61:00", {"dialect": "cdl"}),
        (DatetimeType(), "soon", {"dialect": "cdl"}),
        (DatetimeType(form="ms"), -62_167_219_200_000, {"dialect": "cdl"}),
        (VectorType(), (float("nan"),), {}),
        (VectorType(), (0.1,), {}),
        (VectorType(), ("1",), {}),
    ],
)
def test_value_that_no_decoder_takes_back_is_refused(
    kind: Type, value: Value, options: dict[str, OptionValue]
) -> None:
    image = Image((Column("c", kind),), (value,))
    error = refusal(
        "debezium-json", RowChange(Table("t", "s", key=()), "insert", None, image, AT), options
    )
    assert error.clause == "connect: kinds"
    assert error.path == ("events", 0, "after", "c")


def test_digits_of_a_float_are_those_that_read_back_exactly() -> None:
    """By way of a double 7.038531E-26 seems to be enough; read at once it is the next float."""
    value = float.fromhex("0x1.5c87fcp-84")
    assert java_float_text(value, 32) == "7.0385313E-26"
    assert read_float32("7.0385313E-26") == value
