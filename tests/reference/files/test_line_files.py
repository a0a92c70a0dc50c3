"""Feeds as they lie: compressed lines, lines of kcat, and a directory that describes its feed."""

from __future__ import annotations

import base64
import gzip
import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.files import line_files
from cdcwire.files.feed_file import read_feed_file
from cdcwire.files.json_messages import message_line
from cdcwire.files.line_files import (
    LIMIT_VARIABLE,
    is_compressed,
    is_lines,
    stem_of,
)
from cdcwire.files.messages_io import (
    InputError,
    NotAMessageError,
    line_message,
    message_from_line,
    read_messages,
)
from cdcwire.files.stores import SourceError, open_here
from cdcwire.model.text import Json
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.pieces import Piece, read_lines

ROWS = 50


def zstd(data: bytes) -> bytes:
    cramjam = pytest.importorskip("cramjam", reason="needs the extra compression")
    return bytes(cramjam.zstd.compress(data))


COMPRESSIONS = {".gz": gzip.compress, ".zst": zstd}


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("feed")
    assert main(["generate", "craft", "--rows", str(ROWS), "--to", str(folder)]) == 0
    return folder / "messages.jsonl"


@pytest.mark.parametrize(
    ("name", "lines", "compressed", "stem"),
    [
        ("a/orders.0.jsonl", True, False, "orders.0"),
        ("a/orders.0.jsonl.gz", True, True, "orders.0"),
        ("orders.jsonl.zst", True, True, "orders"),
        ("orders.json.gz", False, True, "orders"),
        ("jsonl", False, False, "jsonl"),
    ],
)
def test_names_of_files(name: str, lines: bool, compressed: bool, stem: str) -> None:
    assert (is_lines(name), is_compressed(name), stem_of(name)) == (lines, compressed, stem)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_lines_are_the_lines(feed: Path, tmp_path: Path, suffix: str) -> None:
    compress: Callable[[bytes], bytes] = COMPRESSIONS[suffix]
    file = tmp_path / f"messages.jsonl{suffix}"
    file.write_bytes(compress(feed.read_bytes()))
    wanted = [message for _, message in read_messages(str(feed))]
    assert [message for _, message in read_messages(str(file))] == wanted
    assert [message for _, message in read_messages(str(tmp_path))] == wanted


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_feed_is_described_as_the_plain_one(
    feed: Path, tmp_path: Path, suffix: str
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    from cdcwire_conformance.decode.describe import survey_feed
    from cdcwire_conformance.sources.source_urls import parse_source

    file = tmp_path / f"messages.jsonl{suffix}"
    file.write_bytes(COMPRESSIONS[suffix](feed.read_bytes()))
    found = survey_feed(parse_source(f"craft:file:{tmp_path}"), share_bytes=100).tables
    plain = survey_feed(parse_source(f"craft:file:{feed.parent}")).tables
    here, there = (
        [replace(each, span=replace(each.span, parts=frozenset())) for each in tables]
        for tables in (found, plain)
    )
    assert here == there  # but for the name of the file
    assert [each.rows for each in found] == [ROWS]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_cut_off_file_is_one_line(
    feed: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"messages.jsonl{suffix}"
    file.write_bytes(COMPRESSIONS[suffix](feed.read_bytes())[:-100])
    assert main(["decode", "craft", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"cdcwire decode: {file}: can't be read: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_comparison_with_a_cut_off_file_is_one_line(
    feed: Path, tmp_path: Path, suffix: str, share: float, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    file = tmp_path / f"messages.jsonl{suffix}"
    whole = COMPRESSIONS[suffix](feed.read_bytes())
    file.write_bytes(whole[: int(share * len(whole))])
    words = ("compare", f"craft:file:{tmp_path}", f"craft:file:{feed.parent}")
    assert main([*words, "--engine", "embedded"]) == 2
    kind = "gzip" if suffix == ".gz" else "zstd"
    error = capsys.readouterr().err
    assert error == f"cdcwire compare: {file}: can't be read: is not whole {kind} data\n"


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_line_that_grows_beyond_the_limit_is_refused_before_it_is_in_memory(
    tmp_path: Path,
    suffix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    limit = 1 << 20
    monkeypatch.setenv(LIMIT_VARIABLE, str(limit))
    file = tmp_path / f"messages.jsonl{suffix}"
    file.write_bytes(COMPRESSIONS[suffix](b" " * 32 * limit))
    tracemalloc.start()
    try:
        assert main(["decode", "craft", str(file)]) == 2
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    problem = f"more than {limit} bytes after decompression ({LIMIT_VARIABLE} allows more)"
    assert capsys.readouterr().err == f"cdcwire decode: {file}: can't be read: {problem}\n"
    assert most < 8 * limit


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_line_has_a_smaller_limit_than_a_file_of_zstd(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading a line takes four times its memory."""
    monkeypatch.setattr(line_files, "MAX_LINE_BYTES", 1000)
    file = tmp_path / f"messages.jsonl{suffix}"
    for size in (999, 1000):
        file.write_bytes(COMPRESSIONS[suffix](100 * b"x\n" + size * b" " + b"\n" + 9 * b"y\n"))
        if size == 999:
            with open_here(str(file)) as lines:
                assert len(list(lines)) == 110
        else:
            with pytest.raises(OSError, match="more than 1000 bytes"):
                list(read_lines(Piece.whole(str(file))))


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
@pytest.mark.parametrize("blank", [b"\n", b" \r\n"])
def test_blank_lines_without_end_are_an_error(
    tmp_path: Path, suffix: str, blank: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line_files.MAX_BLANK_LINES == 1_000_000
    most = 20_000  # a million take seconds
    monkeypatch.setattr(line_files, "MAX_BLANK_LINES", most)
    file = tmp_path / f"messages.jsonl{suffix}"
    line = b'{"value":"AA=="}\n'
    for count, is_read in ((most, True), (most + 1, False)):
        content = count * blank + line
        file.write_bytes(COMPRESSIONS[suffix](content) if suffix else content)
        for read in (lambda: read_messages(str(file)), lambda: read_lines(Piece.whole(str(file)))):
            if is_read:
                assert len(list(read())) == 1
            else:
                with pytest.raises((InputError, OSError), match="more than 20000 blank lines"):
                    list(read())


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_limit_is_of_a_line_of_gzip_and_of_a_file_of_zstd(
    feed: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"messages.jsonl{suffix}"
    content = feed.read_bytes()
    longest = max(map(len, content.splitlines(keepends=True)))
    file.write_bytes(COMPRESSIONS[suffix](content))
    enough = longest if suffix == ".gz" else len(content)
    assert enough < len(content) or suffix == ".zst"
    monkeypatch.setenv(LIMIT_VARIABLE, str(enough))
    assert len(list(read_messages(str(file)))) == len(content.splitlines())
    monkeypatch.setenv(LIMIT_VARIABLE, str(enough - 1))
    with pytest.raises(InputError, match="after decompression"):
        list(read_messages(str(file)))


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_reading_a_few_bytes_needs_no_more(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"a.jsonl{suffix}"
    file.write_bytes(COMPRESSIONS[suffix](b"0123456789\n"))
    monkeypatch.setenv(LIMIT_VARIABLE, "11")
    with open_here(str(file)) as lines:
        assert (lines.readline(4), lines.read(3), lines.read()) == (b"0123", b"456", b"789\n")


@pytest.mark.parametrize("text", ["0", "-1", "1e9", "many", "9" * 40])
def test_limit_that_is_not_a_number_is_one_line(
    feed: Path,
    tmp_path: Path,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, text)
    file = tmp_path / "messages.jsonl.gz"
    file.write_bytes(gzip.compress(feed.read_bytes()))
    assert main(["decode", "craft", str(file)]) == 2
    assert f"{LIMIT_VARIABLE} is not a number from 1: '{text[:38]}" in capsys.readouterr().err


_WRONG: list[tuple[str, Json]] = [("headers", ["a"]), ("payload", 1), ("headers", {})]


def test_line_of_kcat_is_a_message() -> None:
    line: dict[str, Json] = {
        "topic": "orders",
        "partition": 0,
        "offset": 7,
        "tstype": "create",
        "ts": 1713000000000,
        "broker": 1,
        "headers": ["trace", "é", "empty", None],
        "key": "k",
        "payload": '{"a":"é"}',
    }
    headers = (("trace", "é".encode()), ("empty", b""))
    assert line_message(line) == KafkaMessage(b"k", '{"a":"é"}'.encode(), headers)
    assert line_message({**line, "payload": None, "key": None}).value is None
    for name, value in _WRONG:
        with pytest.raises(ValueError, match="of kcat are"):
            line_message({**line, name: value})


_PLACE: dict[str, Json] = {"topic": "orders", "partition": 0, "offset": 7, "timestamp": 1}


@pytest.mark.parametrize("place", [_PLACE, {"topic": "orders"}])
def test_line_of_a_record_is_a_message(place: dict[str, Json]) -> None:
    row: Json = [{"key": "trace", "value": "é"}]
    text: dict[str, Json] = {**place, "key": "k", "value": ' {"a":"é"}', "headers": row}
    headers = (("trace", "é".encode()),)
    message = KafkaMessage(b"k", ' {"a":"é"}'.encode(), headers)
    assert message_from_line(json.dumps(text).encode()) == message
    gone = message_from_line(json.dumps({**place, "key": '{"id":1}', "value": None}).encode())
    assert gone == KafkaMessage(b'{"id":1}', None)
    in_base64: dict[str, Json] = {**place, "key": "aw==", "value": "AAE=", "headers": {"t": "aQ=="}}
    found = message_from_line(json.dumps(in_base64).encode())
    assert found == KafkaMessage(b"k", b"\0\1", (("t", b"i"),))
    without_key = message_from_line(json.dumps({**place, "value": "AAE="}).encode())
    assert without_key == KafkaMessage(None, b"\0\1", has_key=False)
    with pytest.raises(ValueError, match="value is not standard base64"):
        message_from_line(json.dumps({**place, "value": "abc"}).encode())


def test_row_with_other_members_than_a_record_is_a_value() -> None:
    line = json.dumps({**_PLACE, "value": "AAE=", "id": 1}).encode()
    assert message_from_line(line) == KafkaMessage(None, line, has_key=False)


def kcat_lines(file: Path) -> str:
    """Return the lines that ``kcat -J`` prints for a feed of a text format."""
    lines = map(json.loads, file.read_text("utf-8").splitlines())
    return "".join(
        json.dumps({
            "topic": "orders", "partition": 0, "offset": number, "broker": 1,
            "key": base64.b64decode(line["key"]).decode(),
            "payload": base64.b64decode(line["value"]).decode() if line["value"] else None,
        }) + "\n"
        for number, line in enumerate(lines)
    )  # fmt: skip


@pytest.mark.parametrize("name", ["messages.jsonl", "messages.jsonl.gz", "dump.json"])
def test_lines_of_kcat_are_identified(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = tmp_path / "feed"
    assert main(["generate", "debezium-json", "--rows", "20", "--to", str(feed)]) == 0
    content = kcat_lines(feed / "messages.jsonl").encode()
    file = tmp_path / "dump" / name
    file.parent.mkdir()
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    capsys.readouterr()
    for place in (file, file.parent) if "jsonl" in name else (file,):
        assert main(["identify", str(place)]) == 0
        assert capsys.readouterr().out.startswith("debezium-json: sure\n")


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_feed_is_identified(
    feed: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"messages.jsonl{suffix}"
    file.write_bytes(COMPRESSIONS[suffix](feed.read_bytes()))
    for place in (file, tmp_path):
        assert main(["identify", str(place)]) == 0
        assert capsys.readouterr().out.startswith("craft: sure\n")


_VALUE = b'{"op":"c","after":{"id":1,"t":"a\\tb"}}'


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        (b'{"id":1}\t' + _VALUE, b'{"id":1}', _VALUE),
        (b"null\t" + _VALUE + b"\r\n", None, _VALUE),
        (b'{"id":1}\tnull\n', b'{"id":1}', None),
        (b'CreateTime:1713000000000\tPartition:0\tOffset:7\t{"id":1}\t{}', b'{"id":1}', b"{}"),
    ],
)
def test_line_of_the_console_consumer_is_a_message(
    line: bytes, key: bytes | None, value: bytes | None
) -> None:
    assert message_from_line(line) == KafkaMessage(key, value)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"NO_TIMESTAMP\tNO_HEADERS\t" + _VALUE, _VALUE),
        (_VALUE, _VALUE),
        (b'{"schema":{},"payload":null}\n', b'{"schema":{},"payload":null}'),
        (b'{"op":"d","before":{"key":1}}', b'{"op":"d","before":{"key":1}}'),
        (b'{"database":"shop","value":"dmFs","table":"t"}\r\n', None),
        (b'{"key":"a2V5"}', None),
        (b"{}", None),
        (b'{"path":"a/b"}', None),
        (b"Offset:7\tnull", b"null"),
        (b"null\n", b"null"),
    ],
)
def test_line_without_a_key_is_a_value_whose_key_is_unknown(
    line: bytes, value: bytes | None
) -> None:
    expected = line.strip() if value is None else value
    message = KafkaMessage(None, None if expected == b"null" else expected, has_key=False)
    assert message_from_line(line) == message
    assert message_from_line(message_line(message)) == message


def test_message_object_without_a_key_has_an_unknown_key() -> None:
    assert message_from_line(b'{"value":"dmFs"}') == KafkaMessage(None, b"val", has_key=False)
    assert message_from_line(b'{"key":null,"value":"dmFs"}') == KafkaMessage(None, b"val")


@pytest.mark.parametrize(
    "line",
    [b"a\tb", b"{}\t{}\t{}", b'Offset:7\tname:x\t{"id":1}\t{}', b"{}\t[]", b"Offset:7", b"{"],
)
def test_other_text_is_invalid_json(line: bytes) -> None:
    with pytest.raises(json.JSONDecodeError):
        message_from_line(line)


@pytest.mark.parametrize("document", [{}, {"a": 1}, {"payload": "abc"}, {"headers": {}}])
def test_other_objects_are_not_messages(document: Json) -> None:
    with pytest.raises(ValueError, match="it has neither key nor value"):
        line_message(document)


@pytest.mark.parametrize("line", [b"1", b'"a"', b"[]", b"true"])
def test_json_that_is_not_an_object_is_not_a_message(line: bytes) -> None:
    with pytest.raises(NotAMessageError):
        message_from_line(line)


def test_directory_of_a_generated_feed_describes_it(tmp_path: Path) -> None:
    option = ["--option", "replica-identity=full"]
    words = ["--rows", "5", "--to", str(tmp_path), *option]
    assert main(["generate", "debezium-json", *words]) == 0
    found = read_feed_file(str(tmp_path))
    assert found is not None
    assert (found.format, found.options, found.tables) == (
        "debezium-json",
        {"replica-identity": "full"},
        (),
    )
    mine = Context(options={"replica-identity": "default"})
    assert found.applied(mine).options == mine.options
    assert read_feed_file(str(tmp_path.parent)) is None


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        json.dumps({"feed": 2, "format": "craft"}),
        json.dumps({"feed": 1, "format": "unheard-of"}),
        json.dumps({"feed": 1, "format": "craft", "options": {"no-such": "1"}}),
    ],
)
def test_description_that_is_not_one_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "feed.json").write_text(content)
    with pytest.raises(SourceError, match=r"feed\.json"):
        read_feed_file(str(tmp_path))
