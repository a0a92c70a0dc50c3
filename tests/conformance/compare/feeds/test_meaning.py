"""Equal feeds that look different: what is accepted by default, by options, and what is proposed.

Each comparison has many tables, one per rule: in the nightly run Spark takes a while for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import (
    BytesType,
    Column,
    DatetimeType,
    FloatType,
    IntType,
    JsonType,
    StructType,
    TextType,
    TimestampType,
    Type,
)
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

pytest.importorskip("pyarrow", reason="needs the extra compare")

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"
TS = 449_226_000_000_000_000

POINT = StructType(
    (
        Column("x", FloatType(64)),
        Column("y", FloatType(64)),
        Column("wkb", BytesType()),
        Column("srid", IntType(32)),
    )
)


def table(name: str, *columns: tuple[str, Type], schema: str = "shop") -> Table:
    key = Column("id", IntType(32), roles=frozenset({"primary", "handle"}))
    return Table(name, schema, None, (key, *(Column(*each) for each in columns)), ("id",))


def image(of: Table, *values: object) -> Image:
    return Image(of.columns or (), values)


def insert(of: Table, position: int, *values: object) -> RowChange:
    return RowChange(of, "insert", None, image(of, *values), place(position))


def place(position: int) -> Position:
    ms = 1_700_000_000_000
    return Position(commit_ts=TS + position, lsn=position, tx_id=str(position), commit_ms=ms)


def update(of: Table, position: int, old: tuple[object, ...], new: tuple[object, ...]) -> RowChange:
    return RowChange(of, "update", image(of, *old), image(of, *new), place(position))


def write(folder: Path, format_name: str, events: Iterable[Event], **options: str | bool) -> str:
    folder.mkdir()
    context = Context(options={name.replace("_", "-"): v for name, v in options.items()})
    messages = get_format(format_name).from_events(events, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


def with_values(event: RowChange, of: Table, **values: object) -> RowChange:
    """Return an insert with other values, of a table that may differ."""
    assert event.after is not None
    pairs = event.after.pairs
    image = Image(of.columns or (), tuple(values.get(c.name, value) for c, value in pairs))
    return replace(event, table=of, after=image)


ACCOUNTS = table("accounts", ("name", TextType()))
TIMES = table("times", ("made_at", DatetimeType(6)), ("zoned", TimestampType(6, "text", "+00:00")))
SHAPES = table("shapes", ("p", POINT), ("wkb", BytesType()))
LOGS = table("logs", ("note", TextType()), ("seen", IntType(32)))
OLD_NAME, NEW_NAME = table("staff", ("name", TextType())), table("people", ("name", TextType()))
SCRATCH = table("scratch", ("n", IntType(32)))


JSON_NOTES = table("docs", ("note", JsonType()))


def debezium_events(*, is_full: bool) -> list[Event]:
    """Return one stream, as a table with REPLICA IDENTITY FULL and one with DEFAULT send it."""
    made = "2024-01-01 00:00:00.123456" if is_full else "2024-01-01 00:00:00.123000"
    people = OLD_NAME if is_full else NEW_NAME
    point = Image(POINT.columns, (1.0, 2.0, b"\x01", None))
    updates = [update(ACCOUNTS, 20 + n, (n, "a"), (n, "b")) for n in range(3)]
    if not is_full:
        updates = [replace(each, before=None) for each in updates]
    return [
        *(insert(ACCOUNTS, 10 + n, n, "a") for n in range(3)),
        *updates,
        *(insert(TIMES, 30 + n, n, made, "2024-01-01 10:00:00.500000") for n in range(2)),
        insert(SHAPES, 40, 1, point, b"\x02"),
        insert(LOGS, 50, 1, "x", 1 if is_full else 2),
        insert(people, 60, 1, "Ada"),
        *([insert(SCRATCH, 70, 1, 1)] if is_full else []),
    ]


@pytest.fixture(scope="module")
def debezium(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("debezium")
    left = write(
        folder / "a", "debezium-json", debezium_events(is_full=True), replica_identity="full"
    )
    return left, write(folder / "b", "debezium-json", debezium_events(is_full=False))


def test_meant_differences_are_accepted_and_the_verdict_names_them(
    compare: Compare, debezium: tuple[str, str]
) -> None:
    code, text, found = compare(
        *debezium,
        *("--left-option", "replica-identity=full", "--precision", "made_at=ms"),
        *("--ignore-column", "shop.logs.seen", "--exclude", "shop.scratch"),
        *("--map-table", "shop.staff=shop.people"),
    )
    assert code == 0, text
    tables = {each["table"]: each for each in found["tables"]}
    assert list(tables) == [f"shop.{n}" for n in ("accounts", "logs", "shapes", "staff", "times")]
    assert [each["name"] for each in tables["shop.accounts"]["left_out"]] == [
        "before images of updates"
    ]
    assert tables["shop.accounts"]["counts"]["same"] == 6
    (verdict,) = [line for line in text.splitlines() if line.startswith("EQUAL")]
    assert verdict.endswith(
        "; left out: shop.scratch (--exclude); seen of shop.logs (--ignore-column); "
        "made_at of shop.times below ms (--precision)"
    )
    assert "debezium-json: shop.people is shop.staff" in text


def test_differences_are_found_without_the_options_and_options_are_proposed(
    compare: Compare, debezium: tuple[str, str]
) -> None:
    code, text, found = compare(*debezium, "--left-option", "replica-identity=full")
    assert code == 1
    assert found["differences"] == [
        "table shop.people: only on the right",
        "table shop.scratch: only on the left",
        "table shop.staff: only on the left",
    ]
    counts = {each["table"]: each["counts"] for each in found["tables"]}
    assert {name: each["changed"] for name, each in counts.items()} == {
        "shop.accounts": 0,
        "shop.logs": 1,
        "shop.shapes": 0,
        "shop.times": 2,
    }
    patterns = {each["table"]: each["patterns"] for each in found["tables"]}
    (cut,) = patterns["shop.times"]
    assert (cut["column"], cut["option"]) == ("made_at", "--precision made_at=ms")
    assert "hint: " not in text


NOTES = table("notes", ("note", TextType()), ("n", IntType(32)), ("doc", JsonType()))
NOTES_ON_THE_RIGHT = table(
    "notes", ("note", TextType()), ("n", IntType(32, unsigned=True)), ("doc", JsonType())
)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two feeds of one table, from clusters whose positions have nothing in common.

    The left one has bytes that are not UTF-8, which the format of the right one can't carry.
    """
    folder = tmp_path_factory.mktemp("clusters")
    events = [
        insert(NOTES, 10 + n, n, b"ab\xff\xe4\xb8z", 7, '{"a": 1, "b": 1.0}') for n in range(3)
    ]
    others = [
        replace(
            with_values(each, NOTES_ON_THE_RIGHT, doc='{"b": 1, "a": 1}'),
            position=place((each.position.commit_ts or 0) + 1_000_000_000),
        )
        for each in events
    ]
    ddl = [
        SchemaChange("create", "CREATE TABLE notes (id int)", 3, NOTES, place(1)),
        SchemaChange("alter", "ALTER TABLE notes ADD n int", 5, NOTES, place(2)),
    ]
    progress = Progress("resolved", place(99))
    left = write(folder / "a", "craft", [*ddl, *events, progress])
    return left, write(folder / "b", "open-protocol", [ddl[0], *others, progress, progress])


