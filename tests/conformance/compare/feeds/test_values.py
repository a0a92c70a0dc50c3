"""Values that a feed's messages do not type the same way: each feed is equal to itself."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"


def debezium_feed(folder: Path, columns: Mapping[str, tuple[str, ...]]) -> str:
    """Write rows without schema, from the JSON texts of each column. Returns: their source."""
    folder.mkdir()
    lines = []
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        source: dict[str, Any] = {"connector": "postgresql", "db": "d", "schema": "s", "table": "t"}
        source |= {"version": "3.2.0.Final", "name": "p", "ts_ms": 1, "txId": 9, "lsn": number}
        pairs = zip(columns, values, strict=True)
        row = ",".join([f'"id":{number}', *(f'"{name}":{value}' for name, value in pairs)])
        head = f'{{"before":null,"after":{{{row}}}'
        payload = f'{head},"source":{json.dumps(source)},"op":"c","ts_ms":2}}'
        parts = {"key": f'{{"id":{number}}}', "value": payload}
        lines.append(json.dumps({k: b64encode(v.encode()).decode() for k, v in parts.items()}))
    (folder / "messages.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return f"debezium-json:file:{folder}"


UNTYPED = {
    "array": ('["a",null]', "null", "[]", "[null]"),
    "variable_scale": ('{"scale":1,"value":"Dw=="}', "null", '{"scale":0,"value":"Dw=="}', "null"),
    "map": ('{"k":"1"}', "null", '{"k":null,"l":"2"}', "{}"),
    "maps": ('[{"k":"1"}]', "[]", "[null]", '[{"l":"2"}]'),
    "inner": ('{"a":{"k":"1"}}', "null", '{"a":null}', '{"a":{"l":1}}'),
    "number": ("1", "2.5", "99999999999999999999", "null"),
    "nothing": ("null", "null", "null", "null"),
}


def test_null_without_schema_meets_every_value(compare: Compare, tmp_path: Path) -> None:
    source = debezium_feed(tmp_path / "a", UNTYPED)
    code, out, _ = compare(source, source)
    assert code == 0, out


def test_null_without_schema_differs_from_every_value(compare: Compare, tmp_path: Path) -> None:
    changed = {
        **UNTYPED,
        "array": ('["a",null]', "[]", "[]", "[null]"),
        "variable_scale": (*UNTYPED["variable_scale"][:3], '{"scale":0,"value":"Dw=="}'),
        "map": ('{"k":"1"}', "null", '{"l":"2"}', "{}"),
    }
    left = debezium_feed(tmp_path / "a", UNTYPED)
    code, out, document = compare(left, debezium_feed(tmp_path / "b", changed))
    assert code == 1, out
    (table,) = document["tables"]
    found = {each["value"] for difference in table["differences"] for each in difference["key"]}
    assert found == {"2", "3", "4"}
