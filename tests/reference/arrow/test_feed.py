"""``Decoder.batches`` and ``to_arrow``: the changed rows of records, by table."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import cdcwire
from cdcwire import Column, Context, Decoder, StoredFile, Table, get_format
from cdcwire.arrow.building import ConversionError
from cdcwire.core.errors import DecodeError
from cdcwire.model import kinds
from cdcwire.registry import FORMAT_NAMES
from cdcwire_generators.formats import get_generators
from cdcwire_generators.workloads import workload, workload_tables

FILE = "shop/t/1/2026-01-02/CDC00000000000000000001.csv"


def record(table: str = "t", kind: str = "insert", *, old: Any = None, **data: Any) -> bytes:
    value = {"database": "shop", "table": table, "type": kind, "ts": 1, "data": data}
    return json.dumps({**value, **({} if old is None else {"old": old})}).encode()


class ClientRecord(NamedTuple):
    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes


def test_rows_of_each_table_are_one_arrow_table() -> None:
    found = cdcwire.to_arrow(
        "maxwell-json",
        [
            record("t", id=1, note="a"),
            record("u", x=2.5),
            record("t", "update", id=1, note="b", old={"note": "a"}),
            record("t", "delete", id=1, note="b"),
        ],
    )
    assert {name: table.num_rows for name, table in found.items()} == {"shop.t": 3, "shop.u": 1}
    table = found["shop.t"]
    assert table["op"].to_pylist() == ["insert", "update", "delete"]
    assert table["after"].to_pylist() == [{"id": 1, "note": "a"}, {"id": 1, "note": "b"}, None]
    assert table["before"].to_pylist() == [
        None,
        {"id": None, "note": "a"},
        {"id": 1, "note": "b"},
    ]
    assert table["before_has"].to_pylist() == [None, b"\x02", b"\x03"]
    assert table["schema"].to_pylist() == ["shop"] * 3


def test_types_hold_all_rows() -> None:
    table = cdcwire.to_arrow("maxwell-json", [record(a=1), record(a=1.5, b=None), record(b="x")])
    after = table["shop.t"]["after"]
    assert after.type == pa.struct([("a", pa.string()), ("b", pa.string())])
    assert after.to_pylist() == [
        {"a": "1", "b": None},
        {"a": "1.5", "b": None},
        {"a": None, "b": "x"},
    ]
    assert table["shop.t"]["after_has"].to_pylist() == [b"\x01", b"\x03", b"\x02"]


def test_definition_gives_the_types() -> None:
    columns = (
        Column("id", kinds.IntType(32), nullable=False),
        Column("price", kinds.DecimalType(6, 2)),
    )
    definition = Table("t", "shop", columns=columns, key=("id",))
    table = cdcwire.to_arrow("maxwell-json", [record(id=1, price=2.5)], tables=[definition])
    after = table["shop.t"]["after"]
    assert after.type == pa.struct([("id", pa.int32()), ("price", pa.decimal128(6, 2))])
    assert after.to_pylist() == [{"id": 1, "price": Decimal("2.50")}]


def test_batches_are_made_when_their_rows_are_collected() -> None:
    records = [record("t" if number % 3 else "u", id=number) for number in range(10)]
    batches = list(Decoder("maxwell-json").batches(iter(records), size=4))
    found = [(batch["table"][0].as_py(), batch.num_rows) for batch in batches]
    assert found == [("u", 2), ("t", 2), ("u", 1), ("t", 3), ("u", 1), ("t", 1)]
    ids = [row["id"] for batch in batches for row in batch["after"].to_pylist()]
    assert sorted(ids) == list(range(10))


def test_later_batches_have_the_columns_so_far() -> None:
    first, second, third = Decoder("maxwell-json").batches(
        [record(a=1), record(b="x"), record(a=2)], size=1
    )
    assert first.schema.field("after").type.names == ["a"]
    assert second.schema == third.schema
    assert third["after"].to_pylist() == [{"a": 2, "b": None}]


def test_source_has_the_place_of_a_clients_record() -> None:
    records = [ClientRecord("orders", 2, number, None, record(id=number)) for number in (7, 8)]
    [batch] = Decoder("maxwell-json").batches(records)
    empty = {"file": None, "line": None}
    assert batch["source"].to_pylist() == [
        {"topic": "orders", "partition": 2, "offset": 7, **empty},
        {"topic": "orders", "partition": 2, "offset": 8, **empty},
    ]


def test_source_has_the_file_of_stored_rows() -> None:
    columns = (Column("id", kinds.IntType(32)),)
    file = StoredFile(FILE, b'"I","t","shop",1\r\n"I","t","shop",2\r\n')
    [batch] = Decoder("csv", tables=[Table("t", "shop", columns=columns)]).batches([file])
    assert [row["file"] for row in batch["source"].to_pylist()] == [file.path] * 2


def test_bad_record_is_an_error_or_left_out() -> None:
    records = [record(id=1), b"{", record(id=2)]
    with pytest.raises(DecodeError):
        cdcwire.to_arrow("maxwell-json", records)
    kept = cdcwire.to_arrow("maxwell-json", records, on_error="skip")
    assert kept["shop.t"].num_rows == 2


def test_only_some_tables_are_wanted() -> None:
    found = cdcwire.to_arrow("maxwell-json", [record("t", a=1), record("u", a=1)], only={"shop.u"})
    assert list(found) == ["shop.u"]


def test_ill_formed_text_is_bytes() -> None:
    columns = (Column("a", kinds.TextType()),)
    file = StoredFile(FILE, b'"I","t","shop","x"\r\n"I","t","shop","\xff"\r\n')
    found = cdcwire.to_arrow("csv", [file], tables=[Table("t", "shop", columns=columns)])
    assert found["shop.t"]["after"].type.field("a").type == pa.binary()
    assert found["shop.t"]["after"].to_pylist() == [{"a": b"x"}, {"a": b"\xff"}]


def test_value_that_does_not_fit_names_its_column() -> None:
    columns = (Column("id", kinds.DecimalType(2, 0)),)
    with pytest.raises(ConversionError) as caught:
        cdcwire.to_arrow(
            "maxwell-json", [record(id=12345)], tables=[Table("t", "shop", columns=columns)]
        )
    assert caught.value.path == ("after", "id")


def test_size_is_from_1() -> None:
    with pytest.raises(ValueError, match="size is 0; it must be a number from 1"):
        list(Decoder("maxwell-json").batches([], size=0))


def test_missing_library_is_named() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None; import cdcwire; "
        "cdcwire.to_arrow('maxwell-json', [])"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 1
    problem = "to_arrow needs the package pyarrow (extra arrow): pip install "
    assert ended.stderr.splitlines()[-1].startswith(f"cdcwire.extras.MissingExtraError: {problem}")


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_batches_have_the_rows_that_the_decoder_has(name: str) -> None:
    format_, fields = get_format(name), get_generators(name).feed.position_fields
    changes = workload("orders-10", 40, 1, position_fields=("commit_ts", *fields))
    defined = workload_tables("orders-10")
    records = list(format_.encoder(Context(tables=defined))(changes))
    tables = defined if format_.needs_tables else ()
    use = format_.schemas
    files = {each: use.schema_file(each) for each in records} if use is not None else {}
    records = [each for each in records if files.get(each) is None]
    decoder = Decoder(name, tables=tables, schemas=dict(filter(None, files.values())))
    wanted = Counter((change.op, change.half) for change in decoder.rows(records))
    found: Counter[Any] = Counter()
    for batch in decoder.batches(records, size=16):
        found.update(zip(batch["op"].to_pylist(), batch["half"].to_pylist(), strict=True))
    assert found == wanted
    assert found.total() >= 40


@pytest.mark.parametrize("is_enabled", [True, False])
@pytest.mark.parametrize("last", [record(id=2), b"no message"])
def test_garbage_collector_is_as_before(is_enabled: bool, last: bytes) -> None:
    (gc.enable if is_enabled else gc.disable)()
    try:
        with suppress(DecodeError):
            cdcwire.to_arrow("maxwell-json", [record(id=1), last])
        assert gc.isenabled() is is_enabled
    finally:
        gc.enable()


def test_garbage_collector_runs_while_records_are_waited_for() -> None:
    seen = []

    def consumer() -> Iterator[bytes]:
        seen.append(gc.isenabled())
        yield record(id=1)

    cdcwire.to_arrow("maxwell-json", consumer())
    assert seen == [True]
