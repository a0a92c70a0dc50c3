"""Malformed files: every reader reports each error with byte, path and clause."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.csv import FORMAT, Definitions, explain, read_settings
from cdcwire.formats.csv import fast as fast_module
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.formats.csv.wire import MAX_HEADER
from cdcwire.model.events import Event, Table
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import Column
from cdcwire_generators.strategies import damaged_bytes

COLUMNS = (
    Column("id", parse_kind("int32"), nullable=False),
    Column("name", parse_kind("text")),
    Column("raw", parse_kind("bytes")),
)
TABLE = Table("t", "s", None, COLUMNS, ("id",), 100)
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "defaults": {},
    "hex": {"binary-encoding-method": "hex", "terminator": "\n"},
    "handle": {"output-handle-key": True},
    "all fields": {
        "include-commit-ts": True,
        "output-old-value": True,
        "output-handle-key": True,
        "output-field-header": True,
    },
    "no quote": {"quote": "", "null": "NULL"},
    "no quote, three characters": {"quote": "", "delimiter": "|+|", "terminator": "\n"},
    "odd terminator": {"terminator": ";", "delimiter": ";;", "quote": "'"},
}
GOOD = {
    "defaults": b'"I","t","s",1,"a""b","/w=="\r\n"D","t","s",2,\\N,""\r\n',
    "hex": b'"I","t","s",1,"","ff"\n"U","t","s",2,\\N,\\N\n',
    "handle": b'"I","t","s","{a}",1,"","/w=="\r\n',
    "all fields": b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,ticdc-meta$commit-ts,"
    b'ticdc-meta$is-update,id,name,raw\r\n"I","t","s",7,false,"-1",1,"\r\n","AA=="\r\n',
    "no quote": b"I,t,s,1,a\\,b\\n\\\\,/w==\r\nD,t,s,1,NULL,NULL\r\n",
    "no quote, three characters": b"I|+|t|+|s|+|1|+|x\\|\\+|+|/w==\nD|+|t|+|s|+|1|+|\\N|+|\\N\n",
    "odd terminator": b"'I';;'t';;'s';;1;;'''';;'AA==';'D';;'t';;'s';;2;;\\N;;\\N;",
}
HEADER = GOOD["all fields"][: GOOD["all fields"].index(b"\r\n") + 2]
each_options = pytest.mark.parametrize("name", OPTIONS)
few = hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

# options, bytes, offset, path, clause
BROKEN: dict[str, tuple[str, bytes, int, tuple[str | int, ...], str]] = {
    "NUL in a number": (
        "defaults",
        b'"I","t","s",1\0,"a",""\r\n',
        12,
        ("records", 0, "columns", "id"),
        "csv: integer values",
    ),
    "NUL for an operation": (
        "defaults",
        b'\0,"t","s",1,"a",""\r\n',
        0,
        ("records", 0, "op"),
        "csv: kinds of fields",
    ),
    "NUL in an operation": (
        "defaults",
        b'"I\0","t","s",1,"a",""\r\n',
        0,
        ("records", 0, "op"),
        "csv: operations",
    ),
    "NUL behind a quote": (
        "defaults",
        b'"I","t","s",1,"a"\0,""\r\n',
        17,
        ("records", 0, "columns", "name"),
        "csv: quoted fields",
    ),
    "NUL behind the last record": (
        "defaults",
        b'"I","t","s",1,"a",""\r\n\0',
        23,
        ("records", 1, "op"),
        "csv: terminator",
    ),
    "NUL in base64": (
        "defaults",
        b'"I","t","s",1,"a","AA=\0"\r\n',
        18,
        ("records", 0, "columns", "raw"),
        "csv: binary values",
    ),
    "number not UTF-8": (
        "defaults",
        b'"I","t","s",\xff,"a",""\r\n',
        12,
        ("records", 0, "columns", "id"),
        "csv: integer values",
    ),
    "another table": (
        "defaults",
        b'"I","t","s",1,"a",""\r\n"I","u","s",1,"a",""\r\n',
        22,
        ("records", 1, "table"),
        "csv: record",
    ),
    "quote that is not doubled": (
        "defaults",
        b'"I","t","s",1,"a"b",""\r\n',
        17,
        ("records", 0, "columns", "name"),
        "csv: quoted fields",
    ),
    "quote that is not closed": (
        "defaults",
        b'"I","t","s",1,"a,""\r\n',
        21,
        ("records", 0, "columns", "name"),
        "csv: terminator",
    ),
    "a field less": (
        "defaults",
        b'"I","t","s",1,"a"\r\n',
        17,
        ("records", 0),
        "csv: record",
    ),
    "a field more": (
        "defaults",
        b'"I","t","s",1,"a","",\r\n',
        21,
        ("records", 0),
        "csv: record",
    ),
    "wrong terminator": (
        "hex",
        b'"I","t","s",1,"",""\r\n',
        19,
        ("records", 0, "columns", "raw"),
        "csv: quoted fields",
    ),
    "hex cut in half": (
        "hex",
        b'"I","t","s",1,"","f"\n',
        17,
        ("records", 0, "columns", "raw"),
        "csv: binary values",
    ),
    "raw LF without quote": (
        "no quote",
        b"I,t,s,1,a\nb,\r\n",
        9,
        ("records", 0, "columns", "name"),
        "csv: bare fields",
    ),
    "backslash at the end of a file without quote": (
        "no quote",
        b"I,t,s,1,a\\",
        10,
        ("records", 0, "columns", "name"),
        "csv: terminator",
    ),
    "NULL where there is no column": (
        "no quote",
        b"NULL,t,s,1,a,\r\n",
        0,
        ("records", 0, "op"),
        "csv: operations",
    ),
    "half a delimiter": (
        "no quote, three characters",
        b"I|+|t|+|s|+|1|+x|+|y|+|\n",
        12,
        ("records", 0, "columns", "id"),
        "csv: integer values",
    ),
    "header line twice": (
        "all fields",
        HEADER * 2,
        len(HEADER),
        ("records", 0, "op"),
        "csv: kinds of fields",
    ),
    "handle key beyond 64 bits": (
        "all fields",
        GOOD["all fields"].replace(b'"-1"', b'"-9223372036854775809"'),
        131,
        ("records", 0, "handle_key"),
        "csv: handle key",
    ),
}


@pytest.fixture(autouse=True)
def _patterns_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read even the smallest file in the fast way."""
    monkeypatch.setattr(fast_module, "_PRICE_OF_A_COLUMN", 0)


