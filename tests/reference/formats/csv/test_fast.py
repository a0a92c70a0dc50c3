"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.rows import Row
from cdcwire.formats.csv import FORMAT, fast, read_settings
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.formats.csv.settings import Settings
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import Column
from cdcwire.model.text import event_to_json
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

KINDS = (
    *(
        "int8",
        "int8 unsigned",
        "int16",
        "int24",
        "int32",
        "int64",
        "int64 unsigned",
        "bool",
        "year",
    ),
    *("bit(3)", "bit", "float32", "float64", "decimal(5,2)", "decimal", "date", "time(0)", "time"),
    *("datetime(3)", "datetime", "timestamp(6)", "text", "text(9)", "bytes", 'enum(a,b"c,d)'),
    *("enum", "set(x,y,z)", "set", "json", "vector", "unknown"),
)
COLUMNS = tuple(
    Column(f"c{index}", parse_kind(kind), nullable=index % 4 != 1)
    for index, kind in enumerate(KINDS)
)
TABLE = Table('t"é', "s,", None, COLUMNS, ("c0",))

OPTIONS: dict[str, dict[str, OptionValue]] = {
    "defaults": {},
    "old value": {"include-commit-ts": True, "output-old-value": True, "terminator": "\n"},
    "hex, handle key": {"binary-encoding-method": "hex", "output-handle-key": True},
    "no quote": {"quote": "", "include-commit-ts": True, "terminator": "\n"},
    "no quote, three characters": {"quote": "", "delimiter": "|+|", "null": "NULL"},
    "no quote, empty null": {"quote": "", "delimiter": "\t", "null": ""},
    "single quote, header": {"quote": "'", "null": "", "output-field-header": True},
    "stars": {"delimiter": "**", "null": "null"},
    "null of other signs": {"null": "é0\x00N", "quote": "`", "delimiter": ";"},
    "quote of a time": {"quote": ":"},
    "delimiter of a time, no quote": {"quote": "", "delimiter": ":"},
    "odd terminator": {"terminator": ";end;"},
}
SELECTIONS = {
    "everything": EVERYTHING,
    "columns": Selection(columns=frozenset({"c1", "c21", "c22", "c23", "id", "c14"})),
    "another table": Selection(tables=frozenset({("s", "t")})),
}
each_options = pytest.mark.parametrize("name", OPTIONS)
each_selection = pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
many = hypothesis_settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))

TEXTS = st.one_of(
    st.sampled_from(
        ["", "NULL", "\\N", '"', '""', "''", "a,b", "x|+", "**", "\r\n", "é", "中", "\0"]
    ),
    st.text(max_size=6),
)
NUMBERS = st.one_of(
    st.integers(-300, 300).map(str),
    st.sampled_from(["-0", "00", "+1", "1e400", "1e39", "1e+38", "0.1", "1.0", "16777217.0", "-"]),
    st.integers(-(2**65), 2**65).map(str),
    st.floats().map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["7.038531e-26", "1.5", "-1e-05", "2022", "1900", "2155", "2156", "true"]),
)
STRINGS = st.one_of(
    TEXTS,
    NUMBERS,
    st.binary(max_size=5).map(lambda raw: base64.b64encode(raw).decode()),
    st.binary(max_size=4).map(bytes.hex),
    st.sampled_from(["QQ=", "QR==", "QQ==QQ==", "====", "=", "A", "ab", "AB", "abc", "a=bc"]),
    st.sampled_from(
        ["2022-01-02", "2022-13-02", "0000-00-00", "12:00:00", "838:59:59", "-01:02:03.5"]
    ),
    st.sampled_from(["2022-01-02 03:04:05.678", "2022-01-02 03:04:05", "838:59:59.1", "839:00:00"]),
    st.sampled_from(
        ["a", 'b"c', "d", "e", "x", "x,y", "y,x", "x,z", "{}", "[1,2.5]", "[1e3]", "[]"]
    ),
    st.sampled_from(["2022-01-02 03:04:05.678901", "123.45", "123.456", "1234", "-0.5", "00.5"]),
)


