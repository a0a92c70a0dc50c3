"""Every cell of the tables of what a format carries is proved: made, encoded, decoded, compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import replace
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
from cdcwire.model.steps import join_halves, split_key_changes
from cdcwire.model.text import event_to_json
from cdcwire_generators.carried import NotCarriedError, Options, carried_kind
from cdcwire_generators.carried_rows import is_stored
from cdcwire_generators.domain import domain_of, fullest_options, source_domain_of
from cdcwire_generators.passage import (
    gathered,
    plain_image,
    plain_kind,
    plainly,
    predicted,
    sent_through,
    texts_of,
)
from cdcwire_generators.positions import POSITION_FIELDS
from cdcwire_generators.strategies import (
    ChangeStream,
    change_streams,
    columns_of_kind,
    values_of_kind,
)

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


def is_carried(cell: Cell, through: Format) -> bool:
    """Return whether a value has a form in the format, as far as its column is declared."""
    try:
        return bool(predicted([insert(*cell)], through))
    except NotCarriedError:
        return False


def after_of(event: Event) -> Image:
    assert isinstance(event, RowChange)
    assert event.after is not None
    return event.after


def assert_comes_back_as(kind: str, cell: Cell, through: Format, options: Options) -> None:
    """Send a value and see that it is as predicted, and of the kind that the verdict names.

    A value that has no form there is refused: a number without a label, a time that is too long.
    """
    event = insert(*cell)
    try:
        predicted([event], through, options)
    except NotCarriedError:
        with pytest.raises(EncodeError):
            sent_through([event], through, options)
        return
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
            if is_plain(column) and is_carried(cell, through):
                options = fullest_options(through)
                found = plainly(sent_through([insert(*cell)], through, options), ("commit_ts",))
                assert texts_of(found) == texts_of(plainly([insert(*cell)], ("commit_ts",)))
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
            repr(
                sorted(
                    event_to_json(replace(row, before=plain_image(row.before)))["before"].items()
                )
            )
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


AS_LABELS = [(n, k) for n, k in CELLS if get_format(n).carries.kinds[k].verdict == "as"]


@pytest.mark.parametrize(("name", "kind"), AS_LABELS, ids=[f"{n}-{k}" for n, k in AS_LABELS])
def test_kind_that_comes_back_as_another_really_does(name: str, kind: str) -> None:
    """Not all values of such a kind are refused."""
    through = get_format(name)
    cell = find(cells(kind), lambda cell: is_carried(cell, through))
    assert_comes_back_as(through.carries.kinds[kind].detail, cell, through, {})


def _plain_types(row: RowChange) -> Hashable:
    """Return names, kinds and names of types, without what stands in parentheses."""
    image = row.after or row.before
    assert image is not None
    return tuple(
        sorted(
            (c.name, kind_text(plain_kind(c.type)), re.sub(r"\(.*\)", "", c.source or ""))
            for c in image.columns
        )
    )


def _without_code(event: Event) -> Hashable:
    if not isinstance(event, SchemaChange):
        return None
    return event.what, event.query, event.table


def _key_before_delete(row: RowChange) -> Hashable:
    if row.op != "delete" or row.before is None:
        return None
    image, key = plain_image(row.before), row.table.key or ()
    told = event_to_json(replace(row, before=image))["before"]
    return tuple(sorted((name, repr(value)) for name, value in told.items() if name in key))


def _wide_types(row: RowChange) -> Hashable:
    """Return names and kinds, integers as wide as INT or BIGINT; of a delete, those of its key."""
    image = row.after or row.before
    assert image is not None
    wanted = row.table.key or () if row.op == "delete" else image.names
    return tuple(
        sorted(
            (c.name, re.sub(r"^int(8|16|24)\b", "int32", kind_text(plain_kind(c.type))))
            for c in image.columns
            if c.name in wanted
        )
    )


# What is left of a field that loses something, by the text of the verdict.
LEFT: dict[str, Callable[[Event], Hashable]] = {
    "the number of the action": _without_code,
    "lengths, digits and elements": _of_row(_plain_types),
    "columns outside the handle key": _of_row(_key_before_delete),
    "widths of integers and lengths": _of_row(_wide_types),
}
NOT_OF_ROWS = ("schema change", "progress", "markers")


def is_told(event: Event, field: str, through: Format) -> bool:
    """Return whether an event says something of a field: not of where it was, in a bare key."""
    if field in NOT_OF_ROWS:
        return True
    is_bare = through.carries.fields["before of delete"].verdict == "lossy"
    is_of_delete = isinstance(event, RowChange) and event.op == "delete"
    return isinstance(event, RowChange) and not (
        field in POSITION_FIELDS and is_of_delete and is_bare
    )


def in_order_of(events: list[Event], through: Format, options: Options) -> list[Event]:
    """Return events as a format gives them: in order of files, rows with another key split."""
    if is_stored(through, options):
        return gathered(events)
    if through.carries.fields["before of update"].verdict == "no":
        return list(split_key_changes(events))
    return events


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{n}-{f}" for n, f in FIELDS])
@given(data=st.data())
def test_event_field_comes_through_as_its_verdict_says(
    name: str, field: str, data: st.DataObject
) -> None:
    through = get_format(name)
    verdict = through.carries.fields[field]
    domain = domain_of(through, is_plausible=True)  # no value in another form than it has
    if through.carries.fields["progress"].verdict == "option" and field != "progress":
        domain = replace(domain, progress=None)  # it is refused under the default options
    if through.carries.fields["partition"].verdict == "no":
        domain = replace(domain, position_fields=without(POSITION_FIELDS, "tx_order", "partition"))
    else:
        domain = replace(domain, position_fields=without(POSITION_FIELDS, "tx_order"))
    if verdict.detail == "columns outside the handle key":
        domain = replace(domain, kinds=domain_of(through).kinds)
    stream = data.draw(change_streams(domain=domain))
    events = list(stream.events)
    if field == "markers":
        events.append(Marker("begin", "1", Position(commit_ts=1)))
    get = LEFT[verdict.detail] if verdict.verdict == "lossy" else GET[field]

    def told(events: list[Event]) -> list[Hashable]:
        return [get(event) for event in events if is_told(event, field, through)]

    def found(options: Options) -> list[Hashable]:
        sent = sent_through(events, through, options, tables=stream.tables)
        return told(list(map(_with_names_only, join_halves(sent))))

    expected = told(in_order_of(events, through, {}))
    match verdict.verdict:
        case "exact":
            assert found({}) == expected
        case "option":
            options = fullest_options(through)
            assert found(options) == expected
            silent: Options = {**options, verdict.detail: False}
            has_progress = any(isinstance(event, Progress) for event in events)
            if field == "progress" and has_progress and name not in LEAVES_OUT:
                with pytest.raises(EncodeError):
                    found(silent)
            else:
                # Of an operation that is not told, a delete is known all the same.
                known = {"delete", "upsert"} if field == "op" else set()
                assert set(found(silent)) <= {None} | known
        case "lossy":
            assert found({}) == expected
        case "no" if field == "markers":
            with pytest.raises(EncodeError):
                found({})
        case "no":
            assert set(found({})) <= {None}
        case _:
            raise AssertionError(f"no proof is known for {verdict}")


# Formats in which what has no message under some options is left out, as by the producer.
LEAVES_OUT = ("avro",)


def _with_names_only(event: Event) -> Event:
    """Return a schema change that names its table; a schema file tells its columns as well."""
    if not isinstance(event, SchemaChange) or event.table is None:
        return event
    return replace(event, table=Table(event.table.name, event.table.schema))


def without(names: tuple[str, ...], *left_out: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in left_out)


LOSSY_FIELDS = [(n, f) for n, f in FIELDS if get_format(n).carries.fields[f].verdict == "lossy"]


@pytest.mark.parametrize(("name", "field"), LOSSY_FIELDS, ids=[f"{n}-{f}" for n, f in LOSSY_FIELDS])
def test_lossy_event_field_really_loses_something(name: str, field: str) -> None:
    through = get_format(name)
    domain = replace(source_domain_of(through), progress=None)

    def is_changed(stream: ChangeStream) -> bool:
        found = sent_through(stream.events, through)
        return list(map(GET[field], found)) != list(map(GET[field], stream.events))

    find(change_streams(domain=domain), is_changed)
