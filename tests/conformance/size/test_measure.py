"""What is counted, on what rows, and that equal seeds give equal figures."""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import replace
from functools import partial

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.model.carries import as_form
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, EnumType, IntType, TextType, UnknownType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.size import (
    Input,
    SizeError,
    SizeResults,
    claims,
    document,
    measure,
    named_input,
    named_inputs,
    table_input,
)
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

FEW = {"batches": (1, 4), "compression_names": ("zlib",)}
MESSAGE_FORMATS = ("craft", "craft-proposal", "open-protocol")
ID = Column("id", IntType(64), "bigint", nullable=False, roles=frozenset({"primary", "handle"}))


def rows_of(column: Column, *values: object) -> tuple[RowChange, ...]:
    table = Table("t", "s", key=("id",))
    return tuple(
        RowChange(table, "insert", None, Image((ID, column), (number, value)), Position(number))
        for number, value in enumerate(values, start=1)
    )


def test_sizes_are_those_of_keys_and_values_compressed_message_by_message() -> None:
    results = measure(
        named_inputs(("orders-10",), rows=40, seed=5), compression_names=("zlib", "gzip")
    )
    for name in MESSAGE_FORMATS:
        context = Context(options={"max-batch-size": 16})
        messages = get_format(name).from_events(workload("orders-10", 40, 5), context=context)
        raw = [
            (message.key or b"") + (message.value or b"")
            for message in messages
            if isinstance(message, KafkaMessage)
        ]
        cell = results.workloads[0].cell(name, 16)
        assert cell is not None
        assert (cell.messages, cell.rows) == (len(raw), 40) == (3, 40)
        assert cell.sizes == sizes_of(raw)


def sizes_of(raw: list[bytes]) -> dict[str, int]:
    return {
        "none": sum(map(len, raw)),
        "zlib": sum(len(zlib.compress(each, 6)) for each in raw),
        "gzip": sum(len(gzip.compress(each, 6, mtime=0)) for each in raw),
    }


@pytest.mark.parametrize("batch", [1, 16])
def test_csv_batch_is_a_file_of_one_table(batch: int) -> None:
    results = measure(
        named_inputs(("many-tables",), rows=60, seed=5),
        formats=("csv",),
        batches=(batch,),
        compression_names=("zlib", "gzip"),
    )
    rows = list(workload("many-tables", 60, 5))
    groups: dict[object, list[Event]] = {}
    for row in rows:
        assert isinstance(row, RowChange)
        group = (row.table.schema, row.table.name, row.position.partition)
        groups.setdefault(group, []).append(row)
    raw = [
        message.value
        for group in groups.values()
        for start in range(0, len(group), batch)
        for message in get_format("csv").from_events(
            group[start : start + batch], context=Context()
        )
        if isinstance(message, StoredFile)
    ]
    cell = results.workloads[0].cell("csv", batch)
    assert cell is not None
    assert (cell.messages, cell.rows) == (len(raw), 60)
    assert cell.sizes == sizes_of(raw)


def test_canal_json_has_a_message_a_row_with_every_batch() -> None:
    results = measure(named_inputs(("orders-10",), rows=40), formats=("canal-json",), **FEW)  # type: ignore[arg-type]  # the same for all
    one, four = results.workloads[0].cells
    assert one.messages == four.messages == 40
    assert one.sizes == four.sizes


@pytest.mark.skipif("avro" not in FORMAT_NAMES, reason="avro is not registered")
def test_schemas_of_avro_are_not_counted() -> None:
    results = measure(named_inputs(("orders-10",), rows=40), formats=("avro",), **FEW)  # type: ignore[arg-type]  # the same for all
    one, four = results.workloads[0].cells
    assert one.messages == four.messages == 40
    messages = get_format("avro").from_events(workload("orders-10", 40, 1), context=NO_CONTEXT)
    rows = [message for message in messages if isinstance(message, KafkaMessage)]
    raw = [(message.key or b"") + (message.value or b"") for message in rows]
    assert one.sizes == four.sizes
    assert one.sizes["none"] == sum(map(len, raw))


