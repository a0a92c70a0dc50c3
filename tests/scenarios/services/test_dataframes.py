"""Rows that were written by hand, from a topic or a bucket to a DataFrame: the ends of every type.

The expected values are written here by hand: no other decoder and no comparison is asked. Needs the
extra ``spark``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from cdcwire.registry import FORMAT_NAMES
from cdcwire_evidence.scenarios.everywhere import Feeds
from cdcwire_evidence.scenarios.ledger import recorded
from cdcwire_evidence.scenarios.sample_table import (
    LARGEST,
    NULLS,
    SMALLEST,
    ZERO_DATES,
    written_by_hand,
)
from cdcwire_evidence.scenarios.services import Kafka, ObjectStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

IN_SPARK: tuple[dict[str, object], ...] = (
    {
        "id": 9223372036854775807,
        "units": Decimal("18446744073709551615"),
        "price": Decimal("9999999999.99"),
        "exact": "99999999999999999999999999999999999.999999999999999999999999999999",
        "flags": Decimal("18446744073709551615"),
        "state": "closed",
        "tags": "a,b,c",
        "note": '{"a":[null,true,"é"],"b":1}',
        "seen": "2038-01-19 03:14:07.999999",
        "made": "9999-12-31 23:59:59",
        "day": "9999-12-31",
        "raw": b"\x00\xff",
        "weight": 1.7976931348623157e308,
        "name": "Ünï 🚚",
    },
    {
        "id": -9223372036854775808,
        "units": Decimal("0"),
        "price": Decimal("-9999999999.99"),
        "exact": "-0.000000000000000000000000000001",
        "flags": Decimal("0"),
        "state": "new",
        "tags": "",
        "note": "[]",
        "seen": "1970-01-01 00:00:01",
        "made": "1000-01-01 00:00:00",
        "day": "1000-01-01",
        "raw": b"",
        "weight": 5e-324,
        "name": "",
    },
    {
        "id": -3,
        "units": None,
        "price": None,
        "exact": None,
        "flags": None,
        "state": None,
        "tags": None,
        "note": None,
        "seen": None,
        "made": None,
        "day": None,
        "raw": None,
        "weight": None,
        "name": None,
    },
    {
        "id": -6,
        "units": Decimal("4"),
        "price": Decimal("1.50"),
        "exact": "4.000000000000000000000000000000",
        "flags": Decimal("18446744073709551615"),
        "state": "closed",
        "tags": "a,c",
        "note": '{"a":[null,true,"é"],"b":1}',
        "seen": "2038-01-19 03:14:07.999999",
        "made": "0000-00-00 00:00:00",
        "day": "0000-00-00",
        "raw": b"\x00\xff",
        "weight": -0.0,
        "name": "Ünï 🚚",
    },
)
WITHOUT_ZERO_DATES = ("cdl-json", "debezium-json")  # PostgreSQL has none

Others: TypeAlias = Mapping[str, Mapping[object, object]]

# Where nothing tells the labels, ENUM and SET are numbers; where nothing tells the precision, a
# DECIMAL is the text of its digits.
AS_NUMBERS: Others = {
    "state": {"new": 1, "closed": 3},
    "tags": {"": Decimal("0"), "a,c": Decimal("5"), "a,b,c": Decimal("7")},
}
AS_SENT: Others = {
    "note": {'{"a":[null,true,"é"],"b":1}': '{"b": 1, "a": [null, true, "\\u00e9"]}'},
    "seen": {"1970-01-01 00:00:01": "1970-01-01 00:00:01.000000"},
}
# By format: columns with other values than those above, or those that are the value's text.
OTHERWISE: Mapping[str, tuple[Others, tuple[str, ...]]] = {
    "craft": (AS_NUMBERS, ("price",)),
    "craft-proposal": (AS_NUMBERS, ("price",)),
    "open-protocol": (AS_NUMBERS, ("price",)),
    "canal-json": (AS_NUMBERS, ("price",)),
    "csv": ({}, ()),
    "avro": ({}, ()),
    "datahub-tuple": (AS_SENT, ("units", "price", "flags")),
    "datahub-blob": (AS_SENT, ("units", "price", "flags")),
    "cdl-json": ({"seen": AS_SENT["seen"]}, ("units", "price")),
    "debezium-json": ({"seen": AS_SENT["seen"]}, ("units",)),
}


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_ends_of_every_type_are_in_the_dataframe(
    kafka: Kafka,
    store: ObjectStore,
    use_store: Callable[[ObjectStore], None],
    spark: SparkSession,
    tmp_path: Path,
    format_name: str,
) -> None:
    from cdcwire_conformance.spark import (
        decode_frame,
        describe_feed,
        flat,
        open_source,
        parse_source,
    )

    with recorded(
        f"dataframe/{format_name}",
        f"{format_name}: the ends of every type in a DataFrame",
        "Rows with the largest and the smallest values of their types, of NULLs and with zero "
        "dates go through a topic or a bucket. The DataFrame has the values that are written in "
        "the test, each in the type that the format tells.",
    ) as result:
        has_zero_dates = format_name not in WITHOUT_ZERO_DATES
        rows = (LARGEST, SMALLEST, NULLS, *([ZERO_DATES] if has_zero_dates else []))
        use_store(store)
        feeds = Feeds(kafka, store, tmp_path, spark, written_by_hand(*rows), frozenset())
        made = feeds.get(f"{format_name} in bucket" if format_name == "csv" else format_name)
        opened = open_source(spark, parse_source(made.source), made.context)
        (described,) = describe_feed(spark, opened, context=made.context)
        frame = flat(decode_frame(spark, opened, described.table, context=made.context))
        found = {row.id: row for row in frame.collect()}
        wanted = [in_format(format_name, row) for row in IN_SPARK[: len(rows)]]
        got = [{name: found[row["id"]][name] for name in row} for row in wanted]
        result.figures = {"rows": len(found), "values": sum(map(len, wanted))}
        assert list(map(repr, got)) == list(map(repr, wanted))  # -0.0 is not 0.0, nor 1.5 1.50
        assert len(found) == len(rows) == described.rows


def in_format(format_name: str, row: Mapping[str, object]) -> dict[str, object]:
    """Return a row as a format's own types have it."""
    others, texts = OTHERWISE[format_name]
    found = dict(row)
    for name, values in others.items():
        found[name] = values.get(row[name], row[name])
    for name in texts:
        found[name] = None if row[name] is None else str(row[name])
    return found
