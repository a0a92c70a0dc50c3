"""Whole feeds in different formats, from messages on disk to the answer and its exit code."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import BytesType, Column, IntType, StructType, TimestampType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_generators.workloads import workload

pytest.importorskip("pyarrow", reason="needs the extra compare")


Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"


def write(
    folder: Path, format_name: str, events: Iterable[Event], **options: str | int | bool
) -> str:
    """Write a feed and return its source."""
    folder.mkdir()
    context = Context(options={name.replace("_", "-"): v for name, v in options.items()})
    messages = get_format(format_name).from_events(events, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


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


def id_of(event: Event) -> str:
    assert isinstance(event, RowChange)
    assert event.after is not None
    return str(event.after["id"])


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


def test_places_name_the_row_within_its_message(compare: Compare, tmp_path: Path) -> None:
    events = inserts(30)
    planted: list[Event] = list(events)
    for number in (0, 10, 29):  # in messages of 7 rows and of one row
        planted[number] = with_value(events[number], "quantity", 4711)
    del planted[20]
    feeds = (
        write(tmp_path / "a", "craft", events, max_batch_size=7),
        write(tmp_path / "b", "open-protocol", planted, max_batch_size=1),
    )
    page = tmp_path / "page.html"
    code, out, document = compare(*feeds, "--html", str(page))
    assert code == 1
    (table,) = document["tables"]
    places = {
        each["key"][0]["value"]: [
            side and (side["line"], side.get("row")) for side in each["places"].values()
        ]
        for each in table["differences"]
    }
    assert places == {
        id_of(events[0]): [(1, 0), (1, None)],
        id_of(events[10]): [(2, 3), (11, None)],
        id_of(events[20]): [(3, 6), None],
        id_of(events[29]): [(5, 1), (29, None)],
    }
    text = f"{tmp_path / 'a' / 'messages.jsonl'}:2, rows[3]"
    assert f"    left   {text}\n" in out
    assert text in page.read_text("utf-8")


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
    named = ("left", "right", "same", "changed", "only_left", "doubled_right", "only_right")
    assert [counts[name] for name in named] == [300, 300, 293, 6, 1, 1, 0]

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
    (doubled,) = by_verdict["doubled"]
    assert doubled["key"][0]["value"] == id_of(events[70])
    assert doubled["copies"] == {"left": 1, "right": 2}
    assert "6 changed, 1 only left, 1 doubled right" in out
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
    named = [word for option in options for word in ("--right-option", option)]
    code, out, document = compare(left, right, *named)
    assert code == 0
    assert [each["name"] for each in document["left_out"][:-1]] == [
        "before images of updates",
        "columns of deletes beyond the key",
        "partition",
        "insert against update",
        "row ids, claim checks",
    ]
    assert "not compared: before images of updates (open-protocol" in out


def test_only_updated_columns_are_filled_in(compare: Compare, tmp_path: Path) -> None:
    events = list(workload("updates", 200, 3))
    left = write(tmp_path / "a", "craft", events)
    right = write(tmp_path / "b", "open-protocol", events, only_output_updated_columns=True)
    assert compare(left, right, "--right-option", "only-output-updated-columns=true")[0] == 0


def test_different_schemas_are_reported_before_any_row(compare: Compare, tmp_path: Path) -> None:
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
    assert table["notes"] == [
        "4 rows only on the left may belong to 1 unreadable row or message on the right"
    ]
    assert document["errors"] == {"left": 0, "right": 1}
    assert document["unreadable"][0].startswith(f"{file}:7: byte ")
    assert "unreadable: " in out


def test_unreadable_message_counts_once_for_all_tables(compare: Compare, tmp_path: Path) -> None:
    events = [*inserts(10), *workload("tiny", 10, 1)]
    left = write(tmp_path / "a", "craft", events)
    right = write(tmp_path / "b", "open-protocol", events)
    poisoned = tmp_path / "b" / "messages.jsonl"
    poisoned.write_text(poisoned.read_text() + "no message\n" * 7)
    code, out, document = compare(left, right, "--on-error", "row")
    assert code == 1
    assert [table["counts"]["unreadable_right"] for table in document["tables"]] == [7, 7]
    assert document["errors"] == {"left": 0, "right": 7}
    assert len(document["unreadable"]) == 5
    assert out.count("equal, as far as it can be read") == 2
    assert "unreadable: and 2 more\n" in out
    assert out.endswith("DIFFERENT: 7 unreadable\n")


def test_feed_that_can_not_be_read_at_all_says_so(compare: Compare, tmp_path: Path) -> None:
    left = write(tmp_path / "a", "craft", inserts(10))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "messages.jsonl").write_text("no message\n" * 3)
    right = f"craft:file:{tmp_path / 'b'}"
    code, out, document = compare(left, right, "--on-error", "row")
    assert code == 1
    assert document["differences"] == ["table shop.orders: only on the left"]
    assert document["errors"] == {"left": 0, "right": 3}
    assert out.endswith("DIFFERENT: the schemas differ, 3 unreadable\n")


# One value of the order table on the left and on the right, and how they are shown.
PLANTED: Mapping[str, tuple[str, Any, Any, Any, Any]] = {
    "null-for-empty-text": ("note", None, "", {"value": None}, {"value": ""}),
    "text-case": ("customer", "Anna", "anna", {"value": "Anna"}, {"value": "anna"}),
    "trailing-space": ("customer", "Anna", "Anna ", {"value": "Anna"}, {"value": "Anna "}),
    "composed-letter": ("customer", "é", "e\u0301", {"value": "é"}, {"value": "e\u0301"}),
    "decimal-scale": (
        "price",
        Decimal("1.0"),
        Decimal("1.00"),
        {"value": "1.0"},
        {"value": "1.00"},
    ),
    "decimal-zero": ("price", Decimal("0"), Decimal("0.0"), {"value": "0"}, {"value": "0.0"}),
    "last-bit-of-double": ("weight", 0.1, 0.1 + 2**-56, {"value": "0.1"}, None),
    "negative-zero": ("weight", -0.0, 0.0, {"value": "-0.0"}, {"value": "0.0"}),
    "beyond-signed": (
        "trace_id",
        2**63,
        2**64 - 1,
        {"value": str(2**63)},
        {"value": str(2**64 - 1)},
    ),
    "beyond-double": (
        "trace_id",
        2**53,
        2**53 + 1,
        {"value": str(2**53)},
        {"value": str(2**53 + 1)},
    ),
    "null-for-zero": ("quantity", None, 0, {"value": None}, {"value": "0"}),
}


@pytest.mark.parametrize("exact", [(), ("--exact",)], ids=["fingerprints", "exact"])
def test_each_single_difference_between_formats_is_seen(
    compare: Compare, tmp_path: Path, exact: tuple[str, ...]
) -> None:
    ours: list[Event] = []
    theirs: list[Event] = []
    events = inserts(len(PLANTED) + 1)
    for event, (name, left, right, _, _) in zip(events, PLANTED.values(), strict=False):
        ours.append(with_value(event, name, left))
        theirs.append(with_value(event, name, right))
    swapped = events[-1]  # NULL in one column and a value in its neighbour, and the other way round
    for target, (first, second) in ((ours, (None, "x")), (theirs, ("x", None))):
        target.append(with_value(with_value(swapped, "customer", first), "note", second))
    code, _, document = compare(
        write(tmp_path / "a", "craft", ours),
        write(tmp_path / "b", "open-protocol", theirs, max_batch_size=3),
        *exact,
    )
    assert code == 1
    (table,) = document["tables"]
    assert table["counts"]["changed"] == len(events)
    assert table["counts"]["same"] == 0
    found = {
        each["key"][0]["value"]: {c["column"]: (c["left"], c["right"]) for c in each["columns"]}
        for each in table["differences"]
    }
    for event, (name, _, _, left, right) in zip(events, PLANTED.values(), strict=False):
        ((column, shown),) = found[id_of(event)].items()
        assert column == name
        assert shown[0] == left
        assert right is None or shown[1] == right
        assert shown[0] != shown[1]
    assert set(found[id_of(swapped)]) == {"customer", "note"}


def test_float32_neighbours_differ(compare: Compare, tmp_path: Path) -> None:
    events = [
        e for e in workload("proposal-29", 20, 7, inserts_only=True) if isinstance(e, RowChange)
    ]
    (near,) = struct.unpack("<f", struct.pack("<I", 0x3DCCCCCE))  # one step above float32's 0.1
    (tenth,) = struct.unpack("<f", struct.pack("<f", 0.1))
    ours = [with_value(event, "c18", tenth) for event in events]
    theirs = [*ours[:9], with_value(events[9], "c18", near), *ours[10:]]
    _, _, document = compare(
        write(tmp_path / "a", "craft", ours), write(tmp_path / "b", "open-protocol", theirs)
    )
    ((column,),) = [each["columns"] for each in document["tables"][0]["differences"]]
    assert (column["column"], column["left"]) == ("c18", {"value": "0.1"})
    assert column["right"] == {"value": "0.10000001"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["nothing:file:DIR", "craft:file:DIR"],
            "unknown format 'nothing'; known: debezium-json",
        ),
        (["craft:file:DIR/no", "craft:file:DIR"], "there is no such directory"),
        (
            ["craft:file:DIR", "craft:file:DIR", "--option", "x=1"],
            "nor craft has an option 'x'",
        ),
        (["craft:file:DIR", "craft:file:DIR", "--left-option", "x=1"], "unknown option 'x'"),
        (["craft:file:DIR", "craft:file:DIR", "--include", "a.b"], "neither feed has rows of a.b"),
        (["craft:file:DIR", "craft:file:DIR", "--columns", "zz"], "no table has a column zz"),
        (["craft:file:DIR", "craft:file:DIR", "--conf", "zz"], "is not KEY=VALUE"),
        (["craft:file:DIR", "craft:file:DIR", "--limit", "-1"], "--limit is a number from 0"),
    ],
)
def test_command_that_can_not_run_is_reported_in_one_line(
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


@pytest.mark.parametrize("mode", ["events", "final"])
def test_window_without_a_change_is_not_called_equal(
    compare: Compare, tmp_path: Path, mode: str
) -> None:
    feeds = [write(tmp_path / name, "craft", workload("tiny", 9, 1)) for name in "ab"]
    code, error, _ = compare(*feeds, "--mode", mode, "--from", "1", "--to", "2")
    assert code == 2
    assert error == (
        "cdcwire compare: nothing was compared: neither feed has a change "
        "(only changes with commit_ts from 1 and below 2)\n"
    )


def test_deleted_rows_against_no_rows_are_not_called_equal(
    compare: Compare, tmp_path: Path
) -> None:
    first, *rest = inserts(4)
    assert first.after is not None
    last = replace(rest[-1].position, commit_ts=(rest[-1].position.commit_ts or 0) + 1)
    gone = replace(first, op="delete", before=first.after, after=None, position=last)
    left = write(tmp_path / "a", "craft", [first, *rest, gone])
    right = write(tmp_path / "b", "craft", [first, *rest])
    window = ["--from", str(last.commit_ts)]
    code, error, _ = compare(left, right, "--mode", "final", *window)
    assert code == 2
    assert "nothing was compared: the right feed has no change (only changes with" in error


@pytest.mark.parametrize("name", ["wkb", "metadata"])
def test_members_named_as_spark_names_its_own_are_compared(
    compare: Compare, tmp_path: Path, name: str
) -> None:
    point = StructType((Column(name, BytesType()), Column("srid", IntType(32))))
    columns = (
        Column("id", IntType(64), roles=frozenset({"primary"})),
        Column(name, BytesType()),
        Column("at", point),
    )
    place = Image(point.columns, (b"\x01\x02", 4326))
    image = Image(columns, (1, b"\x03", place))
    table = Table("t", "s", columns=columns, key=("id",))
    event = RowChange(table, "insert", None, image, Position(lsn=5, commit_ms=1))
    moved = Image(columns, (1, b"\x03", replace(place, values=(b"\x01\x07", 4326))))
    feeds = [
        write(tmp_path / side, "debezium-json", [replace(event, after=after)])
        for side, after in (("a", image), ("b", image), ("c", moved))
    ]
    code, out, _ = compare(*feeds[:2])
    assert code == 0, out
    code, _, document = compare(feeds[0], feeds[2])
    assert code == 1
    (difference,) = document["tables"][0]["differences"]
    assert [column["column"] for column in difference["columns"]] == ["at"]


def test_texts_of_one_instant_are_equal(compare: Compare, tmp_path: Path) -> None:
    columns = (
        Column("id", IntType(64), roles=frozenset({"primary"})),
        Column("at", TimestampType(zone="+00:00")),
    )
    table = Table("t", "s", columns=columns, key=("id",))
    image = Image(columns, (1, "1900-01-01 00:00:00"))
    event = RowChange(table, "insert", None, image, Position(lsn=5, commit_ms=1))
    left = write(tmp_path / "a", "debezium-json", [event])
    (message,) = get_format("debezium-json").from_events([event], context=Context())
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    sent = b"1900-01-01T00:00:00Z"
    assert sent in message.value
    for number, text in enumerate((b"1900-01-01T00:00:00.000000Z", b"1900-01-01T02:00:00+02:00")):
        folder = tmp_path / f"b{number}"
        folder.mkdir()
        other = replace(message, value=message.value.replace(sent, text))
        write_messages(str(folder / "messages.jsonl"), [other])
        code, out, _ = compare(left, f"debezium-json:file:{folder}")
        assert code == 0, out


@pytest.mark.parametrize("right", ["open-protocol", "canal-json", "maxwell-json"])
def test_any_number_in_a_tinyint_1_is_compared(
    compare: Compare, tmp_path: Path, right: str
) -> None:
    columns = (
        Column("id", IntType(32), "int", roles=frozenset({"primary", "handle"})),
        Column("flag", IntType(8), "tinyint"),
    )
    table = Table("t", "s", columns=columns, key=("id",))
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE s.t (id int primary key, flag tinyint(1))", "utf-8")
    events = [
        RowChange(
            table,
            "insert",
            None,
            Image(columns, (n, flag)),
            Position(commit_ts=n, commit_ms=n * 1000),
        )
        for n, flag in enumerate((0, 1, 2, -128), 1)
    ]
    code, out, _ = compare(
        write(tmp_path / "a", "craft", events),
        write(tmp_path / "b", right, events),
        *("--ddl", str(ddl), "--pair-by", "key"),
    )
    assert code == 0, out


def test_examples_of_the_page_print_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[4] / "docs" / "compare.md").read_text("utf-8")
    last_rows = page[page.index("## The last row of each key") :]
    monkeypatch.chdir(tmp_path)
    for text in (page, last_rows):
        commands, answer = re.findall(r"```(?:sh|text)\n(.*?)```", text, re.DOTALL)[:2]
        for line in commands.splitlines():
            assert main(line.split()[1:]) == 0
        assert capsys.readouterr().out == answer