@pytest.mark.parametrize("batch", [1, 16])
def test_tuple_body_has_rows_of_one_table(batch: int) -> None:
    """Its rows are as many as of other formats, though an update has two records."""
    results = measure(
        named_inputs(("many-tables",), rows=60, seed=5),
        formats=("datahub-tuple",),
        batches=(batch,),
        compression_names=("zlib", "gzip"),
    )
    fields = ("commit_ts", "sequence_id", "commit_ms")
    groups: dict[tuple[str | None, str | None], list[Event]] = {}
    for row in workload("many-tables", 60, 5, position_fields=fields):
        assert isinstance(row, RowChange)
        groups.setdefault((row.table.schema, row.table.name), []).append(row)
    known = {(table.schema, table.name): table for table in workload_tables("many-tables")}
    raw = [
        message.value or b""
        for name, group in groups.items()
        for start in range(0, len(group), batch)
        for message in get_format("datahub-tuple").from_events(
            group[start : start + batch], context=Context({"max-batch-size": 99}, (known[name],))
        )
    ]
    (cell,) = results.workloads[0].cells
    assert (cell.messages, cell.rows) == (len(raw), 60)
    assert cell.sizes == sizes_of(raw)


def test_blob_record_is_a_row_or_one_record_of_an_update() -> None:
    results = measure(named_inputs(("updates",), rows=40), formats=("datahub-blob",), **FEW)  # type: ignore[arg-type]  # the same for all
    one, four = results.workloads[0].cells
    updates = [row for row in workload("updates", 40, 1) if getattr(row, "op", "") == "update"]
    assert one.sizes == four.sizes
    assert one.messages == four.messages == 40 + len(updates) > 40


def test_format_that_carries_no_row_is_left_out() -> None:
    """Some formats have labels where others have numbers, and these values have no label."""
    state = Column("state", EnumType(), "enum", nullable=True)
    (measured,) = measure([partial(Input, "own", "rows", rows_of(state, 1, 2))], **FEW).workloads  # type: ignore[arg-type]  # the same for all
    assert measured.rows == 2
    label = as_form("enum by label")
    by_label = [
        name for name in FORMAT_NAMES if get_format(name).carries.kinds["enum by index"] == label
    ]
    assert [(each.format, each.rows) for each in measured.refused] == [(n, 2) for n in by_label]
    assert {cell.format for cell in measured.cells} == set(FORMAT_NAMES) - set(by_label)


def test_every_workload_is_measured_in_every_format() -> None:
    results = measure(named_inputs(rows=20), batches=(4,), compression_names=())
    assert tuple(each.name for each in results.workloads) == WORKLOAD_NAMES
    for each in results.workloads:
        assert [cell.format for cell in each.cells] == list(FORMAT_NAMES)
        # Some have microseconds, which CDL lacks.
        assert {found.format for found in each.refused} <= {"cdl-json"}


def test_every_compression_makes_these_rows_smaller() -> None:
    pytest.importorskip("cramjam", reason="the extra [size] is not installed")
    results = measure(named_inputs(("mostly-null",), rows=64), batches=(64,))
    # A row of Avro has some 70 bytes here: a frame around it takes more than it spares.
    large = [
        cell for cell in results.workloads[0].cells if cell.sizes["none"] > 150 * cell.messages
    ]
    assert {cell.format for cell in large} == set(FORMAT_NAMES) - {"avro"}
    for cell in large:
        assert all(size < cell.sizes["none"] for name, size in cell.sizes.items() if name != "none")


@pytest.mark.long
def test_equal_seeds_give_equal_figures_also_in_several_processes(
    small_results: SizeResults,
) -> None:
    again = measure(
        named_inputs(("tiny", "orders-10"), rows=96, seed=3),
        batches=(16, 1, 16),
        compression_names=("none", "zlib", "gzip"),
        seed=3,
        jobs=2,
    )
    assert document(again) == document(small_results)


def test_another_seed_gives_other_figures() -> None:
    first, second = (
        measure(named_inputs(("tiny",), rows=96, seed=seed), **FEW).workloads  # type: ignore[arg-type]  # the same for all
        for seed in (1, 2)
    )
    assert first != second


def test_wide_rows_are_taken_in_smaller_numbers() -> None:
    numbers = {name: len(named_input(name, 20_480, 1).rows) for name in ("tiny", "large-values")}
    assert numbers == {"tiny": 20_480, "large-values": 64}
    assert len(named_input("large-values", 7, 1).rows) == 7


