"""A table with every MySQL type, under nine settings: events to bytes worked out by hand, and back.

The expected bytes come from the texts below and a small assembler of this file, not from the codec.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.csv import FORMAT, Settings, explain
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.events import events_of
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.formats.csv.settings import read_settings
from cdcwire.formats.csv.wire import read_file, write_file
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire.model.steps import join_halves
from cdcwire.mysql.declared import parse_declared, type_of_declared


class Cell(NamedTuple):
    """A column, two values of it, and their texts. ``is_bare``: never quoted."""

    name: str
    source: str
    is_bare: bool
    values: tuple[Any, Any]
    texts: tuple[str | bytes, str | bytes]
    hexes: tuple[str, str] = ("", "")  # of binary columns, instead of base64


CELLS = (
    Cell("id", "bigint unsigned", True, (1, 2**64 - 1), ("1", "18446744073709551615")),
    Cell("c_bool", "tinyint(1)", True, (1, 0), ("1", "0")),
    Cell("c_tiny", "tinyint", True, (-128, 127), ("-128", "127")),
    Cell("c_utiny", "tinyint unsigned", True, (0, 255), ("0", "255")),
    Cell("c_small", "smallint", True, (-32768, 32767), ("-32768", "32767")),
    Cell("c_medium", "mediumint", True, (-8388608, 8388607), ("-8388608", "8388607")),
    Cell("c_int", "int", True, (-(2**31), 2**31 - 1), ("-2147483648", "2147483647")),
    Cell("c_big", "bigint", True, (-(2**63), 0), ("-9223372036854775808", "0")),
    Cell("c_bit", "bit(64)", True, (2**64 - 1, 81), ("18446744073709551615", "81")),
    Cell("c_year", "year", True, (0, 2155), ("0", "2155")),
    Cell("c_float", "float", True, (1209169.75, 2.0**-12), ("1.2091698e+06", "0.00024414063")),
    Cell("c_double", "double", True, (123456.79, -1e-05), ("123456.79", "-1e-05")),
    Cell("c_huge", "double", True, (5e-324, 1e20), ("5e-324", "1e+20")),
    Cell(
        "c_decimal",
        "decimal(10,4)",
        False,
        (Decimal("129012.1230"), Decimal("-0.0001")),
        ("129012.1230", "-0.0001"),
    ),
    Cell("c_date", "date", False, ("2022-01-02", "0000-00-00"), ("2022-01-02", "0000-00-00")),
    Cell("c_time", "time", False, ("-838:59:59", "00:00:00"), ("-838:59:59", "00:00:00")),
    Cell("c_time6", "time(6)", False, ("12:00:00.000001",) * 2, ("12:00:00.000001",) * 2),
    Cell("c_dt", "datetime", False, ("2022-01-02 23:59:59",) * 2, ("2022-01-02 23:59:59",) * 2),
    Cell(
        "c_dt3",
        "datetime(3)",
        False,
        ("2022-01-02 23:59:59.120",) * 2,
        ("2022-01-02 23:59:59.120",) * 2,
    ),
    Cell("c_ts", "timestamp", False, ("1970-01-01 00:00:01",) * 2, ("1970-01-01 00:00:01",) * 2),
    Cell("c_char", "char(5)", False, ("", "NUL"), ("", "NUL")),
    Cell(
        "c_varchar",
        "varchar(99)",
        False,
        ("a,b|+|c\td'\"e\\f\r\ng\0h", "\u00a7\u4e2d\U0001f600"),
        ("a,b|+|c\td'\"e\\f\r\ng\0h", "\u00a7\u4e2d\U0001f600"),
    ),
    Cell("c_text", "text", False, (b"ill \xff\xfe,", "\\n"), (b"ill \xff\xfe,", "\\n")),
    Cell(
        "c_binary",
        "binary(4)",
        False,
        (b"a\0\0\0", b"\0" * 4),
        ("YQAAAA==", "AAAAAA=="),
        ("61000000", "00000000"),
    ),
    Cell("c_varbinary", "varbinary(9)", False, (b"\xff\x00", b""), ("/wA=", ""), ("ff00", "")),
    Cell("c_blob", "blob", False, (b"NULL", b"\\N"), ("TlVMTA==", "XE4="), ("4e554c4c", "5c4e")),
    Cell("c_enum", "enum('a','b,c','')", False, ("b,c", "a"), ("b,c", "a")),
    Cell("c_set", "set('a','b','c')", False, ("a,c", ""), ("a,c", "")),
    Cell("c_json", "json", False, ('{"a": [1, "x\\"y"]}', "null"), ('{"a": [1, "x\\"y"]}', "null")),
)
_KEY: frozenset[Any] = frozenset({"primary", "handle"})
COLUMNS = tuple(
    Column(
        cell.name,
        type_of_declared(parse_declared(cell.source)),
        cell.source,
        cell.name != "id",
        roles=_KEY if cell.name == "id" else frozenset(),
    )
    for cell in CELLS
)
TABLE = Table("every", "test", None, COLUMNS, ("id",), 441349361156227074)

SETTINGS: dict[str, dict[str, OptionValue]] = {
    "defaults": {},
    "documented": {"include-commit-ts": True, "terminator": "\n"},
    "old value, hex": {
        "binary-encoding-method": "hex",
        "include-commit-ts": True,
        "output-old-value": True,
        "terminator": "\n",
    },
    "no quote": {"quote": "", "include-commit-ts": True, "terminator": "\n"},
    "no quote, three characters": {
        "binary-encoding-method": "hex",
        "delimiter": "|+|",
        "include-commit-ts": True,
        "null": "NULL",
        "output-old-value": True,
        "quote": "",
    },
    "tab, single quote, header": {
        "delimiter": "\t",
        "null": "",
        "output-field-header": True,
        "quote": "'",
        "terminator": "\n",
    },
    "header, old value": {
        "include-commit-ts": True,
        "null": "NULL",
        "output-field-header": True,
        "output-old-value": True,
        "terminator": "\n",
    },
    "handle key": {
        "include-commit-ts": True,
        "output-handle-key": True,
        "output-old-value": True,
        "terminator": "\n",
    },
    "no quote, empty null": {"delimiter": "|", "null": "", "quote": "", "terminator": "\n"},
}
each_settings = pytest.mark.parametrize("name", SETTINGS)


def settings_of(name: str) -> Settings:
    return read_settings({**SETTINGS[name], "date-separator": "none"})


def image(row: int | None, key: int = 0) -> Image:
    """Return a row: the first or second values, or NULL everywhere but in the key."""
    cells = [cell.values[row] if row is not None else None for cell in CELLS]
    if row is None:
        cells[0] = CELLS[0].values[key]
    return Image(COLUMNS, tuple(cells))


EVENTS: list[Event] = [
    RowChange(TABLE, "insert", None, image(0), Position(11)),
    RowChange(TABLE, "update", image(0), image(None), Position(12)),
    RowChange(TABLE, "delete", image(1), None, Position(12)),
]
# operation, is-update, handle key, commit-ts, row
RECORDS_WITH_OLD: list[tuple[str, bool, int, int, int | None]] = [
    ("I", False, 1, 11, 0),
    ("D", True, 1, 12, 0),
    ("I", True, 1, 12, None),
    ("D", False, -1, 12, 1),
]
RECORDS: list[tuple[str, bool, int, int, int | None]] = [
    ("I", False, 1, 11, 0),
    ("U", True, 1, 12, None),
    ("D", False, -1, 12, 1),
]


def string(text: str | bytes, options: dict[str, OptionValue]) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    quote = str(options.get("quote", '"')).encode()
    if quote:
        return quote + raw.replace(quote, quote * 2) + quote
    delimiter = str(options.get("delimiter", ",")).encode()
    raw = raw.replace(b"\\", b"\\\\").replace(b"\r", b"\\r").replace(b"\n", b"\\n")
    return raw.replace(delimiter, b"".join(b"\\" + bytes((byte,)) for byte in delimiter))


def assembled(name: str) -> bytes:
    options = SETTINGS[name]
    delimiter = str(options.get("delimiter", ",")).encode()
    terminator = str(options.get("terminator", "\r\n")).encode()
    null = str(options.get("null", "\\N")).encode()
    is_hex = options.get("binary-encoding-method") == "hex"
    has_old = bool(options.get("output-old-value"))
    lines = []
    if options.get("output-field-header"):
        names = ["ticdc-meta$operation", "ticdc-meta$table", "ticdc-meta$schema"]
        names += ["ticdc-meta$commit-ts"] if options.get("include-commit-ts") else []
        names += ["ticdc-meta$is-update"] if has_old else []
        lines.append([part.encode() for part in (*names, *(cell.name for cell in CELLS))])
    for op, is_update, handle, commit_ts, row in RECORDS_WITH_OLD if has_old else RECORDS:
        line = [string(text, options) for text in (op, "every", "test")]
        line += [b"%d" % commit_ts] if options.get("include-commit-ts") else []
        line += [b"true" if is_update else b"false"] if has_old else []
        line += [string(str(handle), options)] if options.get("output-handle-key") else []
        for cell in CELLS:
            if row is None:
                line.append(b"1" if cell.name == "id" else null)
                continue
            text = cell.hexes[row] if is_hex and any(cell.hexes) else cell.texts[row]
            is_bare = cell.is_bare and isinstance(text, str)
            line.append(str(text).encode() if is_bare else string(text, options))
        lines.append(line)
    return b"".join(delimiter.join(line) + terminator for line in lines)


@each_settings
def test_events_are_written_as_worked_out(name: str) -> None:
    (file,) = messages_of(EVENTS, settings_of(name), [TABLE])
    assert file.path == "test/every/441349361156227074/CDC00000000000000000001.csv"
    assert file.value == assembled(name)


@each_settings
def test_wire_layer_is_lossless(name: str) -> None:
    value = assembled(name)
    assert write_file(read_file(value, settings_of(name)), settings_of(name)) == value


@each_settings
def test_bytes_are_read_as_the_events(name: str) -> None:
    settings = settings_of(name)
    found = list(join_halves(events_of(read_file(assembled(name), settings), TABLE, settings)))
    assert len(found) == len(EVENTS)
    is_empty = settings.null == b""
    for event, wanted in zip(found, EVENTS, strict=True):
        assert isinstance(event, RowChange)
        assert isinstance(wanted, RowChange)
        assert (event.op, event.table.name, event.table.key) == (wanted.op, "every", ("id",))
        for read, written in ((event.before, wanted.before), (event.after, wanted.after)):
            if written is wanted.before and wanted.op == "update" and not settings.output_old_value:
                assert read is None
                continue
            if read is None or written is None:
                assert read is written
                continue
            values = written.values
            if is_empty and not settings.quote:  # empty texts are ambiguous, and read as NULL
                values = tuple(None if value in ("", b"") else value for value in values)
            assert read.values == values
            assert list(map(type, read.values)) == list(map(type, values))


@each_settings
def test_ambiguous_null_is_marked(name: str) -> None:
    settings = settings_of(name)
    events = events_of(read_file(assembled(name), settings), TABLE, settings)
    marked = [event.extra.get("ambiguous_null") for event in events]
    strings = "c_char,c_varchar,c_text,c_binary,c_varbinary,c_blob,c_enum,c_set"
    if settings.quote or settings.null == b"\\N":
        assert set(marked) == {None}
    elif settings.null == b"NULL":
        assert marked == [None, None, f"{strings},c_json", None]
    else:
        assert marked == ["c_char", strings, "c_varbinary,c_set"]


@each_settings
def test_fast_decoder_gives_the_same_events(name: str) -> None:
    settings = settings_of(name)
    file = StoredFile(
        "x.csv", assembled(name) if settings.output_field_header else assembled(name) * 3
    )
    context = Context(options={**SETTINGS[name], "date-separator": "none"}, tables=(TABLE,))
    assert RowDecoder(context).decode_events(file) == list(FORMAT.to_events(file, context=context))


@each_settings
def test_every_byte_is_explained(name: str) -> None:
    context = Context(options={**SETTINGS[name], "date-separator": "none"}, tables=(TABLE,))
    found = explain(StoredFile("x.csv", assembled(name)), context=context)
    assert found.error is None
    ends = [0, *(span.end for span in found.spans)]
    assert [span.start for span in found.spans] == ends[:-1]
    assert ends[-1] == len(assembled(name))


def read_until_error(value: bytes, context: Context) -> tuple[list[Event], DecodeError | None]:
    events: list[Event] = []
    try:
        for event in FORMAT.to_events(StoredFile("x.csv", value), context=context):
            events.append(event)
    except DecodeError as error:
        return events, error
    return events, None


@each_settings
def test_every_cut_gives_the_whole_records_and_then_the_error(name: str) -> None:
    settings = settings_of(name)
    value = assembled(name)
    whole = read_file(value, settings)
    ends = {
        len(write_file(type(whole)(whole.records[:count], whole.header), settings)): count
        for count in range(5)
    }
    context = Context(options={**SETTINGS[name], "date-separator": "none"}, tables=(TABLE,))
    for cut in range(len(value)):
        if cut in ends or cut == 0:
            continue
        events, error = read_until_error(value[:cut], context)
        assert isinstance(error, TruncatedError), cut
        assert error.offset == cut
        assert len(events) == max((count for end, count in ends.items() if end < cut), default=0)