def test_feeds_of_two_clusters_pair_by_key(compare: Compare, clusters: tuple[str, str]) -> None:
    code, text, found = compare(*clusters, "--pair-by", "key", "--look-into-text")
    assert code == 0, text
    (notes,) = found["tables"]
    assert notes["paired_by"] == ["ordinal", "id"]
    assert notes["notes"] == [
        "column types differ, compared: n int32 and int32 unsigned as int64",
        "JSON compared by its content: doc (order of members, white space, 1.0 = 1)",
        "text that is not UTF-8 is compared as U+FFFD (note): only one of the formats can carry it",
    ]
    assert found["events"] == {
        "left": {"ddl": 2, "progress": 1},
        "right": {"ddl": 1, "progress": 2},
    }
    assert "not compared: DDL events (2 on the left, 1 on the right)" in text
    assert "not compared: progress events (1 on the left, 2 on the right)" in text


def test_ddl_events_and_types_are_compared_if_asked_for(
    compare: Compare, clusters: tuple[str, str]
) -> None:
    code, text, found = compare(*clusters, "--pair-by", "key", "--ddl-events", "--strict-types")
    assert code == 1
    assert found["ddl_differences"] == ["only left: shop.notes: ALTER TABLE notes ADD n int"]
    (notes,) = found["tables"]
    assert notes["counts"] is None
    assert notes["schema_differences"] == [
        "column n int32 and int32 unsigned as int64 (--strict-types)"
    ]
    assert text.splitlines()[-1].startswith(
        "DIFFERENT: the schemas differ, 1 DDL event of one side"
    )


