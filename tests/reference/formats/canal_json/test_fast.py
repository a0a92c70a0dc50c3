"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.rows import Row
from cdcwire.formats.canal_json import Settings, fast, from_event, to_files
from cdcwire.formats.canal_json.batching import messages_of
from cdcwire.formats.canal_json.columns import Definitions
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.fast import RowDecoder
from cdcwire.formats.canal_json.files import read_file
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.wire import read_message, write_object
from cdcwire.model.events import Event, Table
from cdcwire.model.kinds import Column
from cdcwire.model.text import event_to_json
from cdcwire.mysql.declared import parse_declared, type_of_declared
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

TYPES = (
    *("tinyint", "tinyint unsigned", "int(11)", "bigint unsigned", "mediumint", "year", "bit"),
    *("bit(3)", "float", "double", "decimal", "decimal(5,2)", "date", "time", "time(3)"),
    *("datetime", "datetime(6)", "timestamp", "char", "text", "blob", "binary(3)", "enum", "json"),
    *("enum('a','b')", "set", "set('x','y','z')", "vector", "geometry"),
)
NAMES = (*(f"c{index}" for index in range(len(TYPES) - 3)), "é<", '"', "es")
TABLE = Table(
    "t",
    "s",
    columns=tuple(
        Column(name, type_of_declared(parse_declared(declared)), declared, index % 2 == 0)
        for index, (name, declared) in enumerate(zip(NAMES, TYPES, strict=True))
    ),
    key=("c0",),
    version=5,
)
SELECTIONS = {
    "everything": EVERYTHING,
    "columns": Selection(columns=frozenset({"id", "c1", "c5", "c20", "é<"})),
    "another table": Selection(tables=frozenset({("s", "u")})),
}
SETTINGS = {
    "plain": Settings(),
    "changed columns": Settings(only_updated_columns=True, delete_only_handle_key=True),
    "zone": Settings(time_zone="+08:00", terminator=b"\n"),
    "words between": Settings(terminator=b"END"),
}
each_selection = pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
each_setting = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
many = settings(deadline=None, suppress_health_check=list(HealthCheck))

GOOD = {
    "tinyint": ("-128", "127", "0"),
    "tinyint unsigned": ("255", "0"),
    "int(11)": ("-2147483648", "2147483647", "7"),
    "bigint unsigned": ("18446744073709551615", "0"),
    "mediumint": ("8388607", "-8388608"),
    "year": ("0", "1901", "2155"),
    "bit": ("18446744073709551615", "1"),
    "bit(3)": ("7", "0"),
    "float": ("1.5", "-0", "16777217", "7.038531e-26", "34028235" + "0" * 31),
    "double": ("0.1", "-0", "1e300", "0.0000001"),
    "decimal": ("-0.0100", "9" * 40),
    "decimal(5,2)": ("123.45", "-0.10", "7"),
    "date": ("0000-00-00", "2024-02-30"),
    "time": ("-838:59:59", "00:00:00.5"),
    "time(3)": ("01:02:03.400",),
    "datetime": ("2024-01-02 03:04:05", "2024-01-02 03:04:05.1"),
    "datetime(6)": ("2024-01-02 03:04:05.000001",),
    "timestamp": ("1970-01-01 00:00:00", "0000-00-00 00:00:00"),
    "char": ("", "null", 'é<&>"\\\u2028\x00\x7f', "😀", "\ufffd"),
    "text": ("x" * 40, '"},{"data"'),
    "blob": ("", "".join(map(chr, range(256)))),
    "binary(3)": ("ÿ\x00\\",),
    "enum": ("0", "1", "65535"),
    "json": ('{"a": 1}', "[]", '"'),
    "enum('a','b')": ("1", "2", "3"),
    "set": ("0", "18446744073709551615"),
    "set('x','y','z')": ("7",),
    "vector": ("[]", "[1,-2.5]"),
    "geometry": ("anything",),
}
BAD = ("", "x", "-1", "00", "+1", "1.0", "256", "8", "9" * 30, "1e999", "Ā", "839:00:00", "[1 ]")


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """Messages of one table, most of them as the producer writes them."""
    some = draw(st.integers(0, 3)) == 0  # whether something is not as usual
    places = range(len(NAMES))
    if draw(st.booleans()):
        places = range(draw(st.integers(0, 2)), draw(st.integers(3, len(NAMES))))
    members = _members(draw, list(places), some)
    separators = (", ", ": ") if some and draw(st.booleans()) else (",", ":")
    text = json.dumps(members, ensure_ascii=draw(st.booleans()), separators=separators)
    if some:
        text = draw(st.sampled_from(["", " ", "\n"])) + text
        text += draw(st.sampled_from(["", "\r\n", " ", "x", "{}"]))
    return text.encode()


