"""CDL JSON and Debezium JSON compared: equal on what both carry; the rest is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.format import Context
from cdcwire.core.options import OptionValue
from cdcwire.core.registry import get_format
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.model.text import table_to_json
from cdcwire_conformance.sources.messages_io import write_messages
from cdcwire_generators.workloads import workload, workload_tables

pytest.importorskip("pyspark", reason="needs the extra spark")


Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

pytestmark = pytest.mark.usefixtures("spark")

POSITIONS = ("commit_ts", "lsn", "tx_id", "commit_ms", "sent_ms")
FULL = "replica-identity=full"


def changes_of(name: str, count: int) -> list[RowChange]:
    found = workload(name, count, 7, position_fields=POSITIONS)
    return [event for event in found if isinstance(event, RowChange)]


def write(
    folder: Path, format_name: str, events: Iterable[Event], name: str, **options: OptionValue
) -> str:
    folder.mkdir()
    given = {name.replace("_", "-"): value for name, value in options.items()}
    context = Context(options=given, tables=workload_tables(name))
    write_messages(
        str(folder / "messages.jsonl"), get_format(format_name).from_events(events, context=context)
    )
    return f"{format_name}:file:{folder}"


def definitions(folder: Path) -> str:
    file = folder / "tables.json"
    file.write_text(json.dumps(list(map(table_to_json, workload_tables("orders-10")))), "utf-8")
    return str(file)


@pytest.mark.parametrize("is_full", [False, True])
def test_feeds_of_one_stream_are_equal_and_losses_are_reported(
    compare: Compare, tmp_path: Path, is_full: bool
) -> None:
    events = changes_of("proposal-29", 200)
    given: dict[str, OptionValue] = {"replica_identity": "full"} if is_full else {}
    code, out, document = compare(
        write(tmp_path / "a", "cdl-json", events, "proposal-29"),
        write(tmp_path / "b", "debezium-json", events, "proposal-29", **given),
        *(["--right-option", FULL] if is_full else []),
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["paired_by"] == ["lsn", "c1"]
    assert table["counts"]["left_rows"] == len(events)
    assert document["compared"] == ["op", "half", "tx_id", "commit_ms", "before", "after"]
    lost = [] if is_full else ["columns of deletes beyond the key"]
    assert [each["name"] for each in document["left_out"]] == lost


def test_planted_differences_are_named_and_no_others(compare: Compare, tmp_path: Path) -> None:
    events = changes_of("orders-10", 100)
    inserts = [number for number, event in enumerate(events) if event.op == "insert"]
    deletes = [number for number, event in enumerate(events) if event.op == "delete"]
    planted = list(events)
    image = events[inserts[5]].after
    assert image is not None
    values = tuple(
        "other" if name == "note" else value
        for name, value in zip(image.names, image.values, strict=True)
    )
    planted[inserts[5]] = replace(events[inserts[5]], after=Image(image.columns, values))
    planted.pop(deletes[-1])
    code, out, document = compare(
        write(tmp_path / "a", "cdl-json", events, "orders-10"),
        write(tmp_path / "b", "debezium-json", planted, "orders-10", schemas_enable="false"),
        *("--include", "shop.orders", "--tables", definitions(tmp_path)),
    )
    assert code == 1, out
    (table,) = document["tables"]
    assert {each["verdict"]: each["position"]["lsn"] for each in table["differences"]} == {
        "changed": str(events[inserts[5]].position.lsn),
        "only left": str(events[deletes[-1]].position.lsn),
    }


@pytest.mark.parametrize("right", ["craft", "datahub-blob"])
def test_other_formats_pair_by_the_order_of_changes(
    compare: Compare, tmp_path: Path, right: str
) -> None:
    positions = (*POSITIONS, "sequence_id")
    found = workload("orders-10", 100, 7, position_fields=positions)
    events = [event for event in found if isinstance(event, RowChange)]
    code, out, document = compare(
        write(tmp_path / "a", "cdl-json", events, "orders-10"),
        write(tmp_path / "b", right, events, "orders-10"),
        *("--tables", definitions(tmp_path)),
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["paired_by"] == ["ordinal", "id"]
