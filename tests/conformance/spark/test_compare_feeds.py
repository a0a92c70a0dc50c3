"""Whole feeds in different formats, from messages on disk to the answer and its exit code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.format import Context
from cdcwire.formats import get_format
from cdcwire.model.events import Event, Image, RowChange
from cdcwire_conformance.command import main
from cdcwire_conformance.messages_io import write_messages
from cdcwire_generators.workloads import workload

pytest.importorskip("jsonschema", reason="needs the extra check")
pytest.importorskip("pyspark", reason="needs the extra spark")

import jsonschema

from cdcwire_conformance.spark.report import schema

pytestmark = pytest.mark.usefixtures("spark")

Answer: TypeAlias = "tuple[int, str, dict[str, Any]]"
Compare: TypeAlias = Callable[..., Answer]


def write(
    folder: Path, format_name: str, events: Iterable[Event], **options: str | int | bool
) -> str:
    """Write a feed and return its source."""
    folder.mkdir()
    context = Context(options={name.replace("_", "-"): v for name, v in options.items()})
    messages = get_format(format_name).encode(events, context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Run the command. Returns: its exit code, its text, and its JSON document, validated."""

    def run(*arguments: str) -> Answer:
        file = tmp_path / "found.json"
        file.unlink(missing_ok=True)
        code = main(["compare", *arguments, "--json", str(file)])
        out, err = capsys.readouterr()
        if code == 2:
            assert not file.exists()
            return code, err, {}
        assert err == ""
        document = json.loads(file.read_text("utf-8"))
        jsonschema.validate(document, schema())
        assert document["equal"] is (code == 0)
        return code, out, document

    return run


def with_value(event: RowChange, name: str, value: object) -> RowChange:
    """Return the event with another value in its after image."""
    assert event.after is not None
    index = event.after.names.index(name)
    values = [*event.after.values]
    values[index] = value
    return replace(event, after=Image(event.after.columns, tuple(values)))


def without(event: RowChange, name: str) -> RowChange:
    """Return the event whose after image lacks a column."""
    assert event.after is not None
    pairs = [p for p in zip(*_parts(event.after), strict=True) if p[0].name != name]
    return replace(event, after=Image(tuple(c for c, _ in pairs), tuple(v for _, v in pairs)))


def _parts(image: Image) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return image.columns, image.values


def inserts(count: int) -> list[RowChange]:
    """Return inserts of the order table, each with all values there."""
    found = []
    for event in workload("orders-10", count, 5, inserts_only=True):
        assert isinstance(event, RowChange)
        for name, value in (("price", Decimal("1.0")), ("weight", 0.0), ("trace_id", 2**63)):
            event = with_value(event, name, value)
        found.append(with_value(event, "note", None))
    return found


@pytest.mark.parametrize(
    ("left", "right"), [("craft", "open-protocol"), ("craft-proposal", "craft")]
)
def test_feeds_of_one_stream_are_equal(
    compare: Compare, tmp_path: Path, left: str, right: str
) -> None:
    rows = 2000
    events = list(workload("proposal-29", rows, 7, ddl=True, resolved_every=100))
    code, out, document = compare(
        write(tmp_path / "a", left, events),
        write(tmp_path / "b", right, events, max_batch_size=256),
    )
    assert code == 0
    (table,) = document["tables"]
    assert table["counts"]["left_rows"] == table["counts"]["right_rows"] == rows
    assert table["counts"]["same"] == table["counts"]["left"]
    assert out.splitlines()[-1].startswith("EQUAL: ")


