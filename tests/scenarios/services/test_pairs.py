"""One stream in all ten formats, through real topics and buckets, equal on Spark.

Differences are then planted on one side, and each has to be reported with its place. The stream has
``CDCWIRE_PAIR_ROWS`` changes; the default is 2,000. Needs the extra ``spark``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import pytest

from cdcwire_evidence.scenarios.everywhere import Feeds, Made, Where
from cdcwire_evidence.scenarios.ledger import Counts, recorded
from cdcwire_evidence.scenarios.sample_table import (
    TABLE,
    Planted,
    PlantedName,
    plant,
    sample_changes,
)
from cdcwire_evidence.scenarios.services import Kafka, ObjectStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdcwire_conformance.compare.result import Comparison, RowDifference
    from cdcwire_conformance.compare.result import RowPlace as ShownPlace

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = int(os.environ.get("CDCWIRE_PAIR_ROWS", "2000"))
ALL_PLANTED: tuple[PlantedName, ...] = (
    "changed",
    "lost",
    "doubled",
    "sent again",
    "out of order",
    "absent",
    "minus zero",
    "scale",
)

UPDATES_IN_HALVES = ("datahub-tuple", "datahub-blob")

Named: TypeAlias = "tuple[str, int, str | None, Where | None, Where | None]"


@pytest.fixture(scope="module")
def feeds(
    kafka: Kafka,
    store: ObjectStore,
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Feeds]:
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in store.environment.items():
            patch.setenv(variable, value)
        changes = sample_changes(ROWS)
        wanted = frozenset(each.row for each in plant(changes, ALL_PLANTED).planted)
        yield Feeds(kafka, store, tmp_path_factory.mktemp("pairs"), spark, changes, wanted)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two feeds, and what a comparison of them has to leave out, as it is known here.

    ``defined``: the comparison gets the definition of the table, as one side says too little of its
    columns. ``planted``: what is planted on the right, and named. ``unseen``: what is planted, and
    is no difference between these two.
    """

    left: str
    right: str
    paired_by: str = "commit_ts"
    left_out: frozenset[str] = frozenset()
    defined: bool = False
    planted: tuple[PlantedName, ...] = ()
    unseen: tuple[PlantedName, ...] = ()

    def __str__(self) -> str:
        return f"{self.left} against {self.right}"


_AVRO = frozenset(
    {
        "before images of updates",
        "columns of deletes beyond the key",
        "Kafka keys",
        "DDL events",
    }
)
_STORED: tuple[PlantedName, ...] = ("changed", "lost", "doubled", "minus zero")
_SENT: tuple[PlantedName, ...] = (*_STORED, "sent again", "out of order")
_SEEN: tuple[PlantedName, ...] = (*_SENT, "absent")
PAIRS = (
    Pair("craft", "craft-proposal", planted=ALL_PLANTED),
    Pair("craft", "open-protocol", planted=ALL_PLANTED),
    Pair("open-protocol in parquet", "craft in lines"),
    # CSV has a field for each column and its files say the scale; what is sent again is no part of
    # the replay.
    Pair("craft", "csv in bucket", planted=_STORED, unseen=("sent again", "scale")),
    Pair(
        "craft",
        "canal-json",
        left_out=frozenset({"commit_ms", "partition"}),
        planted=ALL_PLANTED,
    ),
    Pair("csv in bucket", "canal-json in bucket", left_out=frozenset({"commit_ms"})),
    # A column is absent from a schema of Avro, and no row alone can lack it.
    Pair(
        "canal-json",
        "avro",
        left_out=_AVRO | {"commit_ts and commit_ms of deletes"},
        planted=_SENT,
        unseen=("scale",),
    ),
    Pair(
        "open-protocol",
        "avro",
        left_out=_AVRO | {"commit_ms", "partition", "commit_ts of deletes"},
    ),
    Pair(
        "datahub-tuple",
        "datahub-blob",
        "sequence_id",
        planted=(*_SEEN, "scale"),
    ),
    Pair(
        "cdl-json",
        "debezium-json",
        "lsn",
        frozenset({"columns of deletes beyond the key", "Kafka keys"}),
        planted=_SEEN,
        unseen=("scale",),
    ),
    # Pairs without a position in common.
    Pair(
        "craft",
        "cdl-json",
        "ordinal",
        frozenset({"commit_ts", "lsn", "tx_id", "commit_ms", "partition"}),
        defined=True,
    ),
    Pair(
        "open-protocol",
        "datahub-blob",
        "ordinal",
        frozenset({"commit_ts", "sequence_id", "commit_ms", "partition"}),
        defined=True,
    ),
    Pair(
        "csv in bucket",
        "datahub-tuple",
        "ordinal",
        frozenset({"commit_ts", "sequence_id", "commit_ms", "partition"}),
        defined=True,
    ),
    Pair(
        "canal-json",
        "debezium-json",
        "ordinal",
        frozenset({"commit_ts", "lsn", "columns of deletes beyond the key", "tx_id", "Kafka keys"}),
        defined=True,
    ),
)


