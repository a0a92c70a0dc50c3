"""Floats at the borders of the fast encoder's own texts: written as the plain encoder does."""

from __future__ import annotations

from typing import Literal

import pytest

from cdcwire.core.message import StoredFile
from cdcwire.formats.csv.fast_encoder import RowEncoder
from cdcwire.model import kinds
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire.registry import get_format

DOUBLES = {
    0.0: "0",
    1.0: "1",
    0.001: "0.001",
    -0.001: "-0.001",
    0.000999: "0.000999",
    0.0001: "0.0001",
    0.00001: "1e-05",
    -0.00001: "-1e-05",
    999999.5: "999999.5",
    -999999.5: "-999999.5",
    1e6: "1e+06",
    -1e6: "-1e+06",
    1000000.5: "1.0000005e+06",
    1e16: "1e+16",
}
FLOATS = {
    0.0: "0",
    1.0: "1",
    0.0009765625: "0.0009765625",
    0.00006103515625: "6.1035156e-05",
    999999.5: "999999.5",
    -999999.5: "-999999.5",
    1e6: "1e+06",
    -1e6: "-1e+06",
    1048576.0: "1.048576e+06",
}


@pytest.mark.parametrize(
    ("bits", "value", "written"),
    [
        *((64, value, text) for value, text in DOUBLES.items()),
        *((32, value, text) for value, text in FLOATS.items()),
    ],
)
def test_float_is_written_as_the_plain_encoder_does(
    bits: Literal[32, 64], value: float, written: str
) -> None:
    image = Image((Column("f", kinds.FloatType(bits)),), (value,))
    event = RowChange(Table("t", "d"), "insert", None, image, Position(commit_ts=1 << 18))
    (plain,) = get_format("csv").from_events([event])
    assert isinstance(plain, StoredFile)
    assert plain.value.rstrip().rpartition(b",")[2].decode() == written
    encoder = RowEncoder()
    assert encoder.piece(event) == plain.value
    assert list(encoder.encode([event])) == [plain]
