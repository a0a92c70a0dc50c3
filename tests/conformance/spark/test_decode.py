"""Feeds as DataFrames: every change and nothing lost; a poisoned message is a row or a stop."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdcwire.arrow.building import CLAUSE_COLUMNS, CLAUSE_NATIVE, CLAUSE_TEXT
from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.arrow.types import SchemaError
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.ddl import parse_ddl
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table, path_text
from cdcwire.model.kinds import (
    BytesType,
    Column,
    DateType,
    DecimalType,
    IntType,
    TextType,
    TimestampType,
    TimeType,
)
from cdcwire.registry import get_format
from cdcwire_conformance.corpus import load_case
from cdcwire_conformance.decode.reading import CLAUSE_MESSAGES
from cdcwire_conformance.sources.source_urls import source_of_folder
from cdcwire_conformance.spark import (
    FeedError,
    Source,
    SourceError,
    decode_frame,
    decode_kafka_frame,
    errors_frame,
    flat,
    good_rows,
    readable_errors,
)
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOLDEN = Path(__file__).parents[3] / "golden"
FORMATS = ("craft", "craft-proposal", "open-protocol")
KAFKA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
    ]
)

ID = Column("id", IntType(32), "int", nullable=False, roles=frozenset({"primary", "handle"}))
ORDERS = Table("t", "s", columns=(ID,), key=("id",))


def messages_of(name: str, events: Iterable[Event], **options: int | bool) -> list[KafkaMessage]:
    context = Context(options={key.replace("_", "-"): value for key, value in options.items()})
    found = list(get_format(name).from_events(events, context=context))
    return [message for message in found if isinstance(message, KafkaMessage)]


def lines_source(folder: Path, name: str, messages: Iterable[Message]) -> Source:
    folder.mkdir(exist_ok=True)
    write_messages(str(folder / "messages.jsonl"), messages)
    return source_of_folder(name, folder)


def parquet_source(
    folder: Path, name: str, messages: Sequence[KafkaMessage], columns: Sequence[str] = KAFKA.names
) -> Source:
    folder.mkdir(exist_ok=True)
    rows = [
        {"key": each.key, "value": each.value, "topic": "cdc", "partition": 3, "offset": 100 + at}
        for at, each in enumerate(messages)
    ]
    pq.write_table(pa.Table.from_pylist(rows, KAFKA).select(columns), folder / "part.parquet")
    return source_of_folder(name, folder)


WRITERS: dict[str, Callable[[Path, str, Sequence[KafkaMessage]], Source]] = {
    "jsonl": lines_source,
    "parquet": parquet_source,
}


def inserts(*rows: dict[Column, Any]) -> list[RowChange]:
    return [
        RowChange(ORDERS, "insert", None, Image(tuple(row), tuple(row.values())), Position(number))
        for number, row in enumerate(rows, 1)
    ]


def of_columns(*columns: Column) -> CanonicalTable:
    return canonical_table(replace(ORDERS, columns=columns))


def by_position(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: int(row["commit_ts"]))


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", FORMATS)
def test_frame_has_every_change_of_the_feed(
    spark: SparkSession, tmp_path: Path, name: str, kind: str
) -> None:
    (definition,) = workload_tables("orders-10")
    events = list(workload("orders-10", 120, 5, ddl=True, resolved_every=20))
    source = WRITERS[kind](tmp_path, name, messages_of(name, events, max_batch_size=7))
    found = by_position(decode_frame(spark, source, canonical_table(definition)).collect())
    changes = [event for event in events if isinstance(event, RowChange)]
    changes.sort(key=lambda change: change.position.commit_ts or 0)
    assert [row["op"] for row in found] == [change.op for change in changes]
    for row, change in zip(found, changes, strict=True):
        assert row["commit_ts"] == change.position.commit_ts
        assert (row["schema"], row["table"], row["error"]) == ("shop", "orders", None)
        for side, image in (("before", change.before), ("after", change.after)):
            assert (row[side] is None) == (image is None)
            if image is not None:
                assert int.from_bytes(row[f"{side}_has"], "little") == 2 ** len(row[side]) - 1
                for column in ("id", "trace_id", "customer", "quantity"):
                    assert row[side][column] == image[column]
    places = {row["source"] for row in found}
    if kind == "parquet":
        assert {(place["topic"], place["partition"]) for place in places} == {("cdc", 3)}
        assert min(place["offset"] for place in places) in range(100, 103)
    else:
        assert {place["file"] for place in places} == {source.files[0]}


def test_shares_of_a_feed_give_its_rows_once(spark: SparkSession, tmp_path: Path) -> None:
    (definition,) = workload_tables("tiny")
    messages = messages_of("craft", workload("tiny", 200, 5), max_batch_size=3)
    source = lines_source(tmp_path, "craft", messages)
    table = canonical_table(definition)
    whole = decode_frame(spark, source, table).select("commit_ts", "after").collect()
    cut = decode_frame(spark, source, table, share_bytes=1500)
    assert cut.rdd.getNumPartitions() > 3
    assert by_position(cut.select("commit_ts", "after").collect()) == by_position(whole)
    assert len(whole) == 200


@pytest.mark.parametrize("name", FORMATS)
def test_null_and_absent_are_distinguished(spark: SparkSession, tmp_path: Path, name: str) -> None:
    note = Column("note", TextType(), "text", nullable=True)
    events = inserts({ID: 1, note: None}, {ID: 2}, {ID: 3, note: ""})
    source = lines_source(tmp_path, name, messages_of(name, events))
    found = by_position(decode_frame(spark, source, of_columns(ID, note)).collect())
    assert [row["after"]["note"] for row in found] == [None, None, ""]
    assert [bytes(row["after_has"]) for row in found] == [b"\x03", b"\x01", b"\x03"]
    assert [row["before_has"] for row in found] == [None] * 3


def test_flink_profile_is_the_proposals_flink_table(spark: SparkSession, tmp_path: Path) -> None:
    root = GOLDEN / "craft-proposal" / "document"
    ddl = json.loads((root / "test-flink-ddl.json").read_text("utf-8"))["events"][0]["query"]
    (definition,) = parse_ddl(ddl, "test")
    cases = [
        load_case(f"craft-proposal/document/test-flink-{each}") for each in ("insert", "nulls")
    ]
    messages = [message for case in cases for message in case.messages]
    source = lines_source(tmp_path, "craft-proposal", messages)
    frame = decode_frame(spark, source, canonical_table(definition), profile="flink")
    rows = flat(frame)
    kinds = dict(rows.dtypes)
    text, binary = "string", "binary"
    assert [kinds[f"c{number}"] for number in range(1, 30)] == [
        *("tinyint", "smallint", "int", "int", "bigint"),
        *(text,) * 6,
        *(binary,) * 6,
        *("float", "double", "decimal(6,3)"),
        *("date", "time(6)", "timestamp_ntz", "timestamp_ntz"),
        *("int", "boolean", text, "int", "int"),
    ]
    full, nulls = rows.collect()
    moment = datetime(2021, 4, 6, 12, 34, 56)  # noqa: DTZ001  (as MySQL has it)
    assert [full[f"c{number}"] for number in range(1, 30)] == [
        *(1, 2, 3, 4, 5),
        *("char", "varchar", "tinytext", "mediumtext", "text", "longtext"),
        *(b"binary".ljust(20, b"\0"), b"varbinary", b"tinyblob", b"mediumblob"),
        *(b"blob", b"longblob"),
        *(1.5, 2.25, Decimal("123.456")),
        *(moment.date(), moment.time(), moment, moment),
        *(2021, True, '{"a":1,"b":[true,null,"x"]}', 2, 5),
    ]
    assert [nulls[f"c{number}"] for number in range(2, 30)] == [None] * 28


BORN = Column("born", DateType(), "date", nullable=True)
LASTS = Column("lasts", TimeType(), "time", nullable=True)
SEEN = Column("seen", TimestampType(zone="+09:00"), "timestamp", nullable=True)
TIMES = inserts(
    {ID: 1, BORN: "2020-02-29", LASTS: "-838:59:59.500", SEEN: "2020-01-01 08:59:59"},
    {ID: 2, BORN: "0000-00-00", LASTS: "00:00:00", SEEN: None},
)


@pytest.fixture
def times(tmp_path: Path) -> tuple[Source, CanonicalTable, Context]:
    """Rows with dates and times, and the feed's option that tells their zone."""
    options = {"time-zone": "+09:00"}
    found = get_format("craft").from_events(TIMES, context=Context(options=options))
    messages = [message for message in found if isinstance(message, KafkaMessage)]
    table = of_columns(ID, BORN, LASTS, SEEN)
    return lines_source(tmp_path, "craft", messages), table, Context(options=options)