def test_virtual_columns_are_not_measured() -> None:
    virtual = Column(
        "twice", IntType(64), "bigint", roles=frozenset({"generated", "virtual"}), nullable=True
    )
    table = Table("t", "s", columns=(ID, virtual), key=("id",))
    assert {row.after.names for row in table_input(table, 9, 1).rows if row.after} == {("id",)}


def test_rows_that_a_format_refuses_are_left_out_for_all() -> None:
    name = Column("n", TextType(), "char(9)", nullable=True)
    # All but CSV and Avro need something of the position of a row.
    rows = rows_of(name, "a", "b", "c")
    broken = replace(rows[1], position=Position())
    results = measure([partial(Input, "own", "rows", (rows[0], broken, rows[2]))], **FEW)  # type: ignore[arg-type]  # the same for all
    (measured,) = results.workloads
    assert measured.rows == 2
    assert [(each.format, each.rows) for each in measured.refused] == [
        (name, 1) for name in FORMAT_NAMES if name not in ("csv", "avro")
    ]
    assert all(".position" in each.reason for each in measured.refused)
    assert {cell.rows for cell in measured.cells} == {2}


def test_rows_that_no_format_carries_are_an_error() -> None:
    rows = tuple(replace(row, op="upsert") for row in rows_of(ID, 1))
    with pytest.raises(SizeError, match="own: no row is carried by every format: "):
        measure([partial(Input, "own", "rows", rows)], **FEW)  # type: ignore[arg-type]  # the same for all


def test_table_without_columns_in_messages_is_an_error() -> None:
    virtual = Column("v", UnknownType(), roles=frozenset({"generated", "virtual"}))
    with pytest.raises(SizeError, match=r"table s\.t: messages have none of its columns"):
        table_input(Table("t", "s", columns=(virtual,)), 1, 1)


def end_at_once() -> Input:
    os._exit(3)


def test_process_that_ends_too_soon_is_an_error() -> None:
    with pytest.raises(SizeError, match="a process ended too soon; --jobs 1"):
        measure([end_at_once, end_at_once], jobs=2, **FEW)  # type: ignore[arg-type]  # the same for all


def test_options_go_to_the_formats_that_have_them() -> None:
    plain, fewer = (
        measure(
            named_inputs(("updates",), rows=64),
            batches=(16,),
            compression_names=(),
            options=options,
        ).workloads[0]
        for options in ({}, {"only-output-updated-columns": "true"})
    )
    smaller = [
        before.format
        for before, after in zip(plain.cells, fewer.cells, strict=True)
        if after.sizes["none"] < before.sizes["none"]
    ]
    assert smaller == ["canal-json", "open-protocol"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"batches": ()}, "a batch size is a number from 1"),
        ({"batches": (0,)}, "a batch size is a number from 1"),
        ({"formats": ("morse",)}, "unknown format 'morse'"),
        ({"compression_names": ("rar",)}, "'rar' is not known"),
        ({"options": {"colour": "red"}}, "'colour' is not an option"),
        ({"options": {"output-old-value": "maybe"}}, "true or false"),
        ({"options": {"max-batch-size": "1"}}, "the batch sizes"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        measure(named_inputs(("tiny",), rows=1), **arguments)  # type: ignore[arg-type]  # wrong


def test_claim_holds_where_raw_craft_is_no_larger_than_json_with_zlib(
    small_results: SizeResults,
) -> None:
    found = {(claim.workload, claim.batch, claim.format): claim for claim in claims(small_results)}
    assert len(found) == 8
    for (name, batch, format_name), claim in found.items():
        (measured,) = (each for each in small_results.workloads if each.name == name)
        raw, json_cell = measured.cell(format_name, batch), measured.cell("open-protocol", batch)
        assert raw is not None
        assert json_cell is not None
        assert claim.holds == (raw.sizes["none"] <= json_cell.sizes["zlib"])
        assert claim.holds == ("zlib" in claim.smaller_than)
    assert found["tiny", 1, "craft"].holds
    assert not found["orders-10", 16, "craft"].holds


def test_claim_needs_both_sides() -> None:
    without_json = measure(
        named_inputs(("tiny",), rows=4), formats=("craft",), compression_names=("zlib",)
    )
    without_zlib = measure(named_inputs(("tiny",), rows=4), compression_names=("gzip",))
    assert not list(claims(without_json))
    assert not list(claims(without_zlib))
