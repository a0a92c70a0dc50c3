"""TRUNCATE and ALTER of one feed: a difference, or named, whatever is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
T = Table("t", "s", columns=(ID,), key=("id",))
ROWS = [
    RowChange(T, "insert", None, Image((ID,), (key,)), Position(commit_ts=key)) for key in (1, 2)
]


def ddl(commit_ts: int, code: int, query: str) -> SchemaChange:
    return SchemaChange("query", query, code, Table("t", "s"), Position(commit_ts=commit_ts))


TRUNCATE = ddl(3, 11, "TRUNCATE TABLE t")


def write(
    folder: Path, events: Sequence[Event], format_name: str = "craft", **options: OptionValue
) -> str:
    folder.mkdir()
    given = {name.replace("_", "-"): value for name, value in options.items()}
    messages = get_format(format_name).from_events(list(events), context=Context(given))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


def test_truncate_of_one_feed_is_a_difference_of_its_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = write(tmp_path / "a", [*ROWS, TRUNCATE])
    code, text = run(capsys, left, write(tmp_path / "b", ROWS))
    assert code == 1
    assert "only left: s.t at commit_ts 3: TRUNCATE\n" in text
    code, text = run(capsys, left, write(tmp_path / "c", [*ROWS, TRUNCATE, TRUNCATE]))
    assert code == 0, text  # sent again, at the same position
    later = write(tmp_path / "d", [*ROWS, ddl(4, 11, "TRUNCATE TABLE t")])
    assert run(capsys, left, later)[0] == 1
    assert run(capsys, left, write(tmp_path / "e", ROWS), "--to", "3")[0] == 0


def test_truncate_that_another_format_may_not_send_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = write(tmp_path / "a", [*ROWS, TRUNCATE])
    code, text = run(capsys, left, write(tmp_path / "b", ROWS, "open-protocol"))
    assert code == 0
    assert "not compared: TRUNCATE of s.t (open-protocol has none in this feed)\n" in text
    both = write(tmp_path / "c", [*ROWS, TRUNCATE, ddl(4, 11, "TRUNCATE t")], "open-protocol")
    assert run(capsys, left, both)[0] == 1


def test_truncate_that_a_producer_does_not_send_by_its_options_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TiCDC sends DDL events as Avro only with avro-enable-watermark."""
    events: list[Event] = [*ROWS, TRUNCATE]
    left = write(
        tmp_path / "a", events, "avro", enable_tidb_extension=True, avro_enable_watermark=True
    )
    right = write(tmp_path / "b", ROWS, "avro", enable_tidb_extension=True)
    words = [f"--{side}-option=enable-tidb-extension=true" for side in ("left", "right")]
    words.append("--left-option=avro-enable-watermark=true")
    code, text = run(capsys, left, right, *words)
    assert code == 0, text
    assert "not compared: TRUNCATE of s.t (avro sends them only with option" in text
    code, _ = run(capsys, left, right, *words, "--right-option=avro-enable-watermark=true")
    assert code == 1


def test_row_event_and_ddl_of_one_truncate_are_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """MySQL's connector 2.7.4 sends both, 3.6.1 the row event only."""
    rows = [
        replace(row, position=Position(commit_ms=1_000, file="binlog.1", pos=pos, row=0))
        for pos, row in enumerate(ROWS, 100)
    ]

    def feed(name: str, *places: int, ddl: bool) -> str:
        events: list[Event] = [*rows]
        for pos in places:
            place = Position(commit_ms=1_000, file="binlog.1", pos=pos, row=0)
            events.append(SchemaChange("truncate", None, table=T, position=place))
            if ddl:
                query = "TRUNCATE TABLE `t`"
                events.append(SchemaChange("truncate", query, table=T, position=place))
        extra = {"connector": "mysql", "source_name": "srv"}
        return write(tmp_path / name, [replace(e, extra=extra) for e in events], "debezium-json")

    both, row_events = feed("a", 200, ddl=True), feed("b", 200, ddl=False)
    code, text = run(capsys, both, row_events)
    assert code == 0, text
    code, text = run(capsys, both, feed("c", 200, 300, ddl=False))
    assert code == 1
    assert "only right: s.t: TRUNCATE\n" in text


