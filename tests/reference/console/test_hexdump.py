"""The annotated hexdump, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.console.hexdump import MEASURED_LINES, hexdump_lines
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import DecodedExplanation, Explanation
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.reader import Span

VERSION = Span(("version",), 0, 1, "1", "craft: version")
NAME = Span(("name",), 1, 4, "'abc'", "craft: strings")


def test_each_field_has_one_line() -> None:
    lines = list(hexdump_lines(Explanation((VERSION, NAME)), KafkaMessage(None, b"\x01abc")))
    assert lines == [
        "offset  bytes     field    value  clause",
        "0000    01        version  1      craft: version",
        "0001    61 62 63  name     'abc'  craft: strings",
    ]


def test_bytes_without_field_show_their_characters() -> None:
    lines = list(hexdump_lines(Explanation((VERSION,)), KafkaMessage(None, b"\x01ab\x00")))
    assert lines[2] == "0001    61 62 00           ab."


def test_key_and_value_have_their_headings() -> None:
    spans = (Span(("key",), 0, 1, "k", "x", "key"), VERSION)
    lines = list(hexdump_lines(Explanation(spans), KafkaMessage(b"k", b"\x01")))
    assert [line for line in lines if line.endswith(":")] == ["key:", "value:"]


def test_error_is_marked_and_explained_below() -> None:
    error = DecodeError("not UTF-8", 2, "craft: strings", ("name",))
    lines = list(hexdump_lines(Explanation((VERSION,), error), KafkaMessage(None, b"\x01abc")))
    assert lines[2].startswith("0001 >  61 62 63")
    assert lines[3] == "        ^ byte 2: not UTF-8 (in name; craft: strings)"


def test_error_at_the_end_of_the_bytes_has_a_line() -> None:
    error = DecodeError("the bytes end here", 1, "craft: strings")
    lines = list(hexdump_lines(Explanation((VERSION,), error), KafkaMessage(None, b"\x01")))
    assert lines[2].startswith("0001 >")
    assert "(end)" in lines[2]


def test_error_in_the_key_is_marked_there() -> None:
    error = DecodeError("no", 0, "x: y", ("key", "version"))
    lines = list(hexdump_lines(Explanation((), error), KafkaMessage(b"k", b"v")))
    assert [line[:8].rstrip() for line in lines] == [
        "offset",
        "key:",
        "0000 >",
        "",
        "value:",
        "0000",
    ]


def test_focus_shows_only_lines_around_it() -> None:
    spans = tuple(Span(("n", i), i, i + 1, str(i), "x: y") for i in range(20))
    lines = list(
        hexdump_lines(
            Explanation(spans), KafkaMessage(b"key", bytes(20)), focus_offset=10, context=2
        )
    )
    assert [line[:6] for line in lines[1:]] == ["0008  ", "0009  ", "0010 >", "0011  ", "0012  "]


def test_long_field_is_wrapped_and_cut() -> None:
    span = Span(("v",), 0, 200, bytes(200).hex(" "), "x: y")
    lines = list(hexdump_lines(Explanation((span,)), KafkaMessage(None, bytes(200))))
    assert len(lines) == 7
    assert lines[-1] == "0060    … 140 bytes more"


def test_focus_in_a_cut_field_is_shown() -> None:
    span = Span(("v",), 0, 200, "", "x: y")
    lines = list(
        hexdump_lines(Explanation((span,)), KafkaMessage(None, bytes(200)), focus_offset=130)
    )
    assert any(line.startswith("0120 >") for line in lines)
    assert "0060    … 60 bytes more" in lines
    assert "0132    … 68 bytes more" in lines


def test_outer_field_has_a_line_and_its_bytes_follow() -> None:
    spans = (Span(("item",), 0, 2, "object", "x: y"), Span(("item", "a"), 1, 2, "1", "x: y"))
    lines = list(hexdump_lines(Explanation(spans), StoredFile("f", b"{1")))
    assert [line.split("  ")[0] for line in lines[1:]] == ["0000", "0000", "0001"]
    assert "7b" not in lines[1]


def test_bytes_value_shows_characters() -> None:
    span = Span(("v",), 0, 3, "61 00 ff", "x: y", value=b"a\x00\xff")
    lines = list(hexdump_lines(Explanation((span,)), KafkaMessage(None, b"a\x00\xff")))
    assert r"b'a\x00\xff'" in lines[1]


def test_text_is_ascii_whatever_python_prints() -> None:
    span = Span(("é",), 0, 1, "'主\u0378\n\x7f'", "x: y")
    line = list(hexdump_lines(Explanation((span,)), KafkaMessage(None, b"\x01")))[1]
    assert line.isascii()
    assert r"'\u4e3b\u0378\n\x7f'" in line


def test_most_lines_cuts_the_middle_and_keeps_the_error() -> None:
    spans = tuple(Span(("n", i), i, i + 1, str(i), "x: y") for i in range(100))
    error = DecodeError("no", 60, "x: y")
    explanation = Explanation(spans, error)
    lines = list(
        hexdump_lines(explanation, KafkaMessage(None, bytes(100)), context=1, most_lines=8)
    )
    offsets = [line[:6].strip() for line in lines[1:] if line[:1] == "0"]
    assert offsets == [
        *("0000", "0001", "0002", "0003", "0004", "0005", "0059"),
        *("0059", "0060 >", "0061", "0098", "0098", "0099"),
    ]


def test_message_without_bytes_has_only_headings() -> None:
    assert len(list(hexdump_lines(Explanation(()), KafkaMessage(None, None)))) == 1


def test_first_line_comes_before_all_spans_are_read() -> None:
    read = []

    def made() -> Iterator[Span]:
        for offset in range(20_000):
            read.append(offset)
            yield Span(("v",), offset, offset + 1, "", "x: y")

    explanation = DecodedExplanation(made, iter(()), lambda error: True, tuple)
    lines = hexdump_lines(explanation, KafkaMessage(None, bytes(20_000)))
    next(lines)
    assert len(read) <= MEASURED_LINES + 3
    assert len(list(lines)) == 20_000