@st.composite
def files(draw: st.DrawFn, name: str) -> bytes:
    """Some records, mostly well-formed, whose fields are values of their columns by luck only."""
    settings = settings_of(name)
    quote, null = settings.quote, settings.null
    records = []
    if settings.output_field_header:
        names = ["operation", "table", "schema"]
        records.append([b"ticdc-meta$" + each.encode() for each in names])
        records[0] += [column.name.encode() for column in COLUMNS]
    good = [good_text(column, settings) for column in COLUMNS]
    for _ in range(draw(st.integers(1, 4))):
        record = [quoted(draw(st.sampled_from("IUDI")), settings)]
        record += [quoted(TABLE.name or "", settings), quoted(TABLE.schema or "", settings)]
        if settings.include_commit_ts:
            record.append(
                draw(st.sampled_from([b"7", b"18446744073709551615", b"18446744073709551616"]))
            )
        if settings.output_old_value:
            record.append(draw(st.sampled_from([b"true", b"false"])))
        if settings.output_handle_key:
            text = draw(st.sampled_from(["1", "-1", "9223372036854775807", "9223372036854775808"]))
            record.append(quoted(text, settings))
        odd = draw(st.lists(st.integers(0, len(COLUMNS) - 1), max_size=2))
        nulls = draw(st.lists(st.integers(0, len(COLUMNS) - 1), max_size=4))
        for index, field in enumerate(good):
            if index in odd:
                is_number = draw(st.booleans())
                text = draw(NUMBERS if is_number else STRINGS)
                field = text.encode() if is_number else quoted(text, settings)
            elif index in nulls:
                field = null
            record.append(field)
        records.append(record)
    value = b"".join(settings.delimiter.join(each) + settings.terminator for each in records)
    if draw(st.booleans()) and quote:
        value = value.replace(b"free", draw(st.sampled_from([b"\xff", b"\xe4\xb8\xad", b"fr\nee"])))
    return value


def quoted(text: str, settings: Settings) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    if settings.quote:
        return settings.quote + raw.replace(settings.quote, settings.quote * 2) + settings.quote
    raw = raw.replace(b"\\", b"\\\\").replace(b"\r", b"\\r").replace(b"\n", b"\\n")
    return raw.replace(settings.delimiter[:1], b"\\" + settings.delimiter[:1])


def good_text(column: Column, settings: Settings) -> bytes:
    """Return a field of the column."""
    kind = KINDS[int(column.name[1:])]
    texts = {
        "date": "2022-01-02",
        "time(0)": "-12:00:00",
        "time": "12:00:00.5",
        "datetime(3)": "2022-01-02 03:04:05.678",
        "datetime": "2022-01-02 03:04:05",
        "timestamp(6)": "2022-01-02 03:04:05.678901",
        "decimal(5,2)": "123.45",
        "decimal": "-0.10",
        "text": "free text",
        "text(9)": "a\"b'c",
        "bytes": "ab" if settings.binary_encoding == "hex" else "/w==",
        "enum": "free",
        "set(x,y,z)": "x,z",
        "set": "free",
        "json": '{"a": "free"}',
        "vector": "[1,-2.5]",
    }
    if kind == "unknown":
        return settings.null
    if kind in texts or kind.startswith("enum"):
        return quoted(texts.get(kind, 'b"c'), settings)
    return {"float32": b"1.5", "float64": b"1e+20", "year": b"2022"}.get(kind, b"1")


def settings_of(name: str) -> Settings:
    return read_settings(OPTIONS[name])


