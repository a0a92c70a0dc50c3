"""Feeds that both engines compare: saved cases, keys, and generated pairs are the same on Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cdcwire_conformance.cli import main
from cdcwire_conformance.decode.workers import HERE

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds as compare_here
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.feeds import compare_feeds, compare_tables
from cdcwire_conformance.compare.result import Comparison, Counts, TableComparison
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.spark.compare import small_tables
from cdcwire_conformance.spark.compare.engine import SparkEngine
from cdcwire_conformance.spark.session import readable_errors
from cdcwire_evidence.planting.judging import judged
from cdcwire_evidence.planting.pairs import chance_of, has_rows, other_values, pairs
from cdcwire_evidence.planting.plants import KINDS, plants
from cdcwire_generators.workloads import workload

pytestmark = pytest.mark.usefixtures("spark")


@pytest.mark.long
@pytest.mark.parametrize("format_name", ["craft", "csv"])
def test_differing_rows_become_the_same_cases_on_both_engines(
    format_name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(small_tables, "SMALL_TABLE_ROWS", -1)
    sides = []
    for seed in ("7", "8"):
        folder = str(tmp_path / seed)
        assert main(["generate", format_name, "--rows", "9", "--seed", seed, "--to", folder]) == 0
        sides.append(f"auto:file:{folder}")
    found = []
    for engine in ("spark", "embedded"):
        root = tmp_path / engine
        saving = ["--save-case", str(root), "--pair-by", "key", "--engine", engine]
        assert main(["compare", *sides, *saving]) == 1
        assert "is not saved" not in capsys.readouterr().out
        files = [each for each in root.rglob("*") if each.is_file()]
        found.append({each.relative_to(root): each.read_bytes() for each in files})
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize("is_left", [True, False], ids=["left", "right"])
def test_key_that_one_side_tells_is_compared(spark: Any, tmp_path: Path, is_left: bool) -> None:
    events = workload("orders-10", 4, 5, inserts_only=True)
    messages = get_format("craft").from_events(events, context=Context())
    (tmp_path / "a").mkdir()
    write_messages(str(tmp_path / "a" / "messages.jsonl"), messages)
    source = f"craft:file:{tmp_path / 'a'}"
    feed = ComparedFeed(parse_source(source)).open(DEFAULT_OPTIONS, HERE)
    feed, tables = feed.described(DEFAULT_OPTIONS, workers=HERE)
    strangers = {
        name: replace(
            table, key=None, columns=tuple(replace(c, roles=frozenset()) for c in table.columns)
        )
        for name, table in tables.items()
    }
    options = CompareOptions(columns=frozenset({"note"}))
    sides = (tables, strangers) if is_left else (strangers, tables)
    (found,) = compare_tables(SparkEngine(spark), feed, feed, *sides, options).tables
    assert found.paired_by == ("commit_ts", "id")
    assert found.counts == Counts(4, 4, 4, 4, 4)


# Each example takes Spark several seconds.
FEW = settings(max_examples=max(2, settings().max_examples // 5))
PAIRS = (("craft", "debezium-json"), ("csv", "canal-json"))


@pytest.mark.parametrize("formats", PAIRS, ids=["=".join(pair) for pair in PAIRS])
@FEW
@given(data=st.data())
def test_generated_pairs_have_one_answer_on_both_engines(
    spark: Any, formats: tuple[str, str], data: st.DataObject
) -> None:
    """The queries of a table give what the embedded engine gives, with a difference and without."""
    pair = data.draw(pairs(*formats))
    assume(has_rows(pair.events))
    chance = chance_of(data.draw(st.integers(0, 2**32)))
    kind = data.draw(st.sampled_from(KINDS))
    plant = next(plants(kind, pair.events, chance, other_values(data.draw, pair)), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_tables, "SMALL_TABLE_ROWS", -1)
        judged(pair, plant, compare_on_both(SparkEngine(spark)))


def compare_on_both(
    engine: SparkEngine,
) -> Callable[[ComparedFeed, ComparedFeed, CompareOptions], Comparison]:
    """Return what compares on both engines, and checks that the answers are the same."""

    def compared(left: ComparedFeed, right: ComparedFeed, options: CompareOptions) -> Comparison:
        try:
            found = compare_here(left, right, options)
        except ValueError:
            with pytest.raises(ValueError), readable_errors():  # noqa: PT011  # which one may differ
                compare_feeds(engine, left, right, options)
            raise
        with readable_errors():
            on_spark = compare_feeds(engine, left, right, options)
        assert answer_of(on_spark) == answer_of(found)
        return found

    return compared


def answer_of(found: Comparison) -> Comparison:
    """Return a result without what engines may do differently: the order of equal ranks."""
    tables = tuple(map(_in_order, found.tables))
    return replace(found, tables=tables, engine="", is_exact=False, seconds=0.0, record=None)


def _in_order(table: TableComparison) -> TableComparison:
    return replace(
        table,
        differences=tuple(sorted(table.differences, key=repr)),
        patterns=tuple(sorted((replace(each, examples=()) for each in table.patterns), key=repr)),
    )
