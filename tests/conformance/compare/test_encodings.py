"""Texts of bytes as what they are, where a side sends bytes as text."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode

from cdcwire_conformance.compare.meaning import ENCODINGS

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


def test_texts_of_bytes_in_arrays_are_read() -> None:
    sent, read = (
        f"[{','.join('null' if e is None else json.dumps(b64encode(e).decode()) for e in items)}]"
        for items in ([RAW.hex().encode(), None, b"", b"abc"], [RAW, None, b"", b"abc"])
    )
    assert ENCODINGS["hex"].decoded_items(sent) == read


def test_texts_of_bytes_are_read() -> None:
    for text_a, text_b, a, b in ROWS:
        assert ENCODINGS["hex"].decoded(text_a) == a
        assert ENCODINGS["base64"].decoded(text_b) == b
