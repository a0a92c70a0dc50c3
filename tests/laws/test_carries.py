"""Every cell of the tables of what a format carries is proved: made, encoded, decoded, compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeAlias

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.format import Format
from cdcwire.model.carries import EVENT_FIELDS, KINDS
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, TimestampType, Type, Value
from cdcwire.model.steps import fill_unchanged, join_halves, split_key_changes
from cdcwire.model.text import event_to_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.comparing import gathered, plain_image, plain_kind, plainly, texts_of
from cdcwire_generators.domain import domain_of, fullest_options, shared_fields, source_domain_of
from cdcwire_generators.formats.datahub_blob import blob_type
from cdcwire_generators.formats.datahub_tuple import tuple_type
from cdcwire_generators.messages import expected_feed, round_trip
from cdcwire_generators.positions import POSITION_FIELDS
from cdcwire_generators.round_trip import NotCarriedError, Options, kind_name
from cdcwire_generators.storage import is_stored
from cdcwire_generators.strategies import (
    ChangeStream,
    change_streams,
    columns_of_kind,
    row_changes,
    values_of_kind,
)

Cell: TypeAlias = "tuple[Column, Value]"

CELLS = [(name, kind) for name in FORMAT_NAMES for kind in KINDS]
FIELDS = [(name, field) for name in FORMAT_NAMES for field in EVENT_FIELDS]
AT = Position(commit_ts=1, sequence_id=1, commit_ms=1, sent_ms=1)
# There are hundreds of cells, with one column and one value in each.
FEW = settings(max_examples=max(5, settings().max_examples // 3))
# One example is looked for, not the smallest.
FOUND = settings(max_examples=2000, phases=(Phase.generate,), database=None, derandomize=True)


def verdict_of(name: str, field: str) -> str:
    return get_format(name).carries.fields[field].verdict


def insert(column: Column, value: Value) -> RowChange:
    table = Table("t", "test", key=())
    return RowChange(table, "insert", None, Image((column,), (value,)), AT)


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
        return bool(expected_feed([insert(*cell)], through))
    except NotCarriedError:
        return False


def after_of(event: Event) -> Image:
    assert isinstance(event, RowChange)
    assert event.after is not None
    return event.after


def kind_of(event: Event) -> str:
    """Return the kind of the only value of a row."""
    image = after_of(event)
    return kind_name(image.columns[0].type, image.values[0])


def assert_comes_back_as(kinds: str, cell: Cell, through: Format, options: Options) -> None:
    """Send a value and see that it is as expected, and of a kind that the verdict names.

    A value that has no form there is refused: a number without a label, a time that is too long.
    """
    event = insert(*cell)
    try:
        expected = expected_feed([event], through, options)
    except NotCarriedError:
        with pytest.raises(EncodeError):
            round_trip([event], through, options)
        return
    found = round_trip([event], through, options)
    assert texts_of(found) == texts_of(expected)
    assert kind_of(found[0]) in kinds.split(" or ")


@pytest.mark.parametrize(("name", "kind"), CELLS, ids=[f"{n}-{k}" for n, k in CELLS])
@FEW
@given(data=st.data())
def test_kind_comes_through_as_its_verdict_says(name: str, kind: str, data: st.DataObject) -> None:
    through = get_format(name)
    verdict = through.carries.kinds[kind]
    column, value = cell = data.draw(cells(kind))
    match verdict.verdict:
        case "exact":
            assert_comes_back_as(kind, cell, through, {})
            if is_plain(column) and is_carried(cell, through):
                options, fields = fullest_options(through), shared_fields(through)
                found = plainly(round_trip([insert(*cell)], through, options), fields)
                assert texts_of(found) == texts_of(plainly([insert(*cell)], fields))
        case "as":
            assert_comes_back_as(verdict.detail, cell, through, {})
        case "lossy":
            found = round_trip([insert(*cell)], through)
            assert texts_of(found) == texts_of(expected_feed([insert(*cell)], through))
        case "option":
            with pytest.raises(EncodeError):
                round_trip([insert(*cell)], through)
            assert isinstance(column.type, TimestampType)
            zone = column.type.zone
            assert zone is not None
            carried = {verdict.detail: zone}
            assert_comes_back_as(kind, cell, through, carried)
            if column.type.form == "text":  # a count comes back as its text
                assert after_of(round_trip([insert(*cell)], through, carried)[0]).values == (value,)
        case "no":
            with pytest.raises(EncodeError) as caught:
                round_trip([insert(*cell)], through)
            assert caught.value.path[:2] == ("events", 0)


LOSSY = [(n, k) for n, k in CELLS if get_format(n).carries.kinds[k].verdict == "lossy"]


@pytest.mark.parametrize(("name", "kind"), LOSSY, ids=[f"{n}-{k}" for n, k in LOSSY])
def test_lossy_kind_really_loses_something(name: str, kind: str) -> None:
    through = get_format(name)

    def is_changed(cell: Cell) -> bool:
        (found,) = round_trip([insert(*cell)], through)
        return after_of(found).values != (cell[1],)

    find(cells(kind), is_changed, settings=FOUND)


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
    "progress": lambda event: event.what if isinstance(event, Progress) else None,
    "markers": lambda event: (event.what, event.id) if isinstance(event, Marker) else None,
    **{name: _position(name) for name in EVENT_FIELDS if name in POSITION_FIELDS},
}


AS_OTHERS = [
    (name, kind, other)
    for name, kind in CELLS
    if get_format(name).carries.kinds[kind].verdict == "as"
    for other in get_format(name).carries.kinds[kind].detail.split(" or ")
]


@pytest.mark.parametrize(
    ("name", "kind", "other"), AS_OTHERS, ids=[f"{n}-{k}-{other}" for n, k, other in AS_OTHERS]
)
def test_kind_that_comes_back_as_another_really_does(name: str, kind: str, other: str) -> None:
    """Not all values of such a kind are refused; of two others both are seen."""
    through = get_format(name)

    def is_other(cell: Cell) -> bool:
        return (
            is_carried(cell, through)
            and kind_of(expected_feed([insert(*cell)], through)[0]) == other
        )

    assert_comes_back_as(other, find(cells(kind), is_other, settings=FOUND), through, {})


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


def _of_tables(event: Event) -> Hashable:
    if not isinstance(event, SchemaChange):
        return None
    table = event.table if event.table is not None and event.table.name else None
    return event.what, event.query, table


def _key_before_delete(row: RowChange) -> Hashable:
    if row.op != "delete" or row.before is None:
        return None
    image, key = plain_image(row.before), row.table.key or ()
    carried = event_to_json(replace(row, before=image))["before"]
    return tuple(sorted((name, repr(value)) for name, value in carried.items() if name in key))


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


def _types_by(type_of: Callable[[Type], tuple[str, Type]]) -> Callable[[Event], Hashable]:
    """Return names with the types that are all there are for their kinds."""

    def types(row: RowChange) -> Hashable:
        image = row.after or row.before
        assert image is not None
        found = ((column.name, *type_of(column.type)) for column in image.columns)
        return tuple(sorted((name, type_, kind_text(kind)) for name, type_, kind in found))

    return _of_row(types)


def _what_and_table(event: Event) -> Hashable:
    if not isinstance(event, SchemaChange) or event.table is None:
        return None
    return event.what, event.table.schema, event.table.name


# What is left of a field that loses something, by the text of the verdict.
LEFT: dict[str, Callable[[Event], Hashable]] = {
    "the number of the action, and the schema of a statement about a whole one": _of_tables,
    "the number of the action": _without_code,
    "lengths, digits and elements": _of_row(_plain_types),
    "columns outside the handle key": _of_row(_key_before_delete),
    "widths of integers and lengths": _of_row(_wide_types),
    "a read comes back as an insert": _of_row(lambda row: "insert" if row.op == "read" else row.op),
    "the statement and its number; few but truncate have a form": _what_and_table,
    "the part below a second": _of_row(
        lambda row: None if row.position.commit_ms is None else row.position.commit_ms // 1000
    ),
    "all types but ten": _types_by(tuple_type),
    "all types but six": _types_by(blob_type),
}
NOT_OF_ROWS = ("schema change", "progress", "markers")


def field_is_carried(event: Event, field: str, through: Format) -> bool:
    """Return whether an event says something of a field: not of where it was, in a bare key."""
    if field in NOT_OF_ROWS:
        return True
    is_bare = through.carries.fields["before of delete"].verdict == "lossy"
    is_cut = through.carries.fields["before of delete"].verdict == "option" and field == "types"
    is_of_delete = isinstance(event, RowChange) and event.op == "delete"
    return isinstance(event, RowChange) and not (
        is_of_delete and (is_cut or (is_bare and field in POSITION_FIELDS))
    )


def carried(
    events: list[Event], through: Format, fields: Iterable[str]
) -> dict[str, list[Hashable]]:
    """Return what events say of each field: all of it, or what is left by its verdict."""
    found = {}
    for field in fields:
        verdict = through.carries.fields[field]
        get = LEFT[verdict.detail] if verdict.verdict == "lossy" else GET[field]
        found[field] = [get(event) for event in events if field_is_carried(event, field, through)]
    return found


def in_order_of(events: list[Event], through: Format, options: Options) -> list[Event]:
    """Return events as a format gives them: in order of files, rows with another key split."""
    if is_stored(through):
        return gathered(events)
    old_rows = through.carries.fields["before of update"]
    has_none = old_rows.verdict == "option" and not options.get(old_rows.setting[0])
    if old_rows.verdict == "no" or (has_none and through.name in SPLITS_KEYS):
        return list(split_key_changes(events))
    return events


def found_in(
    stream: ChangeStream, events: list[Event], through: Format, options: Options
) -> list[Event]:
    sent = round_trip(events, through, options, tables=stream.tables)
    return list(map(_with_names_only, fill_unchanged(join_halves(sent))))


@pytest.mark.parametrize("name", FORMAT_NAMES)
@given(data=st.data())
def test_event_fields_come_through_as_their_verdicts_say(name: str, data: st.DataObject) -> None:
    """One stream proves the verdicts of all fields: only what is carried comes back."""
    through = get_format(name)
    verdicts = through.carries.fields
    position_fields = set(POSITION_FIELDS) - {"tx_order"}
    if verdicts["partition"].verdict == "no":
        position_fields -= {"partition"}  # of several there is no order
    domain = domain_of(through, is_plausible=True)  # no value in another form than it has
    domain = replace(
        domain, position_fields=tuple(f for f in POSITION_FIELDS if f in position_fields)
    )
    stream = data.draw(change_streams(domain=domain))
    events = list(stream.events)
    of_options = [field for field in EVENT_FIELDS if verdicts[field].verdict == "option"]
    # Under the default options it is refused.
    plain = [e for e in events if not (isinstance(e, Progress) and "progress" in of_options)]
    kept = [field for field in EVENT_FIELDS if verdicts[field].verdict in ("exact", "lossy")]
    gone = [field for field in EVENT_FIELDS if verdicts[field].verdict == "no"]
    found = found_in(stream, plain, through, {})
    assert carried(found, through, kept) == carried(in_order_of(plain, through, {}), through, kept)
    assert {f: v for f, v in carried(found, through, gone).items() if set(v) - {None}} == {}
    options = fullest_options(through)
    if not options:
        return
    found = found_in(stream, events, through, options)
    expected = carried(in_order_of(events, through, options), through, of_options)
    assert carried(found, through, of_options) == expected
    for option in options:
        assert_is_silent(stream, through, option)


def assert_is_silent(stream: ChangeStream, through: Format, option: str) -> None:
    """Fields that need an option are not carried without it."""
    verdicts = through.carries.fields
    fullest = fullest_options(through)
    declared = next(each for each in through.options if each.name == option)
    values = (False,) if fullest[option] is True else (declared.default, *(declared.values or ()))
    other_value = next(value for value in values if value != fullest[option])
    options: Options = {**fullest, option: other_value}
    if other := GIVEN_BY_ANOTHER.get((through.name, option)):
        options = {**options, other: False}
    is_by_option = {f for f in EVENT_FIELDS if verdicts[f].verdict == "option"}
    fields = [f for f in EVENT_FIELDS if f in is_by_option and verdicts[f].setting[0] == option]
    events = list(stream.events)
    is_progress = [isinstance(event, Progress) for event in events]
    if "progress" in fields and through.name not in LEAVES_OUT:
        if any(is_progress):
            with pytest.raises(EncodeError):
                found_in(stream, events, through, options)
        events = [event for event in events if not isinstance(event, Progress)]
    left = found_in(stream, events, through, options)
    if "before of delete" in fields:  # the key, which a table may lack, tells which row went
        key_of = _of_row(_key_before_delete)
        assert list(map(key_of, left)) == list(map(key_of, events))
        assert all(_has_what_it_says(event) for event in left)
        fields.remove("before of delete")
    found = carried(left, through, fields)
    for field in fields:
        # A delete is known even if the operation is not carried.
        known = {"delete", "upsert"} if field == "op" else set()
        assert set(found[field]) <= {None} | known, field


def _has_what_it_says(event: Event) -> bool:
    """Return whether a delete that says so has its key only."""
    if not isinstance(event, RowChange) or event.op != "delete" or event.sent != "key":
        return True
    return event.before is not None and set(event.before.names) == {*(event.table.key or ())}


# Avro's old rows come with the operation, which the extension gives too.
GIVEN_BY_ANOTHER = {("avro", "enable-tidb-extension"): "avro-include-before-value"}
# Without old rows, the producer sends an update of a key as a delete and an insert.
SPLITS_KEYS = ("avro",)
# Formats in which what has no message under some options is left out, as by the producer.
LEAVES_OUT = ("avro",)
# What a format without it refuses.
SAMPLES: dict[str, Event] = {
    "schema change": SchemaChange("create", "CREATE TABLE t", 3, Table("t", "test"), AT),
    "progress": Progress("heartbeat", AT),
    "markers": Marker("begin", None, AT),
}
REFUSED = [(n, f) for n, f in FIELDS if f in SAMPLES and verdict_of(n, f) == "no"]


@pytest.mark.parametrize(("name", "field"), REFUSED, ids=[f"{n}-{f}" for n, f in REFUSED])
def test_event_that_has_no_message_is_refused(name: str, field: str) -> None:
    with pytest.raises(EncodeError) as caught:
        round_trip([SAMPLES[field]], get_format(name))
    assert caught.value.path[:2] == ("events", 0)


def _with_names_only(event: Event) -> Event:
    """Return a schema change that names its table; a schema file tells its columns as well."""
    if not isinstance(event, SchemaChange) or event.table is None:
        return event
    return replace(event, table=Table(event.table.name, event.table.schema))


@pytest.mark.parametrize("name", FORMAT_NAMES)
@given(data=st.data())
def test_types_come_through_as_their_verdict_says(name: str, data: st.DataObject) -> None:
    """The types of all that a source has, those too that come back as another kind."""
    through = get_format(name)
    change = data.draw(row_changes(domain=source_domain_of(through)))
    events: list[Event] = in_order_of([change], through, {})
    found = list(join_halves(round_trip([change], through)))
    assert carried(found, through, ["types"]) == carried(events, through, ["types"])


LOSSY_FIELDS = [(n, f) for n, f in FIELDS if verdict_of(n, f) == "lossy"]


@pytest.mark.parametrize(("name", "field"), LOSSY_FIELDS, ids=[f"{n}-{f}" for n, f in LOSSY_FIELDS])
def test_lossy_event_field_really_loses_something(name: str, field: str) -> None:
    through = get_format(name)
    domain = replace(source_domain_of(through), progress=None)

    def is_changed(stream: ChangeStream) -> bool:
        found = join_halves(round_trip(stream.events, through, tables=stream.tables))
        return list(map(GET[field], found)) != list(map(GET[field], stream.events))

    find(change_streams(domain=domain), is_changed, settings=FOUND)
