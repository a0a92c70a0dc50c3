"""Every cell of the tables of what a format carries is proved: made, encoded, decoded, compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from cdcwire.errors import EncodeError
from cdcwire.format import Format
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.carries import EVENT_FIELDS, KINDS
from cdcwire.model.events import (
    Column,
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
    Value,
)
from cdcwire.model.kinds import TimestampType, kind_text
from cdcwire.model.text import event_to_json
from cdcwire_generators.carried import Options, carried_kind
from cdcwire_generators.domain import Domain
from cdcwire_generators.passage import predicted, sent_through, texts_of
from cdcwire_generators.positions import POSITION_FIELDS
from cdcwire_generators.strategies import change_streams, columns_of_kind, values_of_kind

Cell: TypeAlias = "tuple[Column, Value]"

CELLS = [(name, kind) for name in FORMAT_NAMES for kind in KINDS]
FIELDS = [(name, field) for name in FORMAT_NAMES for field in EVENT_FIELDS]


def insert(column: Column, value: Value) -> RowChange:
    table = Table("t", "test", key=())
    return RowChange(table, "insert", None, Image((column,), (value,)), Position(commit_ts=1))


def cells(kind: str) -> st.SearchStrategy[Cell]:
    return columns_of_kind(kind, name="c").flatmap(
        lambda column: values_of_kind(kind, column).map(lambda value: (column, value))
    )


def is_plain(column: Column) -> bool:
    """Return whether the type has no parameter that the MySQL family does not tell."""
    return "(" not in kind_text(column.type)


def after_of(event: Event) -> Image:
    assert isinstance(event, RowChange)
    assert event.after is not None
    return event.after


def assert_comes_back_as(kind: str, cell: Cell, through: Format, options: Options) -> None:
    """Send a value and see that it is as predicted, and of the kind that the verdict names."""
    event = insert(*cell)
    found = sent_through([event], through, options)
    assert texts_of(found) == texts_of(predicted([event], through, options))
    image = after_of(found[0])
    assert carried_kind(image.columns[0].type, image.values[0]) == kind


@pytest.mark.parametrize(("name", "kind"), CELLS, ids=[f"{n}-{k}" for n, k in CELLS])
@given(data=st.data())
def test_kind_comes_through_as_its_verdict_says(name: str, kind: str, data: st.DataObject) -> None:
    through = get_format(name)
    verdict = through.carries.kinds[kind]
    column, value = cell = data.draw(cells(kind))
    match verdict.verdict:
        case "exact":
            assert_comes_back_as(kind, cell, through, {})
            if is_plain(column):
                assert texts_of(sent_through([insert(*cell)], through)) == texts_of([insert(*cell)])
        case "as":
            assert_comes_back_as(verdict.detail, cell, through, {})
        case "lossy":
            found = sent_through([insert(*cell)], through)
            assert texts_of(found) == texts_of(predicted([insert(*cell)], through))
        case "option":
            with pytest.raises(EncodeError):
                sent_through([insert(*cell)], through)
            assert isinstance(column.type, TimestampType)
            zone = column.type.zone
            assert zone is not None
            assert_comes_back_as(kind, cell, through, {verdict.detail: zone})
            found = sent_through([insert(*cell)], through, {verdict.detail: zone})
            assert after_of(found[0]).values == (value,)
        case "no":
            with pytest.raises(EncodeError) as caught:
                sent_through([insert(*cell)], through)
            assert caught.value.path[:2] == ("events", 0)


LOSSY = [(n, k) for n, k in CELLS if get_format(n).carries.kinds[k].verdict == "lossy"]


@pytest.mark.parametrize(("name", "kind"), LOSSY, ids=[f"{n}-{k}" for n, k in LOSSY])
def test_lossy_kind_really_loses_something(name: str, kind: str) -> None:
    through = get_format(name)

    def is_changed(cell: Cell) -> bool:
        (found,) = sent_through([insert(*cell)], through)
        return after_of(found).values != (cell[1],)

    find(cells(kind), is_changed)


def _of_row(get: Callable[[RowChange], Hashable]) -> Callable[[Event], Hashable]:
    return lambda event: get(event) if isinstance(event, RowChange) else None


def _before(op: str) -> Callable[[Event], Hashable]:
    return _of_row(
        lambda row: (
            repr(sorted(event_to_json(row)["before"].items()))
            if row.op == op and row.before is not None
            else None
        )
    )


def _position(name: str) -> Callable[[Event], Hashable]:
    return _of_row(lambda row: getattr(row.position, name))


def _types(row: RowChange) -> Hashable:
    image = row.after or row.before
    assert image is not None
    return tuple(sorted((c.name, kind_text(c.type), c.source or "") for c in image.columns))


# What an event field is, taken out of an event.
GET: dict[str, Callable[[Event], Hashable]] = {
    "op": _of_row(lambda row: row.op),
    "before of update": _before("update"),
    "before of delete": _before("delete"),
    "key": _of_row(lambda row: tuple(sorted(row.table.key or ()))),
    "types": _of_row(_types),
    "schema change": lambda event: (
        (event.what, event.code, event.query, event.table)
        if isinstance(event, SchemaChange)
        else None
    ),
    "progress": lambda event: (
        (event.what, event.position.commit_ts) if isinstance(event, Progress) else None
    ),
    "markers": lambda event: (event.what, event.id) if isinstance(event, Marker) else None,
    **{name: _position(name) for name in EVENT_FIELDS if name in POSITION_FIELDS},
}


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{n}-{f}" for n, f in FIELDS])
@given(data=st.data())
def test_event_field_comes_through_as_its_verdict_says(
    name: str, field: str, data: st.DataObject
) -> None:
    through = get_format(name)
    verdict = through.carries.fields[field]
    filled = Domain(position_fields=tuple(f for f in POSITION_FIELDS if f != "tx_order"))
    events = list(data.draw(change_streams(domain=filled)).events)
    if field == "markers":
        events.append(Marker("begin", "1", Position(commit_ts=1)))
    expected = [GET[field](event) for event in events]
    match verdict.verdict:
        case "exact":
            assert [GET[field](e) for e in sent_through(events, through)] == expected
        case "option":
            told: Options = {verdict.detail: True}
            assert [GET[field](e) for e in sent_through(events, through, told)] == expected
            silent: Options = {verdict.detail: False}
            assert {GET[field](e) for e in sent_through(events, through, silent)} <= {None}
        case "no" if field == "markers":
            with pytest.raises(EncodeError):
                sent_through(events, through)
        case "no":
            assert {GET[field](e) for e in sent_through(events, through)} <= {None}
        case _:
            raise AssertionError(f"no proof is known for {verdict}")
