"""Changes by hand, compared by the embedded engine, and on Spark where that is asked for.

Each is compared by digests, the rows of one key at a time too, and by all columns. They have to
give the same. ``compare_tables`` is for what has many cases in one pair of frames: Spark compares
them where the long tests run too. It compares what ``compare_frames`` does in the nightly run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import pyarrow as pa

    from cdcwire.arrow.schema import CanonicalTable
    from cdcwire_conformance.compare.result import TableComparison
    from cdcwire_conformance.compare.rules import ComparisonRules

    Frame = list[pa.RecordBatch]


@pytest.fixture(scope="session")
def frame_of(changes_of_table: Callable[..., pa.Table]) -> Callable[..., Frame]:
    """Make batches of the rows that ``changes_of_table`` makes."""

    def make(table: CanonicalTable, changes: Iterable[Mapping[str, Any]]) -> Frame:
        batches: Frame = changes_of_table(table, changes).to_batches()
        return batches

    return make


@pytest.fixture
def compare_frames(
    engines: tuple[str, ...], request: pytest.FixtureRequest
) -> Callable[..., TableComparison]:
    return _comparing(request, "spark" in engines)


@pytest.fixture(scope="module")
def compare_tables(
    on_spark: bool, request: pytest.FixtureRequest
) -> Callable[..., TableComparison]:
    return _comparing(request, on_spark)


def _comparing(request: pytest.FixtureRequest, on_spark: bool) -> Callable[..., TableComparison]:
    """Return what compares two frames. Spark has to give the same, by fingerprints and exactly."""
    from cdcwire_conformance.compare.embedded.tables import ComparedTable
    from cdcwire_conformance.compare.narrow import equal
    from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules

    def compare(
        left: Frame,
        right: Frame,
        table: CanonicalTable,
        rules: ComparisonRules = ComparisonRules(),  # noqa: B008
        **others: Any,
    ) -> TableComparison:
        options = CompareOptions(**others)
        image = left[0].schema.field("after").type
        found = ComparedTable(table, image, rules, options).compared(left, right)
        exact = replace(options, exact=True)
        assert found == ComparedTable(table, image, rules, exact).compared(left, right)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(equal, "ROWS_TOGETHER", 1)
            assert found == ComparedTable(table, image, rules, options).compared(left, right)
        if on_spark:
            import pyarrow as pa

            from cdcwire_conformance.spark.compare.frames import compare_frames

            spark = request.getfixturevalue("spark")
            ours, theirs = (
                spark.createDataFrame(pa.Table.from_batches(each)) for each in (left, right)
            )
            for each in (options, exact):
                again = compare_frames(ours, theirs, table, rules, each)
                assert _in_order(replace(again, left_out=())) == _in_order(found)
        return found

    return compare


def _in_order(found: TableComparison) -> TableComparison:
    return replace(
        found,
        differences=tuple(sorted(found.differences, key=repr)),
        patterns=tuple(sorted((replace(p, examples=()) for p in found.patterns), key=repr)),
    )
