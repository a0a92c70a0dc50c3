"""Decoding a selection is decoding everything and leaving out what is not wanted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Selection
from cdcwire.model.events import Event, Image, RowChange, SchemaChange
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.comparing import texts_of
from cdcwire_generators.domain import fullest_options, source_domain_of
from cdcwire_generators.messages import decoded, encoded
from cdcwire_generators.strategies import ChangeStream, change_streams


@st.composite
def selections(draw: st.DrawFn, stream: ChangeStream) -> Selection:
    """Give some of the tables and some of the columns of a stream, or all, or what is not there."""
    names = [(table.schema, table.name or "") for table in stream.tables]
    columns = [c.name for table in stream.tables for c in table.columns or ()]
    some_tables = st.frozensets(st.sampled_from([*names, ("no", "table")]))
    some_columns = st.frozensets(st.sampled_from([*columns, "no column"]))
    return Selection(
        draw(st.one_of(st.none(), some_tables)), draw(st.one_of(st.none(), some_columns))
    )


def wanted_part(event: Event, selection: Selection) -> Event | None:
    if isinstance(event, RowChange):
        assert event.table.name is not None
        if not selection.wants(event.table.schema, event.table.name):
            return None
        before, after = (_wanted_columns(image, selection) for image in (event.before, event.after))
        return replace(event, before=before, after=after)
    if isinstance(event, SchemaChange) and event.table is not None and event.table.name is not None:
        return event if selection.wants(event.table.schema, event.table.name) else None
    return event


def _wanted_columns(image: Image | None, selection: Selection) -> Image | None:
    if image is None or selection.columns is None:
        return image
    pairs = [
        (column, value)
        for column, value in zip(image.columns, image.values, strict=True)
        if column.name in selection.columns
    ]
    return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))


@pytest.mark.parametrize("name", FORMAT_NAMES)
@given(data=st.data())
def test_selection_equals_everything_filtered(name: str, data: st.DataObject) -> None:
    through = get_format(name)
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    selection = data.draw(selections(stream))
    tables = stream.tables
    options = fullest_options(through)
    messages = encoded(stream.events, through, options, tables=tables)
    everything = decoded(messages, through, options, tables=tables)
    wanted = (wanted_part(event, selection) for event in everything)
    expected = [event for event in wanted if event is not None]
    found = decoded(messages, through, options, selection=selection, tables=tables)
    assert texts_of(found) == texts_of(expected)


@given(data=st.data())
def test_selection_of_canal_json_files_equals_everything_filtered(data: st.DataObject) -> None:
    """The same rows as files, in which a table that is not wanted is skipped whole."""
    through = get_format("canal-json")
    options = {"transport": "storage"}
    domain = replace(source_domain_of(through), progress="checkpoint")
    stream = data.draw(change_streams(domain=domain))
    selection = data.draw(selections(stream))
    tables = stream.tables
    messages = encoded(stream.events, through, options, tables=tables)
    everything = decoded(messages, through, options, tables=tables)
    wanted = (wanted_part(event, selection) for event in everything)
    expected = [event for event in wanted if event is not None]
    found = decoded(messages, through, options, selection=selection, tables=tables)
    assert texts_of(found) == texts_of(expected)
