"""The statement in ddlMeta: read within bounds, and compared with the text of the message."""

from __future__ import annotations

import json
import pickle
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.datahub_blob import decode, encode
from cdcwire.formats.datahub_blob.payload import (
    CLASS_NAME,
    DdlTextMismatchError,
    check_ddl_text,
    ddl_text_of,
    modified_utf8,
)

RAW = (Path(__file__).parent / "data" / "alter.json").read_bytes()
ALTER: dict[str, Any] = json.loads(RAW)["payload"]["ddl"]
META = b64decode(ALTER["ddlMeta"])


def test_object_has_the_text_of_its_message() -> None:
    assert ddl_text_of(META) == ALTER["text"]
    check_ddl_text(ALTER["text"], META)


def test_message_with_another_text_is_rejected_in_both_directions() -> None:
    text = ALTER["text"].encode()
    changed = RAW.replace(b'"' + text + b'"', b'"' + text + b' "')
    with pytest.raises(DdlTextMismatchError) as caught:
        decode(changed)
    assert changed[caught.value.offset :].startswith(b'"rO0AB')
    assert caught.value.path == ("payload", "ddl", "ddlMeta")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.meta_text) == (str(caught.value), ALTER["text"])
    message = decode(RAW)
    assert message.ddl is not None
    with pytest.raises(EncodeError, match="but text is"):
        encode(replace(message, ddl=replace(message.ddl, text="drop table t")))


def test_object_of_another_class_has_no_text() -> None:
    assert ddl_text_of(META.replace(CLASS_NAME.encode(), CLASS_NAME.lower().encode())) is None
    assert ddl_text_of(b"\xac\xed\x00\x05") is None
    assert ddl_text_of(b"\xac\xed\x00\x05\x7c" + b"\xff" * 8) is None


@pytest.mark.parametrize("cut", [0, 3, *range(6, 198, 3)])
def test_object_that_is_cut_is_rejected_at_its_end(cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        ddl_text_of(META[:cut])
    assert (caught.value.offset, caught.value.clause) == (cut, "datahub-blob: ddlMeta")


@given(st.integers(0, 197), st.integers(0, 255))
def test_object_with_a_changed_byte_is_read_or_rejected(place: int, byte: int) -> None:
    changed = bytearray(META)
    changed[place] = byte
    try:
        found = ddl_text_of(bytes(changed)) or ""
    except DecodeError:
        found = ""
    assert len(found) <= len(META)


def with_text(text: bytes, long: bool = False) -> bytes:
    size = len(text).to_bytes(8 if long else 2, "big")
    return META[:150] + (b"\x7c" if long else b"\x74") + size + text + b"\x70"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a\xc0\x80b", "a\0b"),
        ("é你".encode(), "é你"),
        (b"\xed\xa0\xbd\xed\xb8\x80", "😀"),
    ],
)
def test_text_is_in_modified_utf8(raw: bytes, text: str) -> None:
    assert ddl_text_of(with_text(raw)) == text
    assert ddl_text_of(with_text(raw, long=True)) == text


@pytest.mark.parametrize(
    "raw", [b"\0", b"\xff", "😀".encode(), b"\xed\xa0\xbd", b"\xc3", b"\xed\xb8\x80"]
)
def test_text_that_is_not_modified_utf8_is_rejected(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        modified_utf8(raw)


def test_length_that_lies_is_rejected() -> None:
    with pytest.raises(DecodeError):
        ddl_text_of(META[:150] + b"\x7c" + b"\xff" * 8 + b"x")
