"""Go's quoting of bytes, and the frozen table of printable characters."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.golang.quote import QuoteError, is_printable, quote, unquote

# Of the text of "0" and "1" for every code point, by Unicode 15.0.0.
PRINTABLE_SHA256 = "0326b64c15e91a0583a1d9f8bc53f4bb534adc91a5ae096b55adaf19525ed98d"

QUOTED = [
    (b"abc 'x'", "abc 'x'"),
    (b'"\\', '\\"\\\\'),
    (b"\x07\x08\x0c\n\r\t\x0b", "\\a\\b\\f\\n\\r\\t\\v"),
    (b"\x00\x1f\x7f", "\\x00\\x1f\\x7f"),
    (b"\x89P", "\\x89P"),
    (b"\xe4\xbd", "\\xe4\\xbd"),
    (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
    (b"\xc0\xaf", "\\xc0\\xaf"),
    (b"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"),
    ("é主😀\ufffd".encode(), "é主😀\ufffd"),
    ("\u00a0\u00ad\u2028\ufeff".encode(), "\\u00a0\\u00ad\\u2028\\ufeff"),
    ("\U000e0001\U0010ffff".encode(), "\\U000e0001\\U0010ffff"),
    ("\u0378".encode(), "\\u0378"),  # not assigned
]


def test_printable_characters_are_those_of_unicode_15() -> None:
    bits = "".join("01"[is_printable(code)] for code in range(0x110000))
    assert bits.count("1") == 148998
    assert hashlib.sha256(bits.encode()).hexdigest() == PRINTABLE_SHA256


@pytest.mark.skipif(unicodedata.unidata_version != "15.0.0", reason="another Unicode version")
def test_printable_characters_are_pythons_on_the_same_unicode() -> None:
    assert all(chr(code).isprintable() == is_printable(code) for code in range(0x110000))


@pytest.mark.parametrize(("raw", "text"), QUOTED, ids=[raw.hex() for raw, _ in QUOTED])
def test_quote_both_ways(raw: bytes, text: str) -> None:
    assert quote(raw) == text
    assert unquote(text) == raw


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("\\101\\377\\000", b"A\xff\x00"),
        ("\\xAb", b"\xab"),
        ("\\u00E9\\U0001F600", "é😀".encode()),
        ("\\xc3\\xa9", "é".encode()),
        ("\t\x00\x7f\u2028", "\t\x00\x7f\u2028".encode()),
        ("\\x418", b"A8"),
    ],
)
def test_unquote_reads_more_than_quote_writes(text: str, raw: bytes) -> None:
    assert unquote(text) == raw


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("a\\'", 1),
        ("a\\q", 1),
        ("a\\", 1),
        ('a"b', 1),
        ("a\nb", 1),
        ("\\x4", 0),
        ("\\xg1", 0),
        ("\\u12", 0),
        ("\\U0001f60", 0),
        ("\\ud800", 0),
        ("\\U0000dfff", 0),
        ("\\U00110000", 0),
        ("\\400", 0),
        ("\\08", 0),
        ("\\n\\x", 2),
    ],
)
def test_unquote_rejects_what_go_rejects(text: str, index: int) -> None:
    with pytest.raises(QuoteError) as caught:
        unquote(text)
    assert caught.value.index == index


@given(st.binary() | st.text().map(str.encode))
def test_quote_reads_back(raw: bytes) -> None:
    """unquote(quote(raw)) == raw, and the text is printable."""
    text = quote(raw)
    assert all(is_printable(ord(char)) for char in text)
    assert unquote(text) == raw
