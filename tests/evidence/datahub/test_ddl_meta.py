"""The parsed statement of a DDL: its tree as plain values."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError
from cdcwire_evidence.datahub.ddl_meta import JavaObject, statement_of

DATA = Path(__file__).parents[2] / "reference" / "formats" / "datahub_blob" / "data"
ALTER: dict[str, Any] = json.loads((DATA / "alter.json").read_bytes())["payload"]["ddl"]
META = b64decode(ALTER["ddlMeta"])


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