def test_dates_and_times_are_texts_in_which_nothing_is_lost(
    spark: SparkSession, times: tuple[Source, CanonicalTable, Context]
) -> None:
    source, table, context = times
    rows = flat(decode_frame(spark, source, table, context=context)).orderBy("id").collect()
    assert [row["born"] for row in rows] == ["2020-02-29", "0000-00-00"]
    assert [row["lasts"] for row in rows] == ["-838:59:59.5", "00:00:00"]
    assert [row["seen"] for row in rows] == ["2019-12-31 23:59:59", None]


def test_native_dates_and_times_are_exact_or_refused(
    spark: SparkSession, times: tuple[Source, CanonicalTable, Context]
) -> None:
    source, table, context = times
    frame = decode_frame(spark, source, table, "row", context=context, temporal="native")
    kinds = dict(flat(frame).dtypes)
    assert [kinds[name] for name in ("born", "lasts", "seen")] == [
        *("date", "interval day to second", "timestamp")
    ]
    (row,) = flat(frame).collect()
    assert row["born"] == date(2020, 2, 29)
    assert row["lasts"] == -timedelta(hours=838, minutes=59, seconds=59, milliseconds=500)
    assert good_rows(frame).where("after.seen = TIMESTAMP '2019-12-31 23:59:59Z'").count() == 1
    (error,) = frame.where("error IS NOT NULL").collect()
    assert (error["op"], error["table"], error["commit_ts"]) == ("insert", "t", 2)
    assert (error["error"]["path"], error["error"]["clause"]) == ("after.born", CLAUSE_NATIVE)
    assert "'0000-00-00' has no exact date32" in error["error"]["problem"]