def test_truncates_without_a_place_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time alone does not say which one it is."""
    place = Position(commit_ms=1_000)
    truncate = SchemaChange("truncate", "TRUNCATE t", table=T, position=place)
    rows = [replace(row, position=place) for row in ROWS]
    left, right = (
        write(tmp_path / name, [*rows, *truncates], "canal-json")
        for name, truncates in (("a", [truncate]), ("b", [truncate, truncate]))
    )
    assert run(capsys, left, right)[0] == 1


def test_alter_of_one_feed_is_named_with_the_last_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = [ddl(3, 6, "ALTER TABLE t DROP COLUMN c"), ddl(4, 5, "ALTER TABLE t ADD COLUMN c INT")]
    left = write(tmp_path / "a", [*ROWS, *again])
    line = "  not compared: what ALTER TABLE t DROP COLUMN c ("
    code, text = run(capsys, left, write(tmp_path / "b", ROWS), "--mode", "final")
    assert code == 0
    assert line in text
    assert ") and 1 more does to rows before it (only the left feed has it)\n" in text
    code, text = run(capsys, left, write(tmp_path / "c", [*ROWS, *again]), "--mode", "final")
    assert code == 0
    assert line not in text
    before = write(tmp_path / "d", [*again, *ROWS])
    assert run(capsys, before, before, "--mode", "final")[0] == 0


def test_statement_is_not_shown_where_values_are_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = write(tmp_path / "a", [*ROWS, ddl(3, 5, "ALTER TABLE t ADD c INT DEFAULT 4711")])
    code, text = run(capsys, left, write(tmp_path / "b", ROWS), "--mode", "final", "--mask")
    assert code == 0
    assert "not compared: what ALTER (" in text
    assert "4711" not in text


def in_database(database: str, *keys: int) -> list[Event]:
    table = Table("t", "public", database, columns=(ID,), key=("id",))
    return [
        RowChange(table, "insert", None, Image((ID,), (key,)), Position(lsn=key, commit_ms=key))
        for key in keys
    ]


def truncated(database: str) -> SchemaChange:
    return SchemaChange(
        "truncate", None, None, Table("t", "public", database), Position(lsn=9, commit_ms=9)
    )


@pytest.mark.parametrize(
    "rows",
    [in_database("crm", 1, 2), [*in_database("crm", 1, 2), *in_database("erp", 3)]],
    ids=["one", "two"],
)
def test_truncate_above_whose_schema_is_a_database_empties_its_table(
    rows: list[Event], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = write(tmp_path / "a", rows, "debezium-json")
    right = write(tmp_path / "b", [*rows, truncated("crm")], "debezium-json")
    code, text = run(capsys, left, right, "--mode", "final")
    assert code == 1
    assert "2 only left" in text
    assert "3 only left" not in text


def test_truncate_in_another_database_empties_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = in_database("crm", 1, 2)
    left = write(tmp_path / "a", rows, "debezium-json")
    right = write(tmp_path / "b", [*rows, truncated("erp")], "debezium-json")
    code, text = run(capsys, left, right, "--mode", "final")
    assert code == 0, text


def test_truncate_of_an_included_table_in_a_database_is_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = in_database("crm", 1, 2)
    left = write(tmp_path / "a", rows, "debezium-json")
    right = write(tmp_path / "b", [*rows, truncated("crm")], "debezium-json")
    code, text = run(capsys, left, right, "--include", "public.t")
    assert code == 1
    assert "only right: public.t at lsn 9: TRUNCATE" in text
    _, text = run(capsys, left, right, "--include", "crm.public.t")
    assert "left out: tables other than crm.public.t (--include)\n" in text


def snapshot(folder: Path, note: str, *, dropped: str = "true") -> str:
    """Write what MySQL's connector sends: statements that its snapshot makes up, a row, a change.

    ``dropped``: ``source.snapshot`` of the DROP TABLE.
    """

    def source(kind: str, pos: int) -> str:
        return (
            f'{{"version":"3.2.0.Final","connector":"mysql","name":"s","ts_ms":1,"snapshot":"{kind}",'
            f'"db":"shop","table":"t","server_id":1,"file":"binlog.000001","pos":{pos},"row":0}}'
        )

    lines = [
        f'{{"source":{source(dropped, 4)},"ts_ms":1,"databaseName":"shop","schemaName":null,'
        '"ddl":"DROP TABLE IF EXISTS `shop`.`t`","tableChanges":[]}',
        f'{{"before":null,"after":{{"id":1,"note":"{note}"}},"source":{source("last", 4)},'
        '"op":"r","ts_ms":1}',
        f'{{"before":null,"after":{{"id":2,"note":"z"}},"source":{source("false", 9)},'
        '"op":"c","ts_ms":1}',
    ]
    folder.mkdir()
    (folder / "messages.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return f"debezium-json:file:{folder}"


def test_statements_that_a_snapshot_makes_up_empty_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id BIGINT PRIMARY KEY, note TEXT);")
    words = ["--mode", "final", "--ddl", str(ddl)]
    left, right = snapshot(tmp_path / "a", "x"), snapshot(tmp_path / "b", "y")
    code, text = run(capsys, left, right, *words)
    assert code == 1
    assert "no row before it is left" not in text
    carried_out = snapshot(tmp_path / "c", "x", dropped="false")
    assert "no row before it is left" in run(capsys, left, carried_out, *words)[1]
