"""Features that samples need: each feature of each format has a meaning, and declining works."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.model.events import Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, DateType, IntType, TextType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.features import choices_of_sample, features_of_sample, need_of
from cdcwire_generators.samples import Sample
from cdcwire_generators.strategies import samples


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_each_feature_says_which_samples_need_it(format_name: str) -> None:
    through = get_format(format_name)
    assert [name for name in through.features if need_of(name, through) is None] == []


@given(data=st.data())
@settings(max_examples=10)
def test_samples_need_no_declined_feature(data: st.DataObject) -> None:
    through = get_format("craft")
    without = ("date", "ddl", "resolved", "partition", "delete-only-output-handle-key-columns")
    sample = data.draw(samples(through, without=without))
    assert all(isinstance(event, RowChange) for event in sample.read)
    assert all(row.position.partition is None for row in sample.rows())
    assert not any(isinstance(kind, DateType) for kind in sample.types())
    assert set(features_of_sample(sample, through)).isdisjoint(without)


@given(data=st.data())
@settings(max_examples=10)
def test_features_of_a_sample_are_those_of_its_columns_and_events(data: st.DataObject) -> None:
    through = get_format("craft")
    sample = data.draw(samples(through))
    found = features_of_sample(sample, through)
    has_text = any(isinstance(kind, TextType) for kind in sample.types())
    assert ("text" in found) == has_text
    assert ("ddl" in found) == any(isinstance(event, SchemaChange) for event in sample.read)


@pytest.mark.parametrize(
    ("connector", "options", "choices"),
    [
        ("postgresql", {}, ("debezium-delete",)),
        ("postgresql", {"replica-identity": "full"}, ()),
        ("mysql", {}, ()),
    ],
)
def test_delete_that_shows_its_whole_row_needs_the_reading_of_a_choice(
    connector: str, options: dict[str, str], choices: tuple[str, ...]
) -> None:
    columns = (Column("id", IntType(32)), Column("n", IntType(32)))
    table = Table("test", "t", key=("id",))
    row = RowChange(
        table, "delete", Image(columns, (1, 2)), None, Position(), extra={"connector": connector}
    )
    sample = Sample(options, (), (), (), (row,))
    assert choices_of_sample(sample, get_format("debezium-json")) == choices
