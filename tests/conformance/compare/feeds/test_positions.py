"""The position and the database by which rows pair: what all rows of both feeds have.

The messages are written by hand, with the members that Debezium's connectors have.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

Run: TypeAlias = "tuple[int, str, dict[str, Any]]"
Compare: TypeAlias = "Callable[..., Run]"
Row: TypeAlias = "dict[str, Any]"

_ID = {"type": "int32", "optional": False, "field": "id"}
_ROW = [_ID, {"type": "string", "optional": True, "field": "v"}]


def _source_fields(source: Row) -> list[Row]:
    kinds = {str: "string", int: "int64"}
    return [
        {"type": kinds.get(type(value), "int64"), "optional": True, "field": name}
        for name, value in source.items()
    ]


def change(op: str, id: int, v: str | None = None, old: str | None = None, **source: Any) -> str:
    """Return a line with a message of a change. ``source``: the members that matter."""
    known = {"version": "3.2.0.Final", "connector": "postgresql", "name": "s", "ts_ms": 1000}
    known |= {"db": "d", "schema": "shop", "table": "t"} | source
    row = {"type": "struct", "fields": _ROW, "optional": True}
    fields = [
        {**row, "field": "before"},
        {**row, "field": "after"},
        {"type": "struct", "fields": _source_fields(known), "optional": False, "field": "source"},
        {"type": "string", "optional": False, "field": "op"},
        {"type": "int64", "optional": True, "field": "ts_ms"},
    ]
    before = {"id": id, "v": v if op == "d" else old} if op in "ud" else None
    payload = {
        "before": before,
        "after": None if op == "d" else {"id": id, "v": v},
        "source": known,
        "op": op,
        "ts_ms": 2000,
    }
    schema = {"type": "struct", "fields": fields, "optional": False, "name": "s.shop.t.Envelope"}
    key = {"type": "struct", "fields": [_ID], "optional": False, "name": "s.shop.t.Key"}
    parts = {
        "key": {"schema": key, "payload": {"id": id}},
        "value": {"schema": schema, "payload": payload},
    }
    texts = {name: json.dumps(part).encode() for name, part in parts.items()}
    return json.dumps({name: b64encode(text).decode() for name, text in texts.items()})


def feed(folder: Path, lines: Iterable[str]) -> str:
    """Write a feed of lines. Returns: its URL."""
    folder.mkdir()
    (folder / "messages.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return f"debezium-json:file:{folder}"


def reasons(document: dict[str, Any]) -> dict[str, str]:
    """Return what was not compared, with the reasons."""
    return {each["name"]: each["reason"] for each in document["left_out"]}


@pytest.fixture
def both(compare: Compare, tmp_path: Path) -> Callable[..., Run]:
    """Compare two lists of lines on both engines."""

    def run(left: Iterable[str], right: Iterable[str], *options: str) -> Run:
        urls = (feed(tmp_path / "left", left), feed(tmp_path / "right", right))
        return compare(*urls, *options)

    return run


def test_order_of_changes_counts_where_no_row_has_a_position(both: Callable[..., Run]) -> None:
    first = change("u", 1, "b", "a", lsn=None)
    second = change("u", 1, "c", "a", lsn=None)
    code, text, document = both([first, second], [second, first])
    assert code == 1
    assert "paired by id and the order of its changes" in text
    (names,) = (name for name in reasons(document) if name.startswith("lsn"))
    assert reasons(document)[names] == "no row of either feed has it"
    assert document["tables"][0]["counts"]["changed"] == 2


def test_position_that_one_row_lacks_is_not_used(both: Callable[..., Run]) -> None:
    lines = [change("c", 1, "a", lsn=5), change("u", 1, "b", "a", lsn=None)]
    lines += [change("u", 1, "c", "b", lsn=None)]
    code, _, document = both(lines, [lines[0], lines[2], lines[1]])
    assert code == 1
    assert reasons(document)["lsn"] == "2 of 3 rows of the left feed lack it"


def test_position_of_one_feed_only_is_named(both: Callable[..., Run]) -> None:
    with_lsn = [change("c", 1, "a", lsn=5), change("c", 2, "a", lsn=6)]
    without = [change("c", 1, "a", lsn=None), change("c", 2, "a", lsn=None)]
    code, text, document = both(with_lsn, without)
    assert (code, reasons(document)["lsn"]) == (0, "no row of the right feed has it")
    assert "paired by id and the order of its changes" in text


def test_position_that_is_the_same_in_all_rows_orders_nothing(both: Callable[..., Run]) -> None:
    first, second = change("u", 1, "b", "a", lsn=7), change("u", 1, "c", "a", lsn=7)
    code, _, document = both([first, second], [second, first])
    assert code == 1
    assert reasons(document)["lsn"] == "it is the same in all rows of the left feed"


def test_last_rows_without_a_position_are_the_last_of_the_feed(both: Callable[..., Run]) -> None:
    insert, delete = change("c", 1, "a", lsn=None), change("d", 1, "a", lsn=None)
    code, text, _ = both([insert, delete], [insert], "--mode", "final")
    assert code == 1
    assert "1 only right" in text


def test_window_needs_a_position_in_all_rows(both: Callable[..., Run]) -> None:
    lines = [change("c", 1, "a", lsn=5), change("u", 1, "b", "a", lsn=None)]
    code, text, _ = both(lines, lines, "--from", "1")
    assert code == 2
    assert "lsn: 1 of 2 rows of the left feed lack it" in text


def test_field_that_a_feed_never_has_is_not_compared(both: Callable[..., Run]) -> None:
    with_id = [change("c", n, "a", lsn=n, txId=100 + n) for n in (1, 2)]
    without = [change("c", n, "a", lsn=n, txId=None) for n in (1, 2)]
    code, text, document = both(with_id, without)
    assert (code, reasons(document)["tx_id"]) == (0, "no row of the right feed has it")
    assert "tx_id" not in text.split("\ncompared: ")[1].splitlines()[0]


def test_field_that_rows_of_a_snapshot_lack_is_not_compared_with_inserts(
    both: Callable[..., Run],
) -> None:
    without = [change("r", n, "a", lsn=n, txId=None) for n in (1, 2)]
    with_id = [change("c", n, "a", lsn=n, txId=100 + n) for n in (1, 2)]
    code, _, document = both(without, with_id)
    assert (code, reasons(document)["tx_id"]) == (0, "no row of the left feed has it")


def test_field_that_some_rows_have_is_compared(both: Callable[..., Run]) -> None:
    with_id = [change("c", n, "a", lsn=n, txId=100 + n) for n in (1, 2)]
    some = [with_id[0], change("c", 2, "a", lsn=2, txId=None)]
    code, _, document = both(with_id, some)
    assert code == 1
    assert document["tables"][0]["counts"]["changed"] == 1


def read(id: int, v: str, lsn: int, **more: Any) -> str:
    """Return a row of a snapshot, with the position and time of the snapshot."""
    return change("r", id, v, lsn=lsn, snapshot="true", txId=lsn, **{"ts_ms": lsn, **more})


def test_snapshots_of_other_positions_are_equal_if_their_rows_are(both: Callable[..., Run]) -> None:
    left = [read(1, "a", 10), read(2, "b", 10), change("u", 1, "c", "a", lsn=30, txId=3)]
    right = [read(2, "b", 20), read(1, "a", 20), change("u", 1, "c", "a", lsn=30, txId=3)]
    code, text, _ = both(left, right)
    assert code == 0
    assert "paired by lsn and id" in text


def test_snapshot_that_lacks_a_row_differs_in_this_row_only(both: Callable[..., Run]) -> None:
    left = [read(1, "a", 10), read(2, "b", 10), change("u", 1, "c", "a", lsn=30, txId=3)]
    code, _, document = both(left, left[1:])
    assert code == 1
    counts = document["tables"][0]["counts"]
    assert (counts["same"], counts["only_left"], counts["changed"]) == (2, 1, 0)


def test_row_of_a_snapshot_is_shown_without_a_position(both: Callable[..., Run]) -> None:
    lines = [read(1, "a", 7), change("u", 1, "b", "a", lsn=8)]
    code, out, document = both([*lines, read(2, "x", 7)], [*lines, read(2, "y", 7)])
    assert code == 1, out
    assert "changed: insert id=2, a row of a snapshot\n" in out
    assert document["tables"][0]["differences"][0]["position"] == {"lsn": None}


def test_feeds_without_a_common_table_have_no_rows_of_snapshots(both: Callable[..., Run]) -> None:
    code, out, document = both(
        [change("c", 1, "a", lsn=1)], [change("c", 1, "a", lsn=1, table="u")]
    )
    assert code == 1, out
    assert "lsn" not in reasons(document)
    assert "snapshot" not in out


def test_second_snapshot_counts_by_its_place_in_the_feed(both: Callable[..., Run]) -> None:
    first, second = read(1, "a", 10), read(1, "b", 20)
    code, _, document = both([first, second], [second, first])
    assert (code, document["tables"][0]["counts"]["changed"]) == (1, 2)


def test_last_row_is_that_of_a_later_snapshot(both: Callable[..., Run]) -> None:
    change_of = change("u", 1, "b", "a", lsn=30, txId=3)
    again = read(1, "z", 10)  # of a snapshot that was taken again, with a smaller position
    code, _, document = both([change_of, again], [again, change_of], "--mode", "final")
    assert (code, document["tables"][0]["counts"]["changed"]) == (1, 1)


def test_tables_of_two_databases_are_two_tables(both: Callable[..., Run]) -> None:
    left, right = ([change("c", 1, "a", lsn=1, db=name)] for name in ("crm1", "crm2"))
    code, text, document = both(left, right)
    assert code == 1
    assert document["differences"] == [
        "table crm1.shop.t: only on the left",
        "table crm2.shop.t: only on the right",
    ]
    assert "shop.t: equal" not in text


def test_tables_of_two_databases_of_one_feed_are_not_mixed(both: Callable[..., Run]) -> None:
    left = [change("c", 1, "a", lsn=1, db="crm1"), change("c", 1, "b", lsn=1, db="crm2")]
    swapped = [change("c", 1, "b", lsn=1, db="crm1"), change("c", 1, "a", lsn=1, db="crm2")]
    code, _, document = both(left, swapped)
    assert code == 1
    names = [table["table"] for table in document["tables"]]
    assert names == ["crm1.shop.t", "crm2.shop.t"]
    assert [table["counts"]["changed"] for table in document["tables"]] == [1, 1]


def test_two_databases_equal_themselves(both: Callable[..., Run]) -> None:
    lines = [change("c", 1, "a", lsn=1, db="crm1"), change("c", 1, "b", lsn=1, db="crm2")]
    code, text, _ = both(lines, lines)
    assert code == 0
    assert "EQUAL: 2 changes of 2 tables" in text


def test_one_database_is_not_part_of_names(both: Callable[..., Run]) -> None:
    lines = [change("c", 1, "a", lsn=1, db="crm1")]
    code, text, document = both(lines, lines)
    assert (code, document["tables"][0]["table"]) == (0, "shop.t")
    assert "databases" not in text


@pytest.mark.parametrize(
    "mapped", ["crm1.*=crm2.*", "crm1.shop.t=crm2.shop.t", "shop.t=shop.t"], ids=str
)
def test_databases_meet_where_the_user_says_so(both: Callable[..., Run], mapped: str) -> None:
    left, right = ([change("c", 1, "a", lsn=1, db=name)] for name in ("crm1", "crm2"))
    code, text, _ = both(left, right, "--map-table", mapped)
    assert code == 0
    assert "EQUAL: 1 change of 1 table" in text


def test_databases_of_one_feed_only_are_not_compared(both: Callable[..., Run]) -> None:
    left = [change("c", 1, "a", lsn=1, db="crm1")]
    right = [change("c", 1, "a", lsn=1, db="")]
    code, _, document = both(left, right)
    assert code == 0
    assert reasons(document)["databases"] == "the right feed has none; in the left feed: crm1"


@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_options_name_a_table_with_its_database(both: Callable[..., Run], option: str) -> None:
    lines = [change("c", 1, "a", lsn=1, db="crm1"), change("c", 1, "b", lsn=1, db="crm2")]
    code, text, document = both(lines, lines, option, "crm2.shop.t")
    wanted = "crm2.shop.t" if option == "--include" else "crm1.shop.t"
    assert code == 0
    assert [table["table"] for table in document["tables"]] == [wanted]
    assert "no feed has rows of" not in text


def mysql(op: str, id: int, v: str, pos: int, **source: Any) -> str:
    """Return a change of MySQL, from its binlog."""
    place = {"file": "mysql-bin.000009", "pos": pos, "row": 0, "server_id": 1, "gtid": None}
    known = {"connector": "mysql", "db": "shop", "snapshot": "false", **place, **source}
    return change(op, id, v, schema=None, **known)


def test_lost_change_shifts_no_other_one_in_a_binlog(both: Callable[..., Run]) -> None:
    lines = [mysql("c", 1, "a", 900), mysql("u", 1, "b", 1000), mysql("u", 1, "c", 1100)]
    code, text, document = both(lines, [lines[0], lines[2]])
    counts = document["tables"][0]["counts"]
    assert (code, counts["same"], counts["only_left"], counts["changed"]) == (1, 2, 1, 0)
    assert "paired by binlog and id" in text
    assert "binlog 9:1000:0" in text


def test_rows_of_a_snapshot_have_no_server(both: Callable[..., Run]) -> None:
    """Debezium writes 0 for the server of a snapshot's rows, which pair without a position."""
    snapshot = mysql("r", 1, "a", 900, server_id=0, snapshot="true")
    lines = [snapshot, mysql("u", 1, "b", 1000), mysql("u", 1, "c", 1100)]
    code, text, document = both(lines, [lines[0], lines[2]])
    counts = document["tables"][0]["counts"]
    assert (code, counts["only_left"], counts["changed"]) == (1, 1, 0)
    assert "paired by binlog and id" in text