@pytest.fixture(params=FORMATS)
def poisoned(request: pytest.FixtureRequest) -> tuple[str, list[KafkaMessage], DecodeError, int]:
    """A feed whose third message is cut, what its decoder says of it, rows of the others."""
    name = request.param
    messages = messages_of(name, workload("orders-10", 40, 5), max_batch_size=4)
    bad = KafkaMessage(messages[2].key, (messages[2].value or b"")[:-5])
    lost = list(get_format(name).to_events(messages[2], context=Context()))
    messages[2] = bad
    with pytest.raises(DecodeError) as caught:
        list(get_format(name).to_events(bad, context=Context()))
    return name, messages, caught.value, 40 - len(lost)


@pytest.mark.parametrize("kind", WRITERS)
def test_poisoned_message_is_a_row_or_a_stop(
    spark: SparkSession,
    tmp_path: Path,
    poisoned: tuple[str, list[KafkaMessage], DecodeError, int],
    kind: str,
) -> None:
    name, messages, error, others = poisoned
    table = canonical_table(workload_tables("orders-10")[0])
    source = WRITERS[kind](tmp_path, name, messages)
    frame = decode_frame(spark, source, table, on_error="row")
    assert good_rows(frame).count() == others
    (row,) = errors_frame(frame).collect()
    found = row.asDict()
    assert found["file"].endswith(source.files[0])
    assert (found["byte"], found["clause"]) == (error.offset, error.clause)
    assert (found["path"], found["problem"]) == (path_text(error.path), error.problem)
    if kind == "parquet":
        assert (found["topic"], found["partition"], found["offset"]) == ("cdc", 3, 102)
        assert found["line"] is None
        where = "cdc[3]@102"
    else:
        lines = Path(source.files[0]).read_bytes().splitlines(keepends=True)
        assert (found["line"], found["offset"]) == (3, len(lines[0]) + len(lines[1]))
        where = f"{source.files[0]}:3"
    with pytest.raises(FeedError) as caught, readable_errors():
        decode_frame(spark, source, table).count()
    inside = f"in {found['path']}; " if found["path"] else ""
    assert str(caught.value) == (
        f"{where}: byte {error.offset}: {error.problem} ({inside}{error.clause})"
    )