def test_positions_that_never_meet_are_pointed_out(compare: Compare, tmp_path: Path) -> None:
    events = [insert(LOGS, 10 + n, n, "x", 1) for n in range(2)]
    others = [replace(each, position=place(each.position.commit_ts or 0)) for each in events]
    sources = write(tmp_path / "a", "craft", events), write(tmp_path / "b", "craft", others)
    code, _, found = compare(*sources)
    assert code == 1
    assert found["hints"] == [
        "no two rows have the same commit_ts and key; feeds of two clusters are compared with "
        "--pair-by key"
    ]
    code, error, _ = compare(sources[0], sources[0], "--min-rows", "3")
    assert code == 2
    assert error == (
        "cdcwire compare: nothing was decided: the feeds have 2 and 2 changes to compare, fewer "
        "than --min-rows 3\n"
    )


def test_generated_feeds_are_compared_without_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Tuple topic needs definitions, and Canal-JSON has a commit-ts only with an option."""
    extension = ["--option", "enable-tidb-extension=true"]
    for name, options in (("datahub-tuple", []), ("craft", []), ("canal-json", extension)):
        target = ["--to", str(tmp_path / name), "--rows", "20", "--workload", "orders-10"]
        assert main(["generate", name, *target, *options]) == 0
    capsys.readouterr()
    folders = [f"auto:file:{tmp_path / name}" for name in ("craft", "canal-json")]
    assert main(["compare", *folders]) == 0
    out, err = capsys.readouterr()
    assert "paired by commit_ts and id" in out
    assert err == (
        f"cdcwire compare: {tmp_path / 'canal-json' / 'feed.json'} gives --option "
        "enable-tidb-extension=true\n"
    )
    assert main(["compare", *[f"auto:file:{tmp_path / 'datahub-tuple'}"] * 2]) == 0
    assert "the definitions of shop.orders" in capsys.readouterr().err


def test_generated_prefixes_are_compared_without_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its options neither prefix has positions, and one of CSV can't be read at all."""
    options = {
        "csv": ["include-commit-ts=true", "output-old-value=true"],
        "canal-json": ["transport=storage", "enable-tidb-extension=true"],
    }
    for name, chosen in options.items():
        given = [part for each in chosen for part in ("--option", each)]
        target = ["--to", str(tmp_path / name), "--rows", "20"]
        assert main(["generate", name, *target, *given]) == 0
        assert main(["storage", "check", name, str(tmp_path / name), *given]) == 0
        assert "note:" not in capsys.readouterr().out
    assert main(["compare", *(f"auto:file:{tmp_path / name}" for name in options)]) == 0
    out, err = capsys.readouterr()
    assert "paired by commit_ts and" in out
    assert [line.partition(".feed.json gives ")[2] for line in err.splitlines()] == [
        "--option include-commit-ts=true --option output-old-value=true",
        "--option enable-tidb-extension=true --option transport=storage",
    ]


@pytest.mark.parametrize("name", ["feed.json", ".feed.json"])
def test_options_of_the_command_line_go_before_those_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    events = [insert(LOGS, 10, 1, "x", 1)]
    source = write(tmp_path / "a", "canal-json", events, content_compatible=True)
    (tmp_path / "a" / name).write_text(
        '{"feed": 1, "format": "canal-json", "options": {"content-compatible": true}}'
    )
    assert main(["compare", source, source]) == 0
    assert "updates that change nothing" in capsys.readouterr().out
    assert main(["compare", source, source, "--option", "content-compatible=false"]) == 0
    assert "updates that change nothing" not in capsys.readouterr().out


def test_position_of_the_messages_counts_whatever_an_option_says(
    compare: Compare, tmp_path: Path
) -> None:
    feeds = [
        write(tmp_path / str(n), "canal-json", [insert(LOGS, n, 1, "x", 1)], **extended)
        for n, extended in enumerate([{"enable_tidb_extension": True}] * 2)
    ]
    code, text, _ = compare(*feeds, "--option", "enable-tidb-extension=false")
    assert code == 1
    assert "paired by commit_ts and id" in text


STAFF = table("staff", ("name", TextType()), ("made_at", DatetimeType(6)))
PEOPLE = table("staff", ("full_name", TextType()), ("made_at", DatetimeType(6)))