def test_binlogs_of_two_servers_are_not_one_order(both: Callable[..., Run]) -> None:
    lines = [mysql("c", 1, "a", 900), mysql("u", 1, "b", 1000, server_id=2)]
    code, text, document = both(lines, lines)
    assert code == 0
    assert "has more than one" in reasons(document)["binlog"]
    assert "paired by id and the order of its changes" in text


UUID = "24da167d-0c0c-11e8-8442-00059a3c7b00"


def transaction(op: str, v: str, number: int) -> str:
    """Return a change whose only place is that of its transaction."""
    return mysql(op, 1, v, 4, gtid=f"{UUID}:{number}", server_id=1, file=None)


def test_changes_of_a_transaction_pair_in_their_order(both: Callable[..., Run]) -> None:
    first, second, third = (
        transaction(*each) for each in (("c", "a", 4), ("u", "b", 5), ("u", "c", 5))
    )
    code, text, document = both([first, second, third], [first, third, second])
    assert "paired by gtid and id" in text
    assert (code, document["tables"][0]["counts"]["changed"]) == (1, 2)


def test_last_change_of_a_transaction_is_the_last_of_the_feed(both: Callable[..., Run]) -> None:
    first, second, third = (
        transaction(*each) for each in (("c", "a", 4), ("u", "b", 5), ("d", "b", 5))
    )
    code, text, _ = both([first, second, third], [first, second], "--mode", "final")
    assert code == 1
    assert "1 only right" in text