def test_planted_differences_are_named_and_no_others(compare: Compare, tmp_path: Path) -> None:
    events = inserts(300)
    planted: list[Event] = list(events)
    planted[10] = with_value(events[10], "quantity", 4711)
    planted[20] = with_value(events[20], "weight", -0.0)
    planted[30] = with_value(events[30], "price", Decimal("1.00"))
    planted[40] = with_value(events[40], "trace_id", 2**63 - 1)
    planted[50] = without(events[50], "note")
    planted[60] = with_value(events[60], "customer", None)
    planted.insert(70, events[70])
    lost = planted.pop(200)
    code, out, document = compare(
        write(tmp_path / "a", "craft", events), write(tmp_path / "b", "open-protocol", planted)
    )
    assert code == 1
    (table,) = document["tables"]
    counts = table["counts"]
    named = ("left", "right", "same", "changed", "only_left", "repeated_right", "only_right")
    assert [counts[name] for name in named] == [300, 300, 293, 6, 1, 1, 0]

    def id_of(event: Event) -> str:
        assert isinstance(event, RowChange)
        assert event.after is not None
        return str(event.after["id"])

    customer = events[60].after["customer"] if events[60].after else None
    quantity = events[10].after["quantity"] if events[10].after else None
    expected = {
        id_of(events[10]): {"quantity": ({"value": str(quantity)}, {"value": "4711"})},
        id_of(events[20]): {"weight": ({"value": "0.0"}, {"value": "-0.0"})},
        id_of(events[30]): {"price": ({"value": "1.0"}, {"value": "1.00"})},
        id_of(events[40]): {"trace_id": ({"value": str(2**63)}, {"value": str(2**63 - 1)})},
        id_of(events[50]): {"note": ({"value": None}, {"absent": True})},
        id_of(events[60]): {"customer": ({"value": customer}, {"value": None})},
    }
    by_verdict: dict[str, list[dict[str, Any]]] = {}
    for difference in table["differences"]:
        by_verdict.setdefault(difference["verdict"], []).append(difference)
    found = {
        each["key"][0]["value"]: {c["column"]: (c["left"], c["right"]) for c in each["columns"]}
        for each in by_verdict["changed"]
    }
    assert found == expected
    assert [each["key"][0]["value"] for each in by_verdict["only left"]] == [
        id_of(events[200] if lost is events[200] else lost)
    ]
    (repeated,) = by_verdict["repeated"]
    assert repeated["key"][0]["value"] == id_of(events[70])
    assert repeated["copies"] == {"left": 1, "right": 2}
    assert "6 changed, 1 only left, 1 more copies right" in out
    assert re.search(r"after\.weight \(float64\)\n +left +0\.0\n +right +-0\.0\n", out)
    assert re.search(r"after\.note \(text\)\n +left +NULL\n +right +absent\n", out)


def test_differences_tell_their_lines(compare: Compare, tmp_path: Path) -> None:
    events = inserts(40)
    planted = [*events[:33], with_value(events[33], "quantity", 7), *events[34:]]
    _, out, document = compare(
        write(tmp_path / "a", "craft", events, max_batch_size=1),
        write(tmp_path / "b", "craft-proposal", planted, max_batch_size=8),
    )
    (difference,) = document["tables"][0]["differences"]
    assert difference["places"]["left"]["line"] == 34
    assert difference["places"]["right"]["line"] == 5
    assert f"{tmp_path / 'a' / 'messages.jsonl'}:34" in out


def test_options_say_what_is_left_out(compare: Compare, tmp_path: Path) -> None:
    events = list(workload("tiny", 200, 3))
    left = write(tmp_path / "a", "craft", events)
    right = write(
        tmp_path / "b",
        "open-protocol",
        events,
        output_old_value=False,
        delete_only_output_handle_key_columns=True,
    )
    options = ("output-old-value=false", "delete-only-output-handle-key-columns=true")
    told = [word for option in options for word in ("--right-option", option)]
    code, out, document = compare(left, right, *told)
    assert code == 0
    assert [each["name"] for each in document["left_out"]] == [
        "before images of updates",
        "columns of deletes beyond the key",
        "insert against update",
    ]
    assert "not compared: before images of updates (open-protocol" in out