def test_line_that_is_not_a_message_is_a_row_or_a_stop(spark: SparkSession, tmp_path: Path) -> None:
    (definition,) = workload_tables("tiny")
    (message,) = messages_of("craft", workload("tiny", 5, 1), max_batch_size=16)
    good = json.dumps({"key": None, "value": base64.b64encode(message.value or b"").decode()})
    lines = [
        good.encode(),
        b'{"key": null, "value": "AQ=',
        b'{"key": null, "value": "A!QI="}',
        b"[1, 2]",
        b"\xff\xfe",
        b"[" * 200_000,
        b"",
        b'{"key": null, "value": null}',
        b'{"key": null}',  # without the member value, a line is the value itself
        good.encode(),
    ]
    (tmp_path / "m.jsonl").write_bytes(b"\n".join(lines))
    source = source_of_folder("craft", tmp_path)
    frame = decode_frame(spark, source, canonical_table(definition), on_error="row")
    errors = sorted(errors_frame(frame).collect(), key=lambda row: row["line"])
    assert [row["line"] for row in errors] == [2, 3, 4, 5, 6, 8, 9]
    clauses = [CLAUSE_MESSAGES] * 5 + ["craft: kafka message", "craft: version"]
    assert [row["clause"] for row in errors] == clauses
    assert "is not standard base64" in errors[1]["problem"]
    assert good_rows(frame).count() == 10
    with pytest.raises(FeedError) as caught, readable_errors():
        decode_frame(spark, source, canonical_table(definition)).count()
    assert str(caught.value).startswith(f"{source.files[0]}:2: the line is not JSON")
    assert "\n" not in str(caught.value)


def test_file_that_is_gone_stops_in_either_case(spark: SparkSession, tmp_path: Path) -> None:
    (definition,) = workload_tables("tiny")
    source = lines_source(tmp_path, "craft", messages_of("craft", workload("tiny", 5, 1)))
    frame = decode_frame(spark, source, canonical_table(definition), on_error="row")
    Path(source.files[0]).unlink()
    with pytest.raises(FeedError, match=r"messages\.jsonl: can't be read: "), readable_errors():
        frame.count()


@pytest.mark.parametrize("columns", [("key", "value"), ("key", "value", "offset")])
def test_parquet_may_lack_the_place_in_kafka(
    spark: SparkSession, tmp_path: Path, columns: tuple[str, ...]
) -> None:
    (definition,) = workload_tables("tiny")
    messages = [*messages_of("craft", workload("tiny", 5, 1)), KafkaMessage(None, b"\x01")]
    source = parquet_source(tmp_path, "craft", messages, columns)
    frame = decode_frame(spark, source, canonical_table(definition), on_error="row")
    (error,) = errors_frame(frame).collect()
    assert (error["topic"], error["partition"], error["line"]) == (None, None, None)
    assert error["file"].endswith("part.parquet")
    assert good_rows(frame).count() == 5


def test_parquet_without_a_value_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (definition,) = workload_tables("tiny")
    source = parquet_source(tmp_path, "craft", [], ("key", "topic"))
    with pytest.raises(SourceError, match="no column value; Kafka's key and value are binary"):
        decode_frame(spark, source, canonical_table(definition))


def test_column_that_the_table_lacks_is_an_error_or_skipped(
    spark: SparkSession, tmp_path: Path
) -> None:
    note = Column("note", TextType(), "text")
    events = inserts({ID: 1, note: "x"})
    source = lines_source(tmp_path, "craft", messages_of("craft", events))
    (error,) = errors_frame(decode_frame(spark, source, of_columns(ID), "row")).collect()
    assert (error["path"], error["clause"]) == ("after.note", CLAUSE_COLUMNS)
    frame = decode_frame(spark, source, of_columns(ID), other_columns="skip")
    assert [row["id"] for row in flat(frame).collect()] == [1]