def outcome(
    value: bytes, name: str, table: Table = TABLE, *, fast: bool = False
) -> tuple[list[Event], DecodeError | None]:
    file = StoredFile("x.csv", value)
    found: list[Event] = []
    try:
        if fast:
            found += RowDecoder(Context(OPTIONS[name], (table,))).decode_events(file)
        else:
            for event in FORMAT.to_events(file, context=Context(OPTIONS[name], (table,))):
                found.append(event)
    except DecodeError as error:
        return found, error
    return found, None


# pingcap/ticdc@b813e76 has no field for the handle, whatever output-handle-key says.
@pytest.mark.parametrize(
    ("row", "offset"), [(b'1,"2",""', 12), (b'"x",1,""', 12), (b'"2",1,""', 20)]
)
@pytest.mark.parametrize("fast", [False, True])
def test_missing_handle_is_named(row: bytes, offset: int, fast: bool) -> None:
    value = b'"I","t","s",' + row + b"\r\n"
    _, error = outcome(value, "handle", fast=fast)
    assert error is not None
    assert "TiCDC's new architecture writes no handle: set output-handle-key=false" in error.problem
    assert error.offset == offset


def place_of(error: DecodeError | None) -> object:
    return None if error is None else (error.offset, error.path, error.clause, error.problem)


def assert_explained(value: bytes, name: str) -> None:
    """The spans have each byte up to the error, or the end, once."""
    found = explain(StoredFile("x.csv", value), context=Context(OPTIONS[name], (TABLE,)))
    error = outcome(value, name)[1]
    assert place_of(found.error) == place_of(error)
    spans = [(0, 0), *((span.start, span.end) for span in found.spans)]
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    if error is not None and error.clause == "csv: schema" and not error.path:
        return  # fields are shown without a definition, as far as they are fields
    assert spans[-1][1] == (len(value) if error is None else error.offset)


@pytest.mark.parametrize(("name", "value", "offset", "path", "clause"), BROKEN.values(), ids=BROKEN)
def test_one_fault_is_reported_with_byte_path_and_clause(
    name: str, value: bytes, offset: int, path: tuple[str | int, ...], clause: str
) -> None:
    events, error = outcome(value, name)
    assert error is not None
    assert (error.offset, error.path, error.clause) == (offset, path, clause)
    assert place_of(outcome(value, name, fast=True)[1]) == place_of(error)
    assert len(events) == path[1] if path[0] == "records" else not events
    assert_explained(value, name)


@each_options
def test_good_bytes_are_read_and_explained(name: str) -> None:
    events, error = outcome(GOOD[name], name)
    assert error is None
    assert events
    assert outcome(GOOD[name], name, fast=True) == (events, None)
    assert_explained(GOOD[name], name)


@each_options
def test_every_cut_is_a_shorter_file_or_an_error_at_its_end(name: str) -> None:
    value = GOOD[name]
    settings = read_settings(OPTIONS[name])
    for cut in range(1, len(value)):
        error = outcome(value[:cut], name)[1]
        is_end = value[:cut].endswith(settings.terminator)
        if error is None:
            assert is_end
        elif not is_end or not settings.delimiter.startswith(settings.terminator):
            assert isinstance(error, TruncatedError)
            assert error.offset == cut
            assert_explained(value[:cut], name)