@pytest.fixture(autouse=True)
def _patterns_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read even the smallest file in the fast way."""
    monkeypatch.setattr(fast, "_PRICE_OF_A_COLUMN", 0)


def text_of(events: list[Event], error: DecodeError | None) -> object:
    what = (
        None
        if error is None
        else (type(error), error.problem, error.offset, error.path, error.clause)
    )
    return [event_to_json(event) for event in events], what


def assert_same(value: bytes, decoder: RowDecoder, context: Context, path: str = "x.csv") -> None:
    file = StoredFile(path, value)
    outcomes = []
    for changes in (FORMAT.to_events(file, context=context), decoder.decode(file)):
        events: list[Event] = []
        error = None
        try:
            for change in changes:
                events.append(change.to_event() if isinstance(change, Row) else change)
        except DecodeError as caught:
            error = caught
        outcomes.append(text_of(events, error))
    assert outcomes[1] == outcomes[0]


def decoder_and_context(
    name: str, selection: Selection = EVERYTHING, tables: tuple[Table, ...] = (TABLE,)
) -> tuple[RowDecoder, Context]:
    context = Context(options=OPTIONS[name], tables=tables, selection=selection)
    return RowDecoder(
        Context(tables=tuple(tables), selection=selection), settings_of(name)
    ), context


@each_options
@each_selection
@many
@given(data=st.data())
def test_any_file_is_read_as_the_plain_decoder_reads_it(
    data: st.DataObject, name: str, selection: Selection
) -> None:
    value, table = data.draw(files(name)), TABLE
    if data.draw(st.booleans()):  # files that are ASCII are read by functions of their own
        value = value.replace("é".encode(), b"e")
        table = replace(TABLE, name='t"e')
    decoder, context = decoder_and_context(name, selection, (table,))
    assert_same(value, decoder, context)
    assert_same(data.draw(damaged_bytes(value)), decoder, context)


@each_options
def test_every_changed_byte_is_taken_as_the_plain_decoder_takes_it(name: str) -> None:
    settings = settings_of(name)
    decoder, context = decoder_and_context(name)
    record = [quoted(text, settings) for text in ("I", TABLE.name or "", TABLE.schema or "")]
    record += [b"7"] if settings.include_commit_ts else []
    record += [b"true"] if settings.output_old_value else []
    record += [quoted("1", settings)] if settings.output_handle_key else []
    record += [good_text(column, settings) for column in COLUMNS]
    line = settings.delimiter.join(record) + settings.terminator
    head = b""
    if settings.output_field_header:
        names = [b"ticdc-meta$operation", b"ticdc-meta$table", b"ticdc-meta$schema"]
        names += [column.name.encode() for column in COLUMNS]
        head = settings.delimiter.join(names) + settings.terminator
    assert_same(head + line * 2, decoder, context)
    # What an option changes shows in many columns; every byte is changed under the first one.
    for place in range(0, len(line), 1 if name == "defaults" else 3):
        byte = line[place]
        for lie in {*b'0"\\,:', 0xFF} - {byte}:
            changed = line[:place] + bytes((lie,)) + line[place + 1 :]
            assert_same(head + changed, decoder, context)


@pytest.mark.parametrize("name", WORKLOAD_NAMES)
@pytest.mark.parametrize("has_old_value", [False, True])
def test_workload_never_needs_the_plain_decoder(
    name: str, has_old_value: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, OptionValue] = {
        "include-commit-ts": True,
        "output-old-value": has_old_value,
        "date-separator": "none",
    }
    settings, tables = read_settings(options), workload_tables(name)
    context = Context(options=options, tables=tables)
    stored = list(messages_of(workload(name, 60, 1), settings, tables))
    plain = [[*FORMAT.to_events(file, context=context)] for file in stored]

    def refuse(*arguments: object) -> object:
        raise AssertionError("the plain decoder was asked")

    monkeypatch.setattr(RowDecoder, "_plain_row", refuse)
    decoder = RowDecoder(Context(tables=tuple(tables)), settings)
    assert [decoder.decode_events(file) for file in stored] == plain


def test_every_change_is_a_row_with_its_operation() -> None:
    tables = workload_tables("orders-10")
    settings = read_settings({"date-separator": "none"})
    events = list(workload("orders-10", 200, 1))
    (file,) = messages_of(events, settings, tables)
    found = list(RowDecoder(Context(tables=tuple(tables)), settings).decode(file))
    ops = [event.op for event in events if isinstance(event, RowChange)]
    assert [change.op for change in found if isinstance(change, Row)] == ops


def test_small_files_are_read_by_the_plain_decoder_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "_PRICE_OF_A_COLUMN", 30)
    table = Table("t", "s", None, (Column("a", parse_kind("int32")),))
    decoder = RowDecoder(Context(tables=(table,)))
    file = StoredFile("x.csv", b'"I","t","s",1\r\n')
    kinds = [type(next(iter(decoder.decode(file)))) for _ in range(3)]
    assert kinds == [RowChange, Row, Row]


@pytest.mark.parametrize("text", [b"3.5e+38", b"3.5e+39", b"3.5e+388", b"-1e+400"])
def test_float_that_is_too_large_is_left_to_the_plain_decoder(
    monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    monkeypatch.setattr(fast, "_PRICE_OF_A_COLUMN", 0)
    context = Context(tables=(Table("t", "s", None, (Column("a", parse_kind("float32")),)),))
    decoder = RowDecoder(context)
    good = StoredFile("x.csv", b'"I","t","s",3.5e+08\r\n')
    assert type(next(iter(decoder.decode(good)))) is Row
    with pytest.raises(DecodeError, match="is too large"):
        list(decoder.decode(StoredFile("x.csv", good.value.replace(b"3.5e+08", text))))


def test_file_of_a_table_without_stored_columns_is_an_error_in_both_decoders() -> None:
    """Its bytes never matter: a line end alone, or fields that belong to no column."""
    virtual = replace(COLUMNS[0], roles=frozenset({"generated", "virtual"}))
    context = Context(tables=(Table("t", "s", None, (virtual,), ()),))
    for value in (b'"I","t","s"\r\n', b'"I","t","s",1\r\n', b'"I","t","s",\r\n'):
        file = StoredFile("s/t/1/2024-01-01/CDC000001.csv", value)
        with pytest.raises(DecodeError, match="no columns that records have") as plain:
            list(FORMAT.to_events(file, context=context))
        with pytest.raises(DecodeError) as found:
            list(FORMAT.decoder(context)(file))
        assert str(found.value) == str(plain.value)


def test_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "_MAX_PLAN_COLUMNS", 20)
    tables = [Table(f"t{n}", "s", None, (Column("a", parse_kind("int32")),)) for n in range(40)]
    decoder = RowDecoder(Context(tables=tuple(tables)))
    for table in tables:
        decoder.decode_events(StoredFile("x.csv", f'"I","{table.name}","s",1\r\n'.encode()))
    assert len(decoder._plans) <= 10
