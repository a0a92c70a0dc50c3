"""CSV files read by blocks give what the plain decoder gives, or are left to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="needs the extra spark")
pytest.importorskip("sqlglot", reason="needs the extra ddl")

import numpy as np
import pyarrow as pa

from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.arrow.schema import canonical_table
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.ddl import parse_ddl
from cdcwire.formats.csv.fast import join_adjacent_halves
from cdcwire.formats.csv.format import FORMAT
from cdcwire.formats.csv.settings import read_settings
from cdcwire.formats.csv.tables import Definitions
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.storage.paths import DataPath, parse_path
from cdcwire_conformance.formats.csv import arrow_blocks as csv_blocks
from cdcwire_conformance.formats.csv.arrow_batches import CsvColumns
from cdcwire_generators.workloads import table_workload

DDL = """CREATE TABLE t (
  a tinyint not null primary key, b smallint unsigned, c mediumint, d int unsigned, e bigint,
  f bigint unsigned, g bit(7), h bit(64), i year, j float, k double, l decimal(10,3),
  m decimal(65,30), n date, o time(2), p datetime, q timestamp(6), r char(5), s text,
  t varbinary(9), u blob, v json, w enum('x','y,"z'), x set('p','q'))"""
(TABLE,) = parse_ddl(DDL, "s")
TABLE = replace(TABLE, version=5)
TIMESTAMPED: dict[str, OptionValue] = {"include-commit-ts": True, "date-separator": "none"}
OPTIONS: list[dict[str, OptionValue]] = [
    {},
    {"output-old-value": True},
    {"include-commit-ts": False},
    {"terminator": "\n", "delimiter": "\t", "quote": "'"},
    {"null": "", "output-field-header": True},
    {"null": "NULL", "binary-encoding-method": "hex", "output-old-value": True},
]
IDS = [" ".join(f"{k}={v!r}" for k, v in each.items()) or "default" for each in OPTIONS]


def file_of(events: list[RowChange], options: Mapping[str, OptionValue]) -> StoredFile:
    (file,) = FORMAT.from_events(events, context=Context(options=options, tables=(TABLE,)))
    assert isinstance(file, StoredFile)
    return file


def by_blocks(file: StoredFile, options: Mapping[str, OptionValue]) -> pa.Table:
    """Return the rows of a file. Raises: Irregular."""
    chosen = read_settings(options)
    builder = BatchBuilder(canonical_table(TABLE))
    path = parse_path(file.path, chosen.layout)
    assert isinstance(path, DataPath)

    def places(numbers: Any) -> pa.Array:
        return places_array([MessagePlace(file="x")], [len(numbers)])

    def takes(commit_ts: Any, count: int) -> Any:
        return np.ones(count, np.bool_)

    made = CsvColumns(Definitions([TABLE]), chosen)
    batches = [batch for batch, _ in made.batches(builder, file, path, takes, places)]
    found = pa.Table.from_batches([b for b in batches if b is not None], builder.schema)
    found.validate(full=True)
    return found


def by_rows(file: StoredFile, options: Mapping[str, OptionValue]) -> pa.Table:
    """Return the rows of a file by the plain decoder. Raises: DecodeError."""
    builder = BatchBuilder(canonical_table(TABLE))
    events = FORMAT.to_events(file, context=Context(options=options, tables=(TABLE,)))
    changes = list(join_adjacent_halves(events))
    places = places_array([MessagePlace(file="x")], [len(changes)])
    assert all(isinstance(change, RowChange) for change in changes)
    return pa.Table.from_batches([builder.batch(changes, places)])  # type: ignore[arg-type]


def workload(rows: int, seed: int) -> list[RowChange]:
    events = []
    for event in table_workload(TABLE, rows, seed):
        assert isinstance(event, RowChange)
        events.append(event)
    return events


def insert(**values: object) -> RowChange:
    """Return an insert of these values; all others are NULL."""
    columns = TABLE.columns or ()
    image = Image(columns, tuple(values.get(column.name) for column in columns))
    table = replace(TABLE, columns=None)
    return RowChange(table, "insert", None, image, Position(commit_ts=2**64 - 1))


@pytest.mark.parametrize("options", OPTIONS, ids=IDS)
def test_blocks_give_the_rows_of_the_plain_decoder(options: dict[str, OptionValue]) -> None:
    chosen = {**TIMESTAMPED, **options}
    file = file_of(workload(300, 7), chosen)
    assert by_blocks(file, chosen).equals(by_rows(file, chosen))


@pytest.mark.parametrize("options", OPTIONS, ids=IDS)
def test_small_blocks_give_the_same_rows(
    options: dict[str, OptionValue], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {**TIMESTAMPED, **options}
    file = file_of(workload(60, 8), chosen)
    whole = by_blocks(file, chosen)
    for size in (2500, 4000, 9000):
        monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", size)
        assert by_blocks(file, chosen).equals(whole)


TEXTS = ["\\N", "", "NULL", 'a"b', '""', "a,b", "a\r\nb", "\n", "'", "\t", "é\u2028", " x ", "1"]


@pytest.mark.parametrize("options", OPTIONS, ids=IDS)
def test_texts_are_distinguished_from_null_and_from_structure(
    options: dict[str, OptionValue],
) -> None:
    chosen = {**TIMESTAMPED, **options}
    events = [insert(a=number, s=text) for number, text in enumerate(TEXTS)]
    file = file_of([*events, insert(a=100, s=None)], chosen)
    found = by_blocks(file, chosen)
    assert [row["s"] for row in found.column("after").to_pylist()] == [*TEXTS, None]
    assert found.equals(by_rows(file, chosen))


RARE: list[dict[str, object]] = [
    {"e": -(2**63), "f": 2**64 - 1, "h": 2**64 - 1},
    {"j": 3.4028234663852886e38, "k": 5e-324},
    {"j": -0.0, "k": -0.0},
    {"n": "0000-00-00", "p": "0000-00-00 00:00:00", "o": "-838:59:59.00"},
    {"i": 0, "l": "-9999999.999"},
    {"t": b"\x00\xff", "u": b"", "v": '{"a": 1.0}'},
    {"w": 2, "x": 3},
]


@pytest.mark.parametrize("values", RARE, ids=[",".join(each) for each in RARE])
def test_rare_values_are_the_same(values: dict[str, object]) -> None:
    from decimal import Decimal

    if "l" in values:
        values = {**values, "l": Decimal(str(values["l"]))}
    file = file_of([insert(a=1, **values), insert(a=2)], TIMESTAMPED)
    assert by_blocks(file, TIMESTAMPED).equals(by_rows(file, TIMESTAMPED))


def test_text_that_is_not_utf8_is_left_to_rows() -> None:
    file = file_of([insert(a=1, s=b"\xff")], TIMESTAMPED)
    with pytest.raises(Irregular):
        by_blocks(file, TIMESTAMPED)


GOOD = {
    name: file_of(workload(3, 3), {**TIMESTAMPED, **each})
    for name, each in zip(IDS, OPTIONS, strict=True)
}
SIGNS = b"\"'\\,\t\r\nN0159-+.eE:=AZIDUtruefals {}[]\x00\xc3"


def damaged() -> Iterator[tuple[str, bytes]]:
    """Yield faults that a lenient reader takes."""
    file = file_of([insert(a=1, b=2, n="2024-01-02", s="text", w=1)], TIMESTAMPED).value
    for old, new in (
        (b",1,2,", b',"1",2,'),
        (b",1,2,", b",01,2,"),
        (b",1,2,", b",+1,2,"),
        (b",1,2,", b", 1,2,"),
        (b",1,2,", b",-0,2,"),
        (b",1,2,", b",200,2,"),
        (b'"text"', b"text"),
        (b'"text"', b'"te"xt'),
        (b'"text"', b'te"xt'),
        (b'"text"', b'"te"xt"'),
        (b'"2024-01-02"', b'"2024-01-32"'),
        (b'"2024-01-02"', b'"2024-1-2"'),
        (b'"x"', b'"q"'),
        (b"\r\n", b"\n"),
        (b"\r\n", b""),
        (b"\r\n", b"\r\n\r\n"),
        (b'"I"', b'"X"'),
        (b'"I"', b"I"),
        (b'"t"', b'"T"'),
    ):
        assert old in file, old
        yield f"{old!r}-{new!r}", file.replace(old, new, 1)


@pytest.mark.parametrize(("value"), [v for _, v in damaged()], ids=[n for n, _ in damaged()])
def test_lenient_readings_are_left_to_the_plain_decoder(value: bytes) -> None:
    file = StoredFile("s/t/5/CDC00000000000000000001.csv", value)
    with pytest.raises(DecodeError):
        by_rows(file, TIMESTAMPED)
    with pytest.raises(Irregular):
        by_blocks(file, TIMESTAMPED)


REPLACED: dict[str, dict[bytes, bytes]] = {
    "hexadecimal number as long as its decimal digits": {b",1000000,": b",0xF4240,"},
    "another one": {b",1000000,": b",0XF4240,"},
    "number has the quotes that a text lacks": {b"1000000": b'"1000000"', b'"text"': b"text"},
    "text after the end of its quotes": {b'"text"': b'"te"xt'},
    "text goes on after its quotes, number is quoted": {
        b"1000000": b'"1000000"',
        b'"text"': b'"te"x"t"',
    },
    "quoted number alone": {b"1000000": b'"1000000"'},
    "quotes in a text are not two": {b'"say ""hi"""': b'"say "hi"""""'},
    "base64 with bits after its last octet": {b'"AP8="': b'"AP9="'},
    "base64 with bits after its only octet": {b'"/w=="': b'"/x=="'},
    "base64 with padding within": {b'"AP8="': b'"A=8="'},
    "base64 of padding alone": {b'"AP8="': b'"===="'},
    "base64 with signs of other alphabets": {b'"/w=="': b'"_w=="'},
    "base64 with white space": {b'"/w=="': b'"/w ="'},
    "year without a value": {b",2024,": b",1900,"},
    "month without a day": {b"2024-12-31": b"2024-13-01"},
    "name of the schema in the next record": {b'"t","s",18446744073709551614': b'"t","S",1'},
}


@pytest.mark.parametrize("changes", REPLACED.values(), ids=REPLACED)
def test_replaced_parts_are_left_to_the_plain_decoder(changes: dict[bytes, bytes]) -> None:
    values = {"d": 10**6, "i": 2024, "n": "2024-12-31", "t": b"\x00\xff", "u": b"\xff"}
    first = insert(a=1, **values, r='say "hi"', s="text")
    second = replace(insert(a=2), position=Position(commit_ts=2**64 - 2))
    file = file_of([first, second], TIMESTAMPED)
    value = file.value
    assert by_blocks(file, TIMESTAMPED).equals(by_rows(file, TIMESTAMPED))
    for old, new in changes.items():
        assert value.count(old) == 1, old
        value = value.replace(old, new)
    file = replace(file, value=value)
    with pytest.raises(DecodeError):
        by_rows(file, TIMESTAMPED)
    with pytest.raises(Irregular):
        by_blocks(file, TIMESTAMPED)


CANCELLED = {
    "text after quotes, and a quoted number": '"I","t","s",1,"te"x"t","5"\r\n',
    "text without quotes, and a quoted number": '"I","t","s",1,x,"5"\r\n',
    "line end of one sign, and a number after a space": (
        '"I","t","s",1,"""x", 5\n"I","t","s",1,"xy",\\N\r\n'
    ),
}