def _members(draw: st.DrawFn, places: list[int], some: bool) -> dict[str, Any]:
    kind = draw(st.sampled_from(["INSERT", "UPDATE", "DELETE", "TIDB_WATERMARK"][: 3 + some]))
    columns = [(NAMES[place], TYPES[place]) for place in places]
    mysql_type = dict(draw(st.permutations(columns)))
    data: Any = [_row(draw, columns, some)]
    old: Any = None
    if kind == "UPDATE":
        names = draw(st.sets(st.sampled_from(columns))) if draw(st.booleans()) else set(columns)
        row = [each for each in columns if each in names]
        old = [_row(draw, row, some, data[0])]
    members = {
        "id": 0,
        "database": "s",
        "table": draw(st.sampled_from(["t", "u", "t<"])),
        "pkNames": draw(st.sampled_from([["c0"], [], None])),
        "isDdl": False,
        "type": kind,
        "es": draw(st.sampled_from([0, 1683614201188, 10**18])),
        "ts": 1795247425015,
        "sql": "",
        "sqlType": {name: draw(st.sampled_from([4, -5, 0])) for name, _ in columns},
        "mysqlType": mysql_type,
        "old": old,
        "data": data,
    }
    if draw(st.booleans()):
        members["_tidb"] = {"commitTs": draw(st.sampled_from([0, 7, 2**64 - 1]))}
    if some:
        _change(draw, members)
    return members


def _row(
    draw: st.DrawFn,
    columns: Iterable[tuple[str, str]],
    some: bool,
    new: dict[str, str | None] | None = None,
) -> dict[str, str | None]:
    row = {}
    for name, declared in columns:
        texts = (*GOOD[declared], *BAD) if some else GOOD[declared]
        row[name] = draw(st.sampled_from((*texts, None)))
        if new is not None and draw(st.booleans()):
            row[name] = new[name]
    return row


def _change(draw: st.DrawFn, members: dict[str, Any]) -> None:
    """Make one message unusual or wrong."""
    name, value = draw(
        st.sampled_from(
            [
                ("id", 1),
                ("pkNames", ["c0", "c0"]),
                ("isDdl", True),
                ("type", "UPSERT"),
                ("es", -1),
                ("es", 2**63),
                ("ts", 1.5),
                ("sql", None),
                ("sqlType", None),
                ("sqlType", {"c0": 4}),
                ("mysqlType", {"c0": "int"}),
                ("mysqlType", {}),
                ("old", [None]),
                ("old", [{}]),
                ("old", [{"c0": "1", "zz": "1"}]),
                ("data", []),
                ("data", None),
                ("data", [{}]),
                ("_tidb", {"commitTs": 2**64}),
                ("_tidb", {"commitTs": 1, "onlyHandleKey": True}),
                ("_tidb", {"commitTs": 1, "claimCheckLocation": "x"}),
                ("_tidb", {"commitTs": 1, "rowkey": "AAE="}),
                ("_tidb", None),
                ("gtid", "g"),
                ("new", [{"es": 1}]),
            ]
        )
    )
    members[name] = value
    if draw(st.booleans()):
        members["data"] = (members["data"] or []) * 2
    if draw(st.integers(0, 4)) == 0:
        del members[draw(st.sampled_from(sorted(members)))]


def decoder(
    selection: Selection = EVERYTHING,
    setting: Settings = SETTINGS["plain"],
    tables: tuple[Table, ...] = (),
) -> RowDecoder:
    """Return a decoder that has earned all patterns that it may need."""
    made = RowDecoder(Context(selection=selection, tables=tables), setting)
    made._credit.earn(1 << 30)
    return made


