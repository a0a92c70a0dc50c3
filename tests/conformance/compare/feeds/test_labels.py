"""Labels of ENUM with a comma, however a producer joins the list of labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages

pytest.importorskip("pyarrow", reason="needs the extra compare")

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

SOURCE = {"version": "3.2.0.Final", "connector": "mysql", "name": "s", "ts_ms": 1, "db": "d"}
DDL = "CREATE TABLE d.t (id INT PRIMARY KEY, e ENUM('a,b', 'c'));"


def struct(*fields: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"type": "struct", "optional": True, "fields": list(fields), **members}


def schema_of(payload: dict[str, Any], allowed: str) -> dict[str, Any]:
    labels = {"name": "io.debezium.data.Enum", "version": 1, "parameters": {"allowed": allowed}}
    row = [
        {"type": "int32", "optional": False, "field": "id"},
        {"type": "string", "optional": True, "field": "e", **labels},
    ]
    kinds = {int: "int64", str: "string"}
    source = [
        {"type": kinds[type(value)], "optional": True, "field": name}
        for name, value in payload["source"].items()
    ]
    images = [struct(*row, name="s.d.t.Value", field=name) for name in ("before", "after")]
    others = struct(*source, name="io.debezium.connector.mysql.Source", field="source")
    return struct(*images, others, {"type": "string", "field": "op"}, name="s.d.t.Envelope")


def feed(folder: Path, labels: Sequence[str], allowed: str | None) -> str:
    """Write the insert of a row per label. ``allowed``: None for messages without schemas."""
    folder.mkdir()
    messages = []
    for number, label in enumerate(labels):
        source = {**SOURCE, "table": "t", "file": "binlog.000001", "pos": 100 + number, "row": 0}
        after = {"id": number, "e": label}
        payload: dict[str, Any] = {"before": None, "after": after, "source": source, "op": "c"}
        value = payload
        if allowed is not None:
            value = {"schema": schema_of(payload, allowed), "payload": payload}
        messages.append(KafkaMessage(None, json.dumps(value).encode()))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"debezium-json:file:{folder}"


COMMAS_AS_THEY_ARE = (["a,b", "c"], "a,b,c")
ESCAPED_IN_LOG = ([r"a\,b", "c"], r"a\,b,c")
OF_A_SNAPSHOT = (["a,b", "c"], r"a\,b,c")
WITHOUT_SCHEMA = ([r"a\,b", "c"], None)


@pytest.mark.parametrize(
    "written", [COMMAS_AS_THEY_ARE, ESCAPED_IN_LOG, OF_A_SNAPSHOT, WITHOUT_SCHEMA]
)
def test_feed_with_commas_in_labels_is_equal_to_itself(
    compare: Compare, tmp_path: Path, written: tuple[list[str], str | None]
) -> None:
    source = feed(tmp_path / "a", *written)
    code, out, _ = compare(source, source)
    assert code == 0, out
    (tmp_path / "t.sql").write_text(DDL, "utf-8")
    code, out, _ = compare(source, source, "--ddl", str(tmp_path / "t.sql"))
    assert code == 0, out


@pytest.mark.parametrize("written", [ESCAPED_IN_LOG, OF_A_SNAPSHOT, WITHOUT_SCHEMA])
def test_commas_in_labels_are_equal_however_they_are_written(
    compare: Compare, tmp_path: Path, written: tuple[list[str], str | None]
) -> None:
    (tmp_path / "t.sql").write_text(DDL, "utf-8")
    left, right = feed(tmp_path / "a", *COMMAS_AS_THEY_ARE), feed(tmp_path / "b", *written)
    code, out, _ = compare(left, right, "--ddl", str(tmp_path / "t.sql"))
    assert code == 0, out


@pytest.mark.parametrize("written", [COMMAS_AS_THEY_ARE, ESCAPED_IN_LOG, OF_A_SNAPSHOT])
def test_another_label_is_a_difference(
    compare: Compare, tmp_path: Path, written: tuple[list[str], str]
) -> None:
    labels, allowed = written
    left = feed(tmp_path / "a", *COMMAS_AS_THEY_ARE)
    code, out, document = compare(left, feed(tmp_path / "b", labels[::-1], allowed))
    assert code == 1, out
    assert document["tables"][0]["counts"]["only_left"] == 2