@each_options
@few
@given(data=st.data())
def test_damaged_and_random_bytes_raise_nothing_but_decode_errors(
    data: st.DataObject, name: str
) -> None:
    """Whoever reads them says the same, and explain covers what was read."""
    signs = b"IUDts01\\N,;|+\"'\r\n\0\xff\xc3\xa9=A"
    noise = st.lists(st.sampled_from(signs), max_size=40).map(bytes)
    value = data.draw(st.one_of(damaged_bytes(GOOD[name]), noise, st.binary(max_size=40)))
    _, error = outcome(value, name)
    assert place_of(outcome(value, name, fast=True)[1]) == place_of(error)
    assert_explained(value, name)


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({"quote": ""}, None),
        ({"quote": "", "null": ""}, None),
        ({"quote": "", "null": "TlVM"}, None),
        ({"null": "NULL"}, frozenset({"last"})),
        ({"null": ""}, frozenset({"last"})),
    ],
    ids=str,
)
def test_refused_record_of_many_nulls_is_tried_in_one_way(
    options: dict[str, OptionValue], columns: frozenset[str] | None
) -> None:
    """With two ways for each of 80 fields, this test would not end."""
    kinds = ("text", "bytes", "enum", "json")
    many = tuple(Column(f"c{n}", parse_kind(kinds[n % 4])) for n in range(80))
    table = Table("t", "s", None, (*many, Column("last", parse_kind("int32"))))
    settings = read_settings(options)
    names = [settings.quote + each + settings.quote for each in (b"I", b"t", b"s")]
    value = settings.delimiter.join([*names, *[settings.null] * 80, b"x"]) + b"\r\n"
    decoder = RowDecoder(Context(tables=(table,), selection=Selection(columns=columns)), settings)
    with pytest.raises(DecodeError) as caught:
        list(decoder.decode(StoredFile("x.csv", value)))
    assert caught.value.path == ("records", 0, "columns", "last")


def test_header_line_has_a_limit() -> None:
    options: dict[str, OptionValue] = {"output-field-header": True, "date-separator": "none"}
    start = b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,"
    for rest, clause in (
        (b"," * MAX_HEADER, "csv: limits"),
        (b"," * MAX_HEADER + b"\r\n", "csv: limits"),
        (b"," * (MAX_HEADER - len(start)) + b"\r\n", "csv: header line"),
        (b"," * 99 + b"\r\n", "csv: header line"),
        (b"," * 99, "csv: header line"),
    ):
        file = StoredFile("s/t/100/CDC000001.csv", start + rest)
        with pytest.raises(DecodeError) as caught:
            list(FORMAT.to_events(file, context=Context(options, (TABLE,))))
        assert (caught.value.path, caught.value.clause) == (("header",), clause)


def test_header_line_is_looked_for_among_many_tables() -> None:
    tables = [Table(f"t{n}", "s", None, COLUMNS, version=n) for n in range(300)]
    value = GOOD["all fields"].replace(b'"t"', b'"t299"')
    context = Context(OPTIONS["all fields"], tuple(tables))
    (found,) = FORMAT.to_events(StoredFile("x.csv", value), context=context)
    assert getattr(found, "table", None) == Table("t299", "s", key=())


def test_many_definitions_of_one_version_are_kept_as_two() -> None:
    tables = [
        Table("t", "s", None, (Column(f"c{n}", parse_kind("int8")),), version=1) for n in range(99)
    ]
    found = Definitions([*tables, *tables])
    assert found.of("s", "t") == tables[:2]
    assert found.choose("s", "t", 1) == tables[0]
    with pytest.raises(DecodeError, match=r"version 2.* are 1, 1"):
        found.choose("s", "t", 2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("defaults", b'"I","t","s",' + b"," * 100_000),
        ("defaults", b'"I","t","s",1,"' + b'""' * 50_000 + b'","*"\r\n'),
        ("defaults", b'"I","t","s",' + b"\xff" * 100_000 + b',"",""\r\n'),
        ("defaults", b'"I","t","s",1,"","' + b"\xff" * 100_000 + b'"\r\n'),
        ("defaults", b'"' + b"\0" * 100_000 + b'","t","s",1,"",""\r\n'),
        ("no quote", b"I,t,s,1," + b"\\n" * 50_000 + b",*\r\n"),
        ("no quote", b"I,t,s,1,,\r\n" * 9_000 + b"I,t,s,x,,\r\n"),
        ("all fields", b"," * 100_000),
        ("all fields", GOOD["all fields"][:102] + b"," * 100_000 + b"\r\n"),
    ],
)
def test_memory_grows_with_the_bytes(name: str, value: bytes) -> None:
    assert outcome(b"", name) == ([], None)
    for fast in (False, True):
        outcome(GOOD[name], name, fast=fast)  # what is made once
        tracemalloc.start()
        outcome(value, name, fast=fast)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 128 * len(value)
