"""Bytes that a side sends as text have the same value in Spark as in this process."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from cdcwire.model.kinds import BytesType, Column, IntType

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.meaning import ENCODINGS, Meaning
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.spark.compare.engine import with_changed_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TABLE = CanonicalTable(
    "shop", "t", (Column("id", IntType(64)), *(Column(n, BytesType()) for n in "ab")), ("id",)
)
RAW = bytes([0, 255, 254, 1, 251])
# The text of column a in hex, that of column b in base64, and what the two are.
ROWS = [
    (RAW.hex().encode(), b64encode(RAW), RAW, RAW),
    (RAW.hex().upper().encode(), urlsafe_b64encode(RAW), RAW, RAW),
    (b"", b"", b"", b""),
    (b"abc", b"abc", b"abc", b"abc"),  # of no even number of digits, and not padded
    (b"0x00", b"a=bc", b"0x00", b"a=bc"),
    (b"\xff\xfe", b"\xff\xfe", b"\xff\xfe", b"\xff\xfe"),
    (b"00\n", b"AAAA\n", b"00\n", b"AAAA\n"),
]


def test_texts_of_bytes_are_read_alike_in_both_engines(frame_of: Callable[..., DataFrame]) -> None:
    for text_a, text_b, a, b in ROWS:
        assert ENCODINGS["hex"].decoded(text_a) == a
        assert ENCODINGS["base64"].decoded(text_b) == b
    meaning = Meaning(binary={("left", "a"): ENCODINGS["hex"], ("left", "b"): ENCODINGS["base64"]})
    frame = frame_of(
        TABLE,
        [{"op": "insert", "after": {"id": n, "a": r[0], "b": r[1]}} for n, r in enumerate(ROWS)],
    )
    changed = with_changed_values(frame, TABLE, CompareOptions(meaning=meaning), "left")
    found = sorted(
        (r["after"]["id"], bytes(r["after"]["a"]), bytes(r["after"]["b"]))
        for r in changed.collect()
    )
    assert found == [(n, r[2], r[3]) for n, r in enumerate(ROWS)]
