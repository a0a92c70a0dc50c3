"""Messages on disk, in each form."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.files.messages_io import InputError, read_messages, write_messages
from cdcwire.format import Carrier

MESSAGES: list[Message] = [
    KafkaMessage(None, b"\x00\x01"),
    KafkaMessage(b"", None, (("h", b"x"),)),
    StoredFile("a/b.csv", b"1,2\n"),
]


def messages_of(source: str, hex: bool = False, key: str | None = None) -> list[Message]:
    return [message for _, message in read_messages(source, hex, key)]


def feed(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "feed.jsonl"
    assert write_messages(str(file), MESSAGES) == 3
    assert messages_of(str(file)) == MESSAGES
    assert [where for where, _ in read_messages(str(file))] == [f"{file}:{n}" for n in (1, 2, 3)]


def test_directory_is_its_files_by_name(tmp_path: Path) -> None:
    write_messages(str(tmp_path / "b.jsonl"), MESSAGES[1:])
    write_messages(str(tmp_path / "a.jsonl"), MESSAGES[:1])
    (tmp_path / "notes.txt").write_text("no message")
    assert messages_of(str(tmp_path)) == MESSAGES


def test_raw_file_is_a_value(tmp_path: Path) -> None:
    (tmp_path / "value.bin").write_bytes(b"\x00\xff")
    (tmp_path / "key.bin").write_bytes(b"k")
    value = str(tmp_path / "value.bin")
    assert messages_of(value) == [KafkaMessage(None, b"\x00\xff", has_key=False)]
    assert messages_of(value, key=str(tmp_path / "key.bin")) == [KafkaMessage(b"k", b"\x00\xff")]


def test_hex_file_may_have_white_space(tmp_path: Path) -> None:
    (tmp_path / "value.txt").write_text("00 0A\nff\n")
    assert messages_of(str(tmp_path / "value.txt"), hex=True) == [
        KafkaMessage(None, b"\x00\x0a\xff", has_key=False)
    ]


def test_standard_input_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b'{"id": 1}')
    assert list(read_messages("-")) == [
        ("standard input", KafkaMessage(None, b'{"id": 1}', has_key=False))
    ]


def test_standard_input_of_message_objects_is_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b'{"key":null,"value":"AAE="}\n{"value":null}\n')
    assert messages_of("-") == [
        KafkaMessage(None, b"\x00\x01"),
        KafkaMessage(None, None, has_key=False),
    ]


def test_lines_are_written_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_messages("-", MESSAGES[:1])
    assert capfdbinary.readouterr().out == b'{"key":null,"value":"AAE="}\n'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "is not JSON"),
        (b"[]", "a message is an object"),
        (b'{"value": "@"}', "base64"),
        (b'{"value": 7}', "base64"),
        (b'{"value": "\xff"}', "UTF-8"),
        (b'{"path": "a", "value": null}', "stored file"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_line_that_is_not_a_message_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    file = tmp_path / "feed.jsonl"
    file.write_bytes(b'{"value": null}\n\n' + line + b"\n")
    with pytest.raises(InputError, match=problem) as caught:
        messages_of(str(file))
    assert caught.value.where == f"{file}:3"


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for name in ("none.bin", "none.jsonl"):
        with pytest.raises(InputError, match="No such file"):
            messages_of(str(tmp_path / name))
    with pytest.raises(InputError, match=r"no \*\.jsonl"):
        messages_of(str(tmp_path))
    with pytest.raises(InputError, match="can't be written"):
        write_messages(str(tmp_path / "no" / "out.jsonl"), [])


def test_hex_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "value.txt").write_text("0g")
    with pytest.raises(InputError, match="not hexadecimal"):
        messages_of(str(tmp_path / "value.txt"), hex=True)


def test_key_in_addition_to_lines_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "feed.jsonl"
    write_messages(str(file), MESSAGES)
    with pytest.raises(InputError, match="their own keys"):
        messages_of(str(file), key="key.bin")


def test_key_and_value_from_one_stream_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"x")
    with pytest.raises(InputError, match="both"):
        messages_of("-", key="-")


@pytest.mark.parametrize(
    ("name", "carriers", "is_file"),
    [
        ("data.csv", ("storage",), True),
        ("data", ("storage",), True),
        ("data.json", ("queue", "storage"), True),
        ("message.bin", ("queue", "storage"), False),
        ("data.json", ("queue",), False),
    ],
)
def test_bytes_are_a_file_or_a_value_as_the_format_says(
    tmp_path: Path, name: str, carriers: tuple[Carrier, ...], is_file: bool
) -> None:
    (tmp_path / name).write_bytes(b"x")
    found = [message for _, message in read_messages(str(tmp_path / name), carriers=carriers)]
    assert found == [StoredFile(name, b"x") if is_file else KafkaMessage(None, b"x", has_key=False)]