def outcome(decoded: Callable[[], Iterable[Row | Event]]) -> object:
    """Return events in their text form, those before an error too, and all that an error says."""
    found: list[object] = []
    try:
        for each in decoded():
            found.append(event_to_json(each.to_event() if isinstance(each, Row) else each))
    except DecodeError as error:
        found.append((type(error), error.problem, error.offset, error.path, error.clause))
    return found


def assert_same(value: bytes | None, each: RowDecoder) -> None:
    def plain() -> list[Event]:
        definitions = Definitions(each.tables)
        message = read_message(value, None, each.selection, definitions)
        if message is None:
            return []
        return events_of(message, each.settings, selection=each.selection, definitions=definitions)

    assert outcome(lambda: each.decode(KafkaMessage(None, value))) == outcome(plain)


def assert_same_file(file: StoredFile, each: RowDecoder) -> None:
    assert outcome(lambda: each.decode(file)) == outcome(
        lambda: read_file(file, each.settings, each.tables, each.selection)
    )


def feed(name: str, setting: Settings, *, shuffled: bool) -> list[bytes]:
    """Return a workload; ``shuffled``: with ``mysqlType`` as the producer has it."""
    images = ImageWriter(setting, workload_tables(name))
    chance = random.Random(1)
    values = []
    for event in workload(name, 40, 1):
        message = from_event(event, setting, images)
        if shuffled and message.mysql_type:
            types = list(message.mysql_type)
            chance.shuffle(types)
            message = replace(message, mysql_type=tuple(types))
        values.append(write_object(message))
    return values


EXTENDED = Settings(tidb_extension=True)
FEEDS = {
    f"{name}{' shuffled' if shuffled else ''}": feed(name, EXTENDED, shuffled=shuffled)
    for name in WORKLOAD_NAMES
    for shuffled in (False, True)
}