@pytest.mark.parametrize("text", CANCELLED.values(), ids=CANCELLED)
def test_cells_whose_errors_cancel_out_are_left_to_the_plain_decoder(text: str) -> None:
    (small,) = parse_ddl("CREATE TABLE t (s text, n int)", "s")
    table = replace(small, version=5)
    made = CsvColumns(Definitions([table]), read_settings(TIMESTAMPED))
    file = StoredFile("s/t/5/CDC00000000000000000001.csv", text.encode())
    place = DataPath("s", "t", 5, None, "", 1)
    with pytest.raises(DecodeError):
        list(FORMAT.to_events(file, context=Context(options=TIMESTAMPED, tables=(table,))))
    with pytest.raises(Irregular):
        list(made.commit_ts(file, place))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(IDS),
    st.integers(0, 2000),
    st.integers(0, 3),
    st.lists(st.sampled_from(SIGNS), max_size=3).map(bytes),
)
@example(IDS[0], 30, 1, b'""')
def test_whatever_is_read_by_blocks_is_right(name: str, at: int, cut: int, put: bytes) -> None:
    """A damaged file gives the plain decoder's rows, or nothing."""
    options = {**TIMESTAMPED, **OPTIONS[IDS.index(name)]}
    value = GOOD[name].value
    at %= len(value)
    file = replace(GOOD[name], value=value[:at] + put + value[at + cut :])
    try:
        found = by_blocks(file, options)
    except Irregular:
        return
    assert found.equals(by_rows(file, options))


def test_tables_with_other_kinds_are_left_to_rows() -> None:
    (vectors,) = parse_ddl("CREATE TABLE t (a int, v vector(2))", "s")
    chosen = read_settings(TIMESTAMPED)
    table: Table = replace(vectors, version=5)
    made = CsvColumns(Definitions([table]), chosen)
    builder = BatchBuilder(canonical_table(table))
    place = DataPath("s", "t", 5, None, "", 1)
    file = StoredFile("s/t/5/CDC000001.csv", b"")
    with pytest.raises(Irregular):
        next(made.batches(builder, file, place, lambda c, n: n, lambda n: n))
