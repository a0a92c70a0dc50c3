"""Every MySQL type at its borders: the last text that it takes, and the first that it does not."""

from __future__ import annotations

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.csv import FORMAT, read_settings
from cdcwire.formats.csv import fast as fast_module
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire.mysql.declared import parse_declared, type_of_declared

HEX: dict[str, OptionValue] = {"binary-encoding-method": "hex"}

# declared type: texts that it takes, texts that it does not
NUMBERS: dict[str, tuple[list[str], list[str]]] = {
    "tinyint": (["-128", "127", "0"], ["-129", "128", "-0", "00", "+1", "1.0", "0x1", " 1", "1 "]),
    "tinyint unsigned": (["0", "255"], ["256", "-1"]),
    "tinyint(1)": (["1", "0", "-128", "127"], ["true", "128"]),
    "smallint": (["-32768", "32767"], ["-32769", "32768"]),
    "smallint unsigned": (["65535"], ["65536", "-1"]),
    "mediumint": (["-8388608", "8388607"], ["-8388609", "8388608"]),
    "mediumint unsigned": (["16777215"], ["16777216", "-1"]),
    "int": (["-2147483648", "2147483647"], ["-2147483649", "2147483648"]),
    "int unsigned zerofill": (["4294967295"], ["4294967296", "-1", "0000000001"]),
    "bigint": (
        ["-9223372036854775808", "9223372036854775807"],
        ["-9223372036854775809", "9223372036854775808", "9" * 5000],
    ),
    "bigint unsigned": (["18446744073709551615"], ["18446744073709551616", "-1", "1" + "0" * 20]),
    "bit(1)": (["0", "1"], ["2", "-1", "b'1'", "true"]),
    "bit(63)": (["9223372036854775807"], ["9223372036854775808"]),
    "bit(64)": (["18446744073709551615"], ["18446744073709551616"]),
    "year": (["0", "1901", "2155"], ["1900", "2156", "70", "0000", "-2022", "20220"]),
    "float": (
        ["3.4028235e+38", "-3.4028235e+38", "1e-45", "-0", "0.00024414063", "1.2621775e-29"],
        ["3.5e+38", "NaN", "+Inf", "1e", ".5", "1.", "e1", "1e+9999", "1;5", "1_0", ""],
    ),
    "double": (
        ["1.7976931348623157e+308", "5e-324", "9.007199254740992e+15", "1e+06", "999999"],
        ["1.8e+308", "-Infinity", "nan", "0x1p3", "1" * 513],
    ),
}
STRINGS: dict[str, tuple[list[str], list[str]]] = {
    "decimal(1,0)": (["9", "-9", "0", "-0"], ["10", "0.1", "+1", "01", "1e0", "", ".", "1."]),
    "decimal(1,1)": (["0.9", "-0.9"], ["1.0", "0.99", ".9"]),
    "decimal(5,2)": (["999.99", "-999.99", "0.00"], ["1000.00", "0.001", "NaN", "1,00"]),
    "decimal(65,30)": (["9" * 35 + "." + "9" * 30], ["9" * 36 + "." + "9" * 30, "9" * 9999]),
    "date": (
        ["0000-00-00", "9999-12-31", "2022-00-00", "0001-01-01"],
        ["2022-13-01", "2022-01-32", "10000-01-01", "2022-1-1", "20220101", "-001-01-01", ""],
    ),
    # Without digits in brackets nobody says how many there are.
    "time": (["12:00:00", "12:00:00.123456"], ["12:00:00.1234567", "12:00:00."]),
    "time(0)": (
        ["838:59:59", "-838:59:59", "00:00:00", "-00:00:01"],
        ["839:00:00", "838:60:00", "838:59:60", "1:00:00", "12:00", "12:00:00.0", "+12:00:00"],
    ),
    "time(6)": (
        ["838:59:59.000000", "-12:00:00.000001"],
        ["838:59:59.000001", "12:00:00", "12:00:00.00000", "12:00:00.0000000"],
    ),
    "datetime": (["2022-01-02 03:04:05", "2022-01-02 03:04:05.1"], ["2022-01-02 03:04:05."]),
    "datetime(0)": (
        ["0000-00-00 00:00:00", "9999-12-31 23:59:59"],
        ["2022-01-02 24:00:00", "2022-01-02T00:00:00", "2022-01-02 00:00:00.0", "2022-01-02"],
    ),
    **{
        f"{kind}({digits})": (
            ["2022-01-02 03:04:05." + "9" * digits],
            ["2022-01-02 03:04:05." + "9" * (digits + 1), "2022-01-02 03:04:05"],
        )
        for kind in ("datetime", "timestamp")
        for digits in range(1, 7)
    },
    "timestamp": (
        ["1970-01-01 00:00:01", "2038-01-19 03:14:07"],
        ["2022-01-02 03:04:05Z", "2022-01-02 03:04:05+00:00"],
    ),
    "char(3)": (["", "abc", "a\tb\0", "\U0001f600", "\\N", "NULL"], []),
    "longtext": (["x" * 9999, "\r\n", '"', "\\", ","], []),
    "binary(2)": (["AAA=", "//8="], ["AAA", "AA=", "AAB=", "A A=", "AAA=\n", "_w==", "==", "*"]),
    "varbinary(9)": (["", "/w=="], ["/w", "/x==", "=", "/w===", "/w==/w=="]),
    "longblob": (["QUJD" * 999], ["QUJD" * 999 + "Q"]),
    "json": (["null", "{}", '{"a": "\\u0000"}', "0"], [""]),
    "enum('a','b,c','')": (["a", "b,c", ""], ["b", "A", "1", "a "]),
    "set('a','b','c')": (["", "a", "a,c", "a,b,c"], ["c,a", "a,a", "a,", ",", "d", "7"]),
}
IN_HEX: dict[str, tuple[list[str], list[str]]] = {
    "blob": (["", "00", "ff" * 999], ["FF", "f", "fff", "0xff", "f f", "fg", "\uff11\uff11"])
}


