"""Bytes that were good once: cut, changed, lengthened, spliced, with lengths that lie."""

from __future__ import annotations

from hypothesis import strategies as st

_LIES = (0x00, 0x01, 0x7F, 0x80, 0xFF)
_LONG_LIES = (
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # the largest varint
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",  # and one beyond
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",  # eleven bytes
    b"\xff\xff\xff\xff\x07",  # 2**31 - 1
    b"\xff\xff\xff\xff\xff\xff\xff\xf8",  # 2**64 - 8, big-endian
    b"\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"\x00\x00\x00\x00\x7f\xff\xff\xff",
    b"\x80\x00",  # a varint that is longer than it needs to be
)
# What texts are held together by: a damage of one byte seldom meets them.
_TEXT_LIES = (
    *(
        b'"',
        b'""',
        b'"\r\n"',
        b"\r\n",
        b"\n",
        b",",
        b",,",
        b"\\",
        b"\\N",
        b"null",
        b"{}",
        b"[",
        b"]",
    ),
    *(
        b"}",
        b":",
        b"1e999",
        b"-",
        b"-0",
        b"\xff",
        b"\\ud800",
        b"\\u0000",
        b"true",
        b'"a":',
        b"\xef\xbb\xbf",
    ),
)

KINDS_OF_DAMAGE = ("cut", "flip", "lie", "overwrite", "insert", "delete", "splice", "append")


@st.composite
def damaged_bytes(
    draw: st.DrawFn,
    data: bytes,
    *,
    other: bytes | None = None,
    kinds: tuple[str, ...] = KINDS_OF_DAMAGE,
    max_damages: int = 3,
) -> bytes:
    """Give damaged forms of ``data``, never ``data`` itself.

    A splice takes a run of ``other``, by default of ``data`` itself. Some damages leave a message
    that is good again, with another meaning.
    """
    odd = set(kinds) - set(KINDS_OF_DAMAGE)
    if odd or not kinds:
        raise ValueError(f"kinds={kinds!r}: one or more of {', '.join(KINDS_OF_DAMAGE)}")
    if max_damages < 1:
        raise ValueError(f"max_damages={max_damages} is less than 1")
    damaged = data
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_damages)):
        damaged = _damage(draw, damaged, kind, data if other is None else other)
    return damaged if damaged != data else data + b"\x00"


def _damage(draw: st.DrawFn, data: bytes, kind: str, other: bytes) -> bytes:
    place = draw(st.integers(0, len(data)))
    if kind == "cut":
        return data[:place]
    if kind == "flip" and place < len(data):
        return _with_byte(data, place, data[place] ^ 1 << draw(st.integers(0, 7)))
    if kind == "lie" and place < len(data):
        lies = (*_LIES, (data[place] + 1) % 256, (data[place] - 1) % 256)
        return _with_byte(data, place, draw(st.sampled_from(lies)))
    if kind == "overwrite":
        lie = draw(st.sampled_from(_LONG_LIES))
        return data[:place] + lie + data[place + len(lie) :]
    if kind == "insert":
        runs = (st.sampled_from(_LONG_LIES), st.sampled_from(_TEXT_LIES))
        run = draw(st.one_of(st.binary(min_size=1, max_size=8), *runs))
        return data[:place] + run + data[place:]
    if kind == "delete":
        return data[:place] + data[place + draw(st.integers(1, 8)) :]
    if kind == "splice":
        start = draw(st.integers(0, len(other)))
        run = other[start : start + draw(st.integers(1, 40))]
        return data[:place] + run + data[place + draw(st.sampled_from((0, len(run)))) :]
    return data + draw(st.binary(min_size=1, max_size=8))


def _with_byte(data: bytes, place: int, byte: int) -> bytes:
    return data[:place] + bytes((byte,)) + data[place + 1 :]