def test_text_that_is_not_utf8_is_an_error_or_binary(spark: SparkSession, tmp_path: Path) -> None:
    note = Column("note", TextType(), "text")
    source = lines_source(
        tmp_path, "craft", messages_of("craft", inserts({ID: 1, note: "x"}, {ID: 2, note: b"\xff"}))
    )
    table = of_columns(ID, note)
    frame = decode_frame(spark, source, table, "row")
    (error,) = errors_frame(frame).collect()
    assert (error["path"], error["clause"]) == ("after.note", CLAUSE_TEXT)
    assert [row["id"] for row in flat(frame).collect()] == [1]
    binary = table.with_binary_text(["note"])
    assert binary.column("note").type == BytesType()
    rows = flat(decode_frame(spark, source, binary)).orderBy("id").collect()
    assert [bytes(row["note"]) for row in rows] == [b"x", b"\xff"]


def test_numbers_beyond_sparks_types_stay_exact(spark: SparkSession, tmp_path: Path) -> None:
    most = Column("most", IntType(64, True), "bigint unsigned")
    wide = Column("wide", DecimalType(65, 30), "decimal(65,30)")
    digits = "9" * 35 + "." + "9" * 30
    events = inserts({ID: 1, most: 2**64 - 1, wide: Decimal(digits)})
    for name in FORMATS:
        source = lines_source(tmp_path, name, messages_of(name, events))
        (row,) = flat(decode_frame(spark, source, of_columns(ID, most, wide))).collect()
        assert (row["most"], row["wide"]) == (Decimal(2**64 - 1), digits)


def test_flat_view_keeps_columns_that_are_named_like_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    own = Column("op", TextType(), "text")
    dotted = Column("a.b", IntType(8), "tinyint")
    source = lines_source(
        tmp_path, "craft", messages_of("craft", inserts({ID: 1, own: "x", dotted: 2}))
    )
    rows = flat(decode_frame(spark, source, of_columns(ID, own, dotted)))
    assert rows.columns == ["_op", "commit_ts", "sequence_id", "lsn", "id", "op", "a.b"]
    (row,) = rows.collect()
    assert (row["_op"], row["op"], row["a.b"]) == ("insert", "x", 2)


def test_profile_without_a_type_for_a_column_is_refused_at_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    price = Column("price", DecimalType(), "decimal")
    source = lines_source(tmp_path, "craft", [])
    with pytest.raises(SchemaError, match=r"^table s\.t: column price: the profile flink needs"):
        decode_frame(spark, source, of_columns(ID, price), profile="flink")


def test_unknown_option_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    (definition,) = workload_tables("tiny")
    source = lines_source(tmp_path, "craft", [])
    context = Context(options={"no-such-option": 1})
    with pytest.raises(ValueError, match="no-such-option"):
        decode_frame(spark, source, canonical_table(definition), context=context)


@pytest.mark.parametrize("is_streaming", [False, True], ids=["at rest", "streaming"])
def test_frame_of_kafka_records_is_decoded_as_a_feed_is(
    spark: SparkSession, tmp_path: Path, is_streaming: bool
) -> None:
    (definition,) = workload_tables("tiny")
    messages = messages_of("open-protocol", workload("tiny", 30, 5), max_batch_size=4)
    folder = tmp_path / "records"
    source = parquet_source(folder, "open-protocol", [*messages, KafkaMessage(b"", b"")])
    records = spark.read.parquet(str(folder))
    if is_streaming:
        records = spark.readStream.schema(records.schema).parquet(str(folder))
    frame = decode_kafka_frame(records, "open-protocol", canonical_table(definition), "row")
    if is_streaming:
        query = (
            frame.writeStream.format("memory")
            .queryName("decoded")
            .trigger(availableNow=True)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        assert query.awaitTermination(60)
        frame = spark.table("decoded")
    (error,) = errors_frame(frame).collect()
    assert (error["topic"], error["offset"], error["file"]) == ("cdc", 100 + len(messages), None)
    whole = good_rows(decode_frame(spark, source, canonical_table(definition), "row"))
    expected, found = (
        [(row["op"], row["commit_ts"], row["after"]) for row in by_position(each.collect())]
        for each in (whole, good_rows(frame))
    )
    assert found == expected
    assert len(found) == 30