@pytest.fixture(autouse=True)
def _patterns_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read even the smallest file in the fast way."""
    monkeypatch.setattr(fast_module, "_PRICE_OF_A_COLUMN", 0)


def cases(is_taken: bool) -> list[tuple[str, bytes, dict[str, OptionValue]]]:
    found: list[tuple[str, bytes, dict[str, OptionValue]]] = []
    for source, texts in NUMBERS.items():
        found += ((source, text.encode(), {}) for text in texts[not is_taken])
    for table, options in ((STRINGS, {}), (IN_HEX, HEX)):
        for source, texts in table.items():
            for text in texts[not is_taken]:
                found.append((source, b'"%s"' % text.replace('"', '""').encode(), options))
    return found


def table_of(source: str) -> Table:
    column = Column("c", type_of_declared(parse_declared(source)), source, True)
    return Table("t", "s", None, (column,), ())


@pytest.mark.parametrize(
    ("source", "field", "options"), cases(True), ids=lambda each: str(each)[:40]
)
def test_last_text_of_a_type_is_read_and_written_the_same(
    source: str, field: bytes, options: dict[str, OptionValue]
) -> None:
    table, value = table_of(source), b'"I","t","s",' + field + b"\r\n"
    found = list(FORMAT.to_events(StoredFile("x.csv", value), context=Context(options, (table,))))
    settings = read_settings(options)
    decoder = RowDecoder(Context(tables=(table,)), settings)
    assert decoder.decode_events(StoredFile("x.csv", value)) == found
    (file,) = messages_of(found, settings, [table])
    assert file.value == value


@pytest.mark.parametrize(
    ("source", "field", "options"), cases(False), ids=lambda each: str(each)[:40]
)
def test_first_text_beyond_a_type_is_refused_at_its_byte(
    source: str, field: bytes, options: dict[str, OptionValue]
) -> None:
    file = StoredFile("x.csv", b'"I","t","s",' + field + b"\r\n")
    table = table_of(source)
    decoder = RowDecoder(Context(options, (table,)))
    plain = FORMAT.to_events(file, context=Context(options, (table,)))
    for events in (plain, decoder.decode(file)):
        with pytest.raises(DecodeError) as caught:
            list(events)
        assert (caught.value.offset, caught.value.path) == (12, ("records", 0, "columns", "c"))
        assert caught.value.clause.endswith(" values")
        assert len(caught.value.problem) < 400


@pytest.mark.parametrize("source", [*NUMBERS, *STRINGS])
def test_every_type_may_be_null(source: str) -> None:
    table = table_of(source)
    value = b'"D","t","s",\\N\r\n'
    (found,) = FORMAT.to_events(StoredFile("x.csv", value), context=Context({}, (table,)))
    assert isinstance(found, RowChange)
    assert found.before is not None
    assert found.before.values == (None,)
    (file,) = messages_of([found], tables=[table])
    assert file.value == value


def test_decimal_is_written_with_all_digits_of_its_scale() -> None:
    table = table_of("decimal(10,4)")
    value = b'"I","t","s","1.5"\r\n'
    found: list[Event] = list(
        FORMAT.to_events(StoredFile("x.csv", value), context=Context({}, (table,)))
    )
    (file,) = messages_of(found, tables=[table])
    assert file.value == b'"I","t","s","1.5000"\r\n'