def test_only_updated_columns_are_filled_in(compare: Compare, tmp_path: Path) -> None:
    events = list(workload("updates", 200, 3))
    left = write(tmp_path / "a", "craft", events)
    right = write(tmp_path / "b", "open-protocol", events, only_output_updated_columns=True)
    assert compare(left, right, "--right-option", "only-output-updated-columns=true")[0] == 0


def test_schemas_that_differ_are_told_before_any_row(compare: Compare, tmp_path: Path) -> None:
    events = inserts(20)
    left = write(tmp_path / "a", "craft", [*events, *workload("tiny", 5, 1)])
    right = write(tmp_path / "b", "open-protocol", [without(event, "note") for event in events])
    code, out, document = compare(left, right)
    assert code == 1
    assert document["differences"] == ["table test.tiny: only on the left"]
    (table,) = document["tables"]
    assert table["counts"] is None
    assert table["schema_differences"] == ["column note: only on the left (text)"]
    assert "No row was compared" in out

    code, out, document = compare(left, right, "--common")
    (table,) = document["tables"]
    assert code == 1  # the rows are equal, the schemas are not
    assert table["counts"]["same"] == 20
    assert table["left_out"] == [{"name": "note", "reason": "only the left side has it"}]

    assert compare(left, right, "--include", "shop.orders", "--columns", "price,weight")[0] == 0


def test_poisoned_message_stops_or_is_counted(compare: Compare, tmp_path: Path) -> None:
    events = inserts(40)
    left = write(tmp_path / "a", "craft", events, max_batch_size=4)
    right = write(tmp_path / "b", "craft", events, max_batch_size=4)
    file = tmp_path / "b" / "messages.jsonl"
    lines = file.read_text().splitlines()
    lines[6] = json.dumps({"key": None, "value": "AQID"})
    file.write_text("\n".join(lines) + "\n")

    code, error, _ = compare(left, right)
    assert code == 2
    assert error.startswith("cdcwire compare: ")
    assert f"{file}:7: byte " in error
    assert error.count("\n") == 1

    code, out, document = compare(left, right, "--on-error", "row")
    assert code == 1
    (table,) = document["tables"]
    assert table["counts"]["unreadable_right"] == 1
    assert table["counts"]["only_left"] == 4
    assert document["unreadable"][0].startswith(f"{file}:7: byte ")
    assert "unreadable: " in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing:file:DIR", "craft:file:DIR"], "a source begins with its format"),
        (["craft:file:DIR/no", "craft:file:DIR"], "there is no such directory"),
        (["craft:file:DIR", "craft:file:DIR", "--option", "x=1"], "is one of neither"),
        (["craft:file:DIR", "craft:file:DIR", "--left-option", "x=1"], "is not an option"),
        (["craft:file:DIR", "craft:file:DIR", "--include", "a.b"], "neither feed has rows of a.b"),
        (["craft:file:DIR", "craft:file:DIR", "--columns", "zz"], "no table has a column zz"),
        (["craft:file:DIR", "craft:file:DIR", "--conf", "zz"], "is not KEY=VALUE"),
        (["craft:file:DIR", "craft:file:DIR", "--limit", "-1"], "--limit is a number from 0"),
    ],
)
def test_what_can_not_run_is_told_in_one_line(
    compare: Compare, tmp_path: Path, arguments: list[str], said: str
) -> None:
    write(tmp_path / "feed", "craft", workload("tiny", 3, 1))
    folder = str(tmp_path / "feed")
    code, error, _ = compare(*(word.replace("DIR", folder) for word in arguments))
    assert code == 2
    assert said in error
    assert error.count("\n") == 1


def test_feeds_without_rows_are_not_called_equal(compare: Compare, tmp_path: Path) -> None:
    empty = [
        write(tmp_path / name, "craft", list(workload("tiny", 1, 1, ddl=True))[:1]) for name in "ab"
    ]
    code, error, _ = compare(*empty)
    assert code == 2
    assert "nothing to compare" in error