@pytest.mark.parametrize("mode", ["events", "final"])
@pytest.mark.parametrize("mapped", ["name=full_name", "shop.staff.name=full_name"])
def test_column_is_compared_with_one_of_another_name(
    compare: Compare, tmp_path: Path, mapped: str, mode: str
) -> None:
    def events(of: Table, last: str) -> list[Event]:
        rows = (1, "Ada", "2024-01-01 00:00:00"), (1, last, "2024-01-02 00:00:00")
        return [insert(of, 1, *rows[0]), update(of, 2, *rows)]

    left = write(tmp_path / "a", "debezium-json", events(STAFF, "Bea"))
    right = write(tmp_path / "b", "debezium-json", events(PEOPLE, "Bea"))
    other = write(tmp_path / "c", "debezium-json", events(PEOPLE, "Cy"))
    code, text, _ = compare(left, right, "--mode", mode)
    assert code == 1
    assert "hint: a column with two names is compared with --map-column name=full_name" in text
    options = ("--mode", mode, "--map-column", mapped)
    code, text, _ = compare(left, right, *options)
    assert code == 0
    assert "note: debezium-json: column full_name is name" in text
    code, _, found = compare(left, other, *options)
    assert code == 1
    (difference,) = found["tables"][0]["differences"]
    (column,) = [each for each in difference["columns"] if each["image"] == "after"]
    assert (column["column"], column["left"]["value"], column["right"]["value"]) == (
        "name",
        "Bea",
        "Cy",
    )


@pytest.mark.parametrize(
    ("mapped", "said"),
    [
        ("name", "is not LEFT=RIGHT"),
        ("nick=full_name", "no table has the columns nick=full_name"),
        ("name=made_at", "a column name too"),
    ],
)
def test_column_that_can_not_be_mapped_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mapped: str, said: str
) -> None:
    row = (1, "Ada", "2024-01-01 00:00:00")
    feeds = [
        write(tmp_path / str(n), "debezium-json", [insert(of, 1, *row)])
        for n, of in enumerate((STAFF, STAFF if mapped == "name=made_at" else PEOPLE))
    ]
    assert main(["compare", *feeds, "--map-column", mapped]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["canal-json:file:DIR/craft", "craft:file:DIR/craft"], "looks like craft, not canal-json"),
        (["craft:file:DIR/mixed", "craft:file:DIR/craft"], "messages of craft and debezium-json"),
        (
            ["csv:file:DIR/csv", "craft:file:DIR/craft"],
            "looks like csv with --option include-commit-ts=true --option output-old-value=true",
        ),
        (
            ["craft:file:DIR/craft", "craft:file:DIR/kcat"],
            "kcat/a.jsonl:1: byte 0: unsupported version 123, 1 is known",
        ),
        (
            ["craft:file:DIR/craft", "craft:file:DIR/craft", "--ddl", "DIR/wrong.sql"],
            "column note: the definition (--ddl or --tables) has int32, the feed has json",
        ),
        (["craft:file:DIR/craft", "craft:file:DIR/craft", "--as-text", "x"], "--as-text: no table"),
    ],
    ids=["format", "mixed", "options", "line", "definition", "column"],
)
def test_error_names_the_mistake(
    arguments: list[str], said: str, bad_feeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *(word.replace("DIR", str(bad_feeds)) for word in arguments)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.fixture(scope="module")
def bad_feeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    write(folder / "craft", "craft", [insert(JSON_NOTES, 10, 1, "{}")])
    write(folder / "mixed", "craft", [insert(JSON_NOTES, 10, 1, "{}")])
    others = [insert(JSON_NOTES, 10, number, "{}") for number in range(9)]
    write(folder / "others", "debezium-json", others)
    (folder / "others" / "messages.jsonl").rename(folder / "mixed" / "others.jsonl")
    options = ["--option", "include-commit-ts=true", "--option", "output-old-value=true"]
    assert main(["generate", "csv", "--rows", "20", "--to", str(folder / "csv"), *options]) == 0
    (folder / "csv" / ".feed.json").unlink()  # so that the prefix does not name its options
    (folder / "kcat").mkdir()
    (folder / "kcat" / "a.jsonl").write_text('{"topic": "orders", "payload": "abc"}\n')
    (folder / "wrong.sql").write_text("CREATE TABLE shop.docs (id int primary key, note int);")
    return folder