def compared(feeds: Feeds, pair: Pair, planted: tuple[PlantedName, ...] = ()) -> Comparison:
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.compare.rules import CompareOptions
    from cdcwire_conformance.spark import parse_source
    from cdcwire_conformance.spark.compare.engine import compare_feeds

    made = feeds.get(pair.left), feeds.get(pair.right, planted)
    left, right = (ComparedFeed(parse_source(each.source), each.context) for each in made)
    options = CompareOptions(definitions=(TABLE,) if pair.defined else ())
    return compare_feeds(feeds.spark, left, right, options)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_one_stream_in_two_formats_is_equal(feeds: Feeds, pair: Pair) -> None:
    with recorded(
        f"pair/{pair.left}-{pair.right}".replace(" ", "-"),
        f"{pair}: one stream, equal",
        "One stream of changes lies in both formats, in topics of three partitions, in buckets or "
        "in files. Spark finds them equal, and leaves out what one of them is known to lack.",
    ) as result:
        found = compared(feeds, pair)
        (table,) = found.tables
        assert table.counts is not None
        counts = table.counts
        result.counts = Counts(
            sent=counts.left_rows,
            received=counts.right_rows,
            repeated=counts.repeated_right,
            lost=counts.only_left,
            invented=counts.only_right,
            out_of_order=0,
        )
        result.figures = {"changes": counts.left_rows, "compared in seconds": round(found.seconds)}
        assert found.is_equal
        assert result.counts.is_exact
        assert counts.left_rows == counts.right_rows == ROWS
        assert table.paired_by == (pair.paired_by, "id")
        assert {name for name, _ in found.left_out} == pair.left_out
        assert (table.left_out, table.schema_differences) == ((), ())


@pytest.mark.parametrize("pair", [each for each in PAIRS if each.planted], ids=str)
def test_planted_differences_are_named_with_their_places(feeds: Feeds, pair: Pair) -> None:
    with recorded(
        f"planted/{pair.left}-{pair.right}".replace(" ", "-"),
        f"{pair}: planted differences",
        "In the right feed changes were planted: a space at the end of a text, a change that is "
        "lost, one that is there twice, -0.0 for 0.0; where the format can say it a column that "
        "is absent in place of NULL, and a decimal with another scale. Each is named with its row "
        "and its places in both feeds, and nothing else is.",
    ) as result:
        names = pair.planted + pair.unseen
        found = compared(feeds, pair, names)
        left, right = feeds.get(pair.left), feeds.get(pair.right, names)
        planted = plant(feeds.changes, names).planted
        wanted = {named_as(each, left, right) for each in planted if each.name in pair.planted}
        (table,) = found.tables
        named: set[Named] = {
            (
                each.verdict,
                int(dict(each.key)["id"].text or ""),
                each.columns[0].column if is_changed(each) else None,
                where(each.left_place),
                where(each.right_place),
            )
            for each in table.differences
        }
        result.figures = {"planted": len(planted), "named": len(named)}
        assert named == wanted
        assert all(len(each.columns) == 1 for each in table.differences if is_changed(each))
        assert table.counts is not None
        assert table.counts.differing == len(wanted)


def named_as(planted: Planted, left: Made, right: Made) -> Named:
    """Return how a comparison has to name what was planted on the right."""
    verdict, row = _VERDICTS.get(planted.name, "changed"), planted.row
    if verdict == "out of order":  # the side where it is, and the change that comes too late
        is_of_halves = right.source.partition(":")[0] in UPDATES_IN_HALVES
        return verdict, row, None, None, right.rows[row][-2 if is_of_halves else -1]
    place = right.rows[row][0] if planted.name != "lost" else None
    return verdict, row, planted.column, left.rows[row][0], place


_VERDICTS = {
    "lost": "only left",
    "doubled": "doubled",
    "sent again": "repeated",
    "out of order": "out of order",
}


def is_changed(difference: RowDifference) -> bool:
    return difference.verdict == "changed"


def where(place: ShownPlace | None) -> Where | None:
    """Return a place in the form of the list of planted differences."""
    if place is None:
        return None
    if place.topic is not None:
        assert place.offset is not None
        return f"{place.topic}[{place.partition}]", place.offset
    assert place.file is not None
    assert place.line is not None
    return place.file, place.line


@pytest.mark.parametrize(
    "name",
    [
        *("craft", "craft-proposal", "open-protocol", "csv in bucket", "canal-json", "avro"),
        *("datahub-tuple", "datahub-blob", "cdl-json", "debezium-json"),
    ],
)
def test_dataframe_has_every_change(feeds: Feeds, name: str) -> None:
    """What is counted by Spark's own means is what was generated."""
    from cdcwire_conformance.spark import decode_frame, describe_feed, open_source, parse_source

    made = feeds.get(name)
    opened = open_source(feeds.spark, parse_source(made.source), made.context)
    (described,) = describe_feed(feeds.spark, opened, context=made.context)
    frame = decode_frame(feeds.spark, opened, described.table, context=made.context)
    found = {
        (row.op, row.half): row["count"] for row in frame.groupBy("op", "half").count().collect()
    }
    ops = Counter(change.op for change in feeds.changes)
    updates: dict[tuple[str, str | None], int] = (
        {("update", "before"): ops["update"], ("update", "after"): ops["update"]}
        if name in UPDATES_IN_HALVES
        else {("update", None): ops["update"]}
    )
    assert found == {("insert", None): ops["insert"], ("delete", None): ops["delete"], **updates}
    assert ops.total() == ROWS
