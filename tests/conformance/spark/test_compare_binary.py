"""Bytes that a side sends as text have the same value in Spark as in this process."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from cdcwire.model.kinds import ArrayType, BytesType, Column, IntType

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.meaning import ENCODINGS, Meaning
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.spark.compare.engine import with_changed_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ID = Column("id", IntType(64))
TABLE = CanonicalTable("shop", "t", (ID, *(Column(n, BytesType()) for n in "ab")), ("id",))
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


def test_texts_of_bytes_in_arrays_are_read_alike_in_both_engines(
    frame_of: Callable[..., DataFrame],
) -> None:
    table = CanonicalTable("shop", "t", (ID, Column("a", ArrayType(BytesType()))), ("id",))
    meaning = Meaning(binary={("left", "a"): ENCODINGS["hex"]})
    arrays = [[RAW.hex().encode(), None, b"", b"abc"], [], None]
    decoded = [[RAW, None, b"", b"abc"], [], None]
    rows = [{"op": "insert", "after": {"id": n, "a": each}} for n, each in enumerate(arrays)]
    frame = with_changed_values(
        frame_of(table, rows), table, CompareOptions(meaning=meaning), "left"
    )
    found = {row["after"]["id"]: row["after"]["a"] for row in frame.collect()}
    as_bytes = {
        n: None if a is None else [None if item is None else bytes(item) for item in a]
        for n, a in found.items()
    }
    assert as_bytes == dict(enumerate(decoded))
    sent, read = (
        f"[{','.join('null' if e is None else json.dumps(b64encode(e).decode()) for e in each[0])}]"
        for each in (arrays, decoded)
        if each[0] is not None
    )
    assert ENCODINGS["hex"].decoded_items(sent) == read


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
