"""Hints where names of columns differ: options that read the original names."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format

Run = Callable[..., tuple[int, str, dict[str, Any]]]

ID = Column("i_d", IntType(64), nullable=False, roles=frozenset({"primary", "handle"}))
COLUMNS = (ID, Column("größe", IntType(64)), Column("v", TextType()))
TABLE = Table("t", "s", columns=COLUMNS, key=("i_d",))
CHANGES = [
    RowChange(TABLE, "insert", None, Image(COLUMNS, (n, n, "x")), Position(lsn=n, commit_ms=1))
    for n in range(3)
]


def feed(folder: Path, name: str, mode: str = "none") -> str:
    """Write a feed whose producer adjusts names. Returns: its source."""
    folder.mkdir()
    context = Context({"field-name-adjustment-mode": mode})
    messages = [*get_format(name).from_events(CHANGES, context=context)]
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{name}:file:{folder}"


def test_names_that_avro_unicode_adjusts_have_the_option(tmp_path: Path, compare: Run) -> None:
    left = feed(tmp_path / "a", "debezium-json")
    right = feed(tmp_path / "b", "debezium-json", "avro_unicode")
    option = "field-name-adjustment-mode=avro_unicode"
    code, text, _ = compare(left, right)
    assert code == 1
    assert (
        f"hint: i_u005fd, gr_u00f6_u00dfe of the right feed: --right-option {option} reads "
        "adjusted names as the original ones: i_d, größe\n"
    ) in text
    assert "--ignore-column" not in text
    assert compare(left, right, "--right-option", option)[0] == 0
    code, text, _ = compare(right, left)
    assert f"of the left feed: --left-option {option} reads" in text


def test_lost_names_are_mapped_or_left_out(tmp_path: Path, compare: Run) -> None:
    left = feed(tmp_path / "a", "debezium-json")
    right = feed(tmp_path / "b", "debezium-json", "avro")
    _, text, _ = compare(left, right)
    assert "--map-column 'größe=gr__e'\n" in text
    assert "adjusted" not in text


def test_field_of_a_key_that_is_no_column_has_the_option(tmp_path: Path, compare: Run) -> None:
    left = feed(tmp_path / "a", "debezium-json")
    routed = tmp_path / "b"
    routed.mkdir()
    with (routed / "messages.jsonl").open("w") as file:
        for line in (tmp_path / "a" / "messages.jsonl").read_text().splitlines():
            message = json.loads(line)
            key = json.loads(base64.b64decode(message["key"]))
            field = {"type": "string", "optional": False, "field": "from topic"}
            key["schema"]["fields"].append(field)
            key["payload"]["from topic"] = "p.s.t1"
            message["key"] = base64.b64encode(json.dumps(key).encode()).decode()
            file.write(json.dumps(message) + "\n")
    right = f"debezium-json:file:{routed}"
    code, text, _ = compare(left, right)
    assert code == 1
    assert (
        "hint: the field from topic in keys of s.t is not a column; "
        "--right-option 'key-field-name=from topic' leaves it out\n"
    ) in text
    assert compare(left, right, "--right-option", "key-field-name=from topic")[0] == 0
