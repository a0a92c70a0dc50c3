"""The statement object of a DDL: its text read within bounds, its tree as plain values."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError
from cdcwire_evidence.datahub.ddl_meta import (
    DdlTextMismatchError,
    JavaObject,
    check_ddl_text,
    modified_utf8,
    read_ddl_meta,
    statement_of,
)

DATA = Path(__file__).parents[2] / "reference" / "formats" / "datahub_blob" / "data"
ALTER: dict[str, Any] = json.loads((DATA / "alter.json").read_bytes())["payload"]["ddl"]
META = b64decode(ALTER["ddlMeta"])


def test_object_has_the_text_of_its_message() -> None:
    found = check_ddl_text(ALTER["text"], META)
    assert found.class_name == "com.alibaba.di.plugin.center.meta.DDLMeta"
    with pytest.raises(DdlTextMismatchError):
        check_ddl_text(ALTER["text"] + " ", META)


@pytest.mark.parametrize("cut", range(0, 198, 3))
def test_object_that_is_cut_is_rejected_at_its_end(cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_ddl_meta(META[:cut])
    assert (caught.value.offset, caught.value.clause) == (cut, "datahub-blob: ddlMeta")


@given(st.integers(0, 197), st.integers(0, 255))
def test_object_with_a_changed_byte_is_read_or_rejected(place: int, byte: int) -> None:
    changed = bytearray(META)
    changed[place] = byte
    try:
        found = read_ddl_meta(bytes(changed)).ddl_text
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
    assert read_ddl_meta(with_text(raw)).ddl_text == text
    assert read_ddl_meta(with_text(raw, long=True)).ddl_text == text


@pytest.mark.parametrize(
    "raw", [b"\0", b"\xff", "😀".encode(), b"\xed\xa0\xbd", b"\xc3", b"\xed\xb8\x80"]
)
def test_text_that_is_not_modified_utf8_is_rejected(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        modified_utf8(raw)


def test_length_that_lies_is_rejected() -> None:
    with pytest.raises(DecodeError):
        read_ddl_meta(META[:150] + b"\x7c" + b"\xff" * 8 + b"x")


def test_tree_of_the_sample_is_the_statement() -> None:
    pytest.importorskip("javaobj")
    tree = statement_of(META)
    assert tree.class_name.endswith(".SQLAlterTableStatement")
    source, (item,) = tree.members["tableSource"], tree.members["items"]  # type: ignore[misc, str-unpack]
    assert isinstance(source, JavaObject)
    assert source.members["expr"].members["name"] == "t_shiyu_nopk"  # type: ignore[union-attr]
    assert isinstance(item, JavaObject)
    assert item.class_name.endswith(".SQLAlterTableAddColumn")
    (column,) = item.members["columns"]  # type: ignore[misc, str-unpack]
    assert column.members["name"].members["name"] == "holo"  # type: ignore[union-attr]
    assert column.members["dataType"].members["name"] == "text"  # type: ignore[union-attr]


@given(st.integers(0, len(META) - 1), st.integers(0, 255))
def test_tree_of_damaged_bytes_is_read_or_rejected(place: int, byte: int) -> None:
    pytest.importorskip("javaobj")
    changed = bytearray(META)
    changed[place] = byte
    try:
        found = statement_of(bytes(changed)).class_name
    except DecodeError as error:
        found = error.clause
    assert found