@pytest.fixture
def no_plain_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when the fast way is left."""

    def refuse(*arguments: object) -> object:
        raise AssertionError("the plain decoder was asked")

    monkeypatch.setattr(fast, "read_message", refuse)
    monkeypatch.setattr(fast, "read_line", refuse)


@pytest.mark.parametrize("name", FEEDS)
def test_a_workload_is_read_as_the_plain_decoder_reads_it(name: str) -> None:
    each = decoder()
    for value in FEEDS[name]:
        assert_same(value, each)


@pytest.mark.parametrize("name", FEEDS)
@pytest.mark.usefixtures("no_plain_decoder")
def test_a_workload_never_needs_the_plain_decoder(name: str) -> None:
    each = decoder()
    for value in FEEDS[name]:
        (row,) = each.decode(KafkaMessage(None, value))
        assert isinstance(row, Row)


@pytest.mark.usefixtures("no_plain_decoder")
def test_changed_columns_only_never_need_the_plain_decoder() -> None:
    setting = replace(EXTENDED, content_compatible=True)
    name = WORKLOAD_NAMES[0]
    each = decoder(setting=setting)
    for value in feed(name, setting, shuffled=True):
        (row,) = each.decode(KafkaMessage(None, value))
        assert isinstance(row, Row)


@pytest.mark.usefixtures("no_plain_decoder")
def test_files_of_a_workload_never_need_the_plain_decoder() -> None:
    name = WORKLOAD_NAMES[0]
    each = decoder(setting=EXTENDED)
    files = list(to_files(workload(name, 40, 1), EXTENDED, workload_tables(name)))
    assert sum(len(list(each.decode(file))) for file in files) == 40


@pytest.mark.usefixtures("no_plain_decoder")
def test_every_type_is_read_in_the_fast_way() -> None:
    each = decoder()
    for turn in range(max(map(len, GOOD.values()))):
        texts = [GOOD[declared][turn % len(GOOD[declared])] for declared in TYPES]
        members = {
            "id": 0,
            "database": "s",
            "table": "t",
            "pkNames": [],
            "isDdl": False,
            "type": "INSERT",
            "es": 1,
            "ts": 2,
            "sql": "",
            "sqlType": dict.fromkeys(NAMES, 4),
            "mysqlType": dict(zip(NAMES, TYPES, strict=True)),
            "old": None,
            "data": [dict(zip(NAMES, texts, strict=True))],
        }
        text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
        sent = text.replace("<", "\\u003c").replace("&", "\\u0026").encode()
        (row,) = each.decode(KafkaMessage(None, sent))
        assert isinstance(row, Row)


@each_selection
@each_setting
@many
@given(data=st.data())
def test_any_message_is_read_as_the_plain_decoder_reads_it(
    data: st.DataObject, setting: Settings, selection: Selection
) -> None:
    tables = (TABLE,) if data.draw(st.booleans()) else ()
    each = decoder(selection, setting, tables)
    for value in data.draw(st.lists(messages(), min_size=1, max_size=4)):
        assert_same(value, each)
        assert_same(value, each)  # now that it has learned from it


@each_setting
@many
@given(data=st.data())
def test_any_damaged_message_is_refused_in_the_same_words(
    data: st.DataObject, setting: Settings
) -> None:
    each = decoder(setting=setting)
    value = data.draw(messages())
    assert_same(value, each)
    for _ in range(4):
        assert_same(data.draw(damaged_bytes(value)), each)


@pytest.mark.parametrize("path", ["data.json", "s/t/5/CDC000001.json", "s/u/7/CDC000001.json"])
@each_setting
@many
@given(data=st.data())
def test_any_file_is_read_as_the_plain_decoder_reads_it(
    data: st.DataObject, setting: Settings, path: str
) -> None:
    setting = replace(setting, layout=replace(setting.layout, date_separator="none"))
    rows = data.draw(st.lists(messages(), min_size=1, max_size=4))
    content = b"".join(row + setting.terminator for row in rows)
    each = decoder(setting=setting, tables=(TABLE, replace(TABLE, version=7)))
    assert_same_file(StoredFile(path, content), each)
    for _ in range(3):
        damaged = data.draw(damaged_bytes(content))
        assert_same_file(StoredFile(path, damaged), each)


def test_every_truncation_is_refused_in_the_same_words() -> None:
    each = decoder()
    value = FEEDS[WORKLOAD_NAMES[0]][0]
    for cut in range(len(value)):
        assert_same(value[:cut], each)


ODD = {
    "space before the object in a file": (b" ", b""),
    "space behind the object in a file": (b"", b" "),
    "nothing": (b"\r\n", b""),
}


@pytest.mark.parametrize(("before", "behind"), ODD.values(), ids=ODD)
def test_white_space_around_rows_of_a_file_is_refused(before: bytes, behind: bytes) -> None:
    value = FEEDS[WORKLOAD_NAMES[0]][0]
    each = decoder()
    file = StoredFile("a.json", before + value + behind + b"\r\n")
    assert_same_file(file, each)
    with pytest.raises(DecodeError):
        list(each.decode(file))


@pytest.mark.parametrize("value", [None, b"", b"{}", b"null"])
def test_message_that_is_no_row_is_given_to_the_plain_decoder(value: bytes | None) -> None:
    assert_same(value, decoder())


def test_row_tells_its_times_and_survives_pickling() -> None:
    value = FEEDS[WORKLOAD_NAMES[0]][0]
    (row,) = decoder().decode(KafkaMessage(None, value))
    assert isinstance(row, Row)
    again = pickle.loads(pickle.dumps(row))
    assert (type(again), again.to_event()) == (type(row), row.to_event())
    found = json.loads(value)
    assert (again.commit_ms, again.sent_ms) == (found["es"], found["ts"])


def test_what_is_learned_is_bounded_whatever_the_messages_hold() -> None:
    each = decoder()
    template = FEEDS[WORKLOAD_NAMES[0]][0]
    table = json.loads(template)["table"].encode()
    for index in range(1200):
        other = template.replace(b'"%s"' % table, b'"%d%s"' % (index, b"t" * 1000), 1)
        each.decode(KafkaMessage(None, other))
    assert each._subjects.weight <= fast._MAX_WEIGHT
    assert len(each._subjects) < 1200


def test_events_of_a_queue_are_those_of_its_messages() -> None:
    name = WORKLOAD_NAMES[0]
    each = decoder(setting=EXTENDED)
    sent = list(messages_of(workload(name, 10, 1), EXTENDED, workload_tables(name)))
    values = [message.value for message in sent if isinstance(message, KafkaMessage)]
    found = [event for value in values for event in each.decode_events(KafkaMessage(None, value))]
    assert len(found) == 10
