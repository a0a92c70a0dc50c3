"""Options that a report proposes by the formats of both feeds: each works, and hides nothing."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Table
from cdcwire.model.kinds import ArrayType, BytesType, Column, IntType
from cdcwire.model.text import table_to_json
from cdcwire_conformance.cli import main

TYPES = {"id": "int", "a": "varchar(20)", "b": "varchar(20)"}
OLD = {"id": "1", "a": "x", "b": "y"}
NEW = {"id": "1", "a": "z", "b": "y"}


def written(folder: Path, messages: Sequence[Mapping[str, Any]], format_: str) -> str:
    folder.mkdir()
    lines = "".join(json.dumps(each) + "\n" for each in messages)
    (folder / "messages.jsonl").write_text(lines, "utf-8")
    return f"{format_}:file:{folder}"


def canal(
    new: Mapping[str, Any], old: Mapping[str, Any] | None, types: Mapping[str, str]
) -> dict[str, Any]:
    """Return a change as Canal sends it."""
    return {
        "id": 0,
        "database": "shop",
        "table": "t",
        "pkNames": ["id"],
        "isDdl": False,
        "es": 1,
        "ts": 1,
        "sql": "",
        "sqlType": dict.fromkeys(types, 12),
        "mysqlType": dict(types),
        "type": "UPDATE" if old else "INSERT",
        "data": [new],
        "old": [old] if old else None,
    }


def debezium(row: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return an insert as Debezium's MySQL connector sends it with schemas."""
    text = {"type": "string", "optional": True}
    image = [{"field": name, **each} for name, each in fields.items()]
    source = [{"field": name, **text} for name in ("version", "connector", "name", "db", "table")]
    source.append({"field": "ts_ms", "type": "int64", "optional": True})
    members = [
        {"field": "before", "type": "struct", "optional": True, "fields": image},
        {"field": "after", "type": "struct", "optional": True, "fields": image},
        {"field": "source", "type": "struct", "optional": False, "fields": source},
        {"field": "op", "type": "string", "optional": False},
    ]
    origin = {"version": "3.2.0.Final", "connector": "mysql", "name": "s"}
    payload = {"before": None, "after": row, "op": "c"}
    payload["source"] = {**origin, "db": "shop", "table": "t", "ts_ms": 1}
    return {"schema": {"type": "struct", "optional": False, "fields": members}, "payload": payload}


INT = {"type": "int32", "optional": False}
ZONED = {
    "type": "string",
    "optional": True,
    "name": "io.debezium.time.ZonedTimestamp",
    "version": 1,
}


def base64_text(value: bytes) -> str:
    return b64encode(value).decode()


def base64_for_urls(value: bytes) -> str:
    return urlsafe_b64encode(value).decode()


def compared(
    sides: Sequence[str], capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, str]:
    code = main(["compare", *sides, "--engine", "embedded", *options])
    return code, capsys.readouterr().out


def proposed(out: str) -> list[str]:
    """Return the words of all options that patterns propose."""
    found = dict.fromkeys(re.findall(r"accepted with (.*)", out))
    return [word for each in found for word in shlex.split(each)]


def test_old_values_of_changed_columns_only_propose_the_option_of_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = {"id": "1", "a": "z", "b": "w"}
    partial = [
        canal(OLD, None, TYPES),
        canal(NEW, {"a": "x"}, TYPES),
        canal(last, {"b": "y"}, TYPES),
    ]
    whole = [partial[0], canal(NEW, OLD, TYPES), canal(last, NEW, TYPES)]
    left = written(tmp_path / "a", partial, "canal-json")
    right = written(tmp_path / "b", whole, "canal-json")
    code, out = compared([left, right], capsys)
    assert code == 1
    assert proposed(out) == ["--left-option", "only-output-updated-columns=true"]
    assert compared([left, right], capsys, *proposed(out))[0] == 0
    code, out = compared([right, left], capsys)
    assert proposed(out) == ["--right-option", "only-output-updated-columns=true"]


def test_an_old_value_that_is_not_the_new_one_is_no_unchanged_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [
        written(tmp_path / "a", [canal(NEW, {"a": "x"}, TYPES)] * 2, "canal-json"),
        written(tmp_path / "b", [canal(NEW, {**OLD, "b": "other"}, TYPES)] * 2, "canal-json"),
    ]
    code, out = compared(sides, capsys)
    assert code == 1
    assert "b: absent on the left, a value on the right\n    id=1:" in out
    code, out = compared(sides, capsys, *proposed(out))
    assert code == 1
    assert '"other"' in out


def test_a_constant_shift_proposes_the_zone_that_one_side_does_not_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local = [
        canal({"id": str(n), "a": f"2024-01-0{n} 05:30:00"}, None, {"id": "int", "a": "timestamp"})
        for n in (1, 2)
    ]
    utc = [
        debezium({"id": n, "a": f"2024-01-0{n}T00:00:00Z"}, {"id": INT, "a": ZONED}) for n in (1, 2)
    ]
    left = written(tmp_path / "a", local, "canal-json")
    right = written(tmp_path / "b", utc, "debezium-json")
    for sides in ([left, right], [right, left]):
        code, out = compared(sides, capsys)
        assert code == 1
        assert proposed(out) == ["--time-zone", "+05:30"]
        assert compared(sides, capsys, *proposed(out))[0] == 0
    utc[1] = debezium({"id": 2, "a": "2024-01-02T00:00:00.5Z"}, {"id": INT, "a": ZONED})
    sides = [left, written(tmp_path / "c", utc, "debezium-json")]
    code, out = compared(sides, capsys)
    assert proposed(out) == []
    assert compared(sides, capsys, "--time-zone", "+05:30")[0] == 1


def test_a_constant_shift_proposes_both_zones_where_no_side_says_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    types = {"id": "int", "a": "timestamp"}
    sides = [
        written(
            tmp_path / name,
            [canal({"id": str(n), "a": f"2024-01-0{n} {hour}:00:00"}, None, types) for n in (1, 2)],
            "canal-json",
        )
        for name, hour in (("a", "10"), ("b", "18"))
    ]
    code, out = compared(sides, capsys)
    assert code == 1
    options = ["--left-option", "time-zone=-08:00", "--right-option", "time-zone=+00:00"]
    assert proposed(out) == options
    assert compared(sides, capsys, *options)[0] == 0


def test_two_shifts_propose_no_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    types = {"id": "int", "a": "timestamp"}
    times = {"a": ("2024-01-01 11:00:00", "2024-07-01 12:00:00")}
    times["b"] = ("2024-01-01 10:00:00", "2024-07-01 10:00:00")
    sides = [
        written(
            tmp_path / name,
            [canal({"id": str(n), "a": time}, None, types) for n, time in enumerate(each)],
            "canal-json",
        )
        for name, each in times.items()
    ]
    code, out = compared(sides, capsys)
    assert code == 1
    assert "later by 1 h on the left" in out
    assert proposed(out) == []


@pytest.mark.parametrize("form", ["hex", "base64"])
def test_bytes_in_a_text_form_propose_the_option_that_reads_them(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def text(value: bytes) -> str:
        return value.hex() if form == "hex" else b64encode(value).decode()

    values = [bytes([0, 255, 254, 1]), b"61", b""]
    string, raw = ({"type": kind, "optional": True} for kind in ("string", "bytes"))
    whole = [
        debezium({"id": n, "a": b64encode(each).decode()}, {"id": INT, "a": raw})
        for n, each in enumerate(values)
    ]
    texts = [
        debezium({"id": n, "a": text(v)}, {"id": INT, "a": string}) for n, v in enumerate(values)
    ]
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, a VARBINARY(9))")
    key = ("--ddl", str(ddl))
    left = written(tmp_path / "a", whole, "debezium-json")
    right = written(tmp_path / "b", texts, "debezium-json")
    for side, sides in (("right", [left, right]), ("left", [right, left])):
        code, out = compared(sides, capsys, *key)
        assert code == 1
        assert proposed(out) == [f"--{side}-binary", f"a={form}"]
        code, out = compared(sides, capsys, *key, *proposed(out))
        assert code == 0
        assert f"left out: the {form} text of a of shop.t (--{side}-binary)" in out
    texts[2]["payload"]["after"]["a"] = text(b"planted")
    other = written(tmp_path / "c", texts, "debezium-json")
    assert compared([left, other], capsys, *key, "--right-binary", f"a={form}")[0] == 1


@pytest.mark.parametrize("form", ["hex", "base64", "base64-url-safe"])
def test_arrays_of_bytes_in_a_text_form_propose_the_option_that_reads_them(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encodings: dict[str, Callable[[bytes], str]] = {
        "hex": lambda value: value.hex(),
        "base64": base64_text,
        "base64-url-safe": base64_for_urls,
    }
    encode = encodings[form]
    rows: list[list[bytes | None] | None] = [[b"\xfb\xff\x00", None, b""], [b"61"], [], None]

    def feed(folder: Path, kind: str, text: Callable[[bytes], str]) -> str:
        items = {"type": "array", "optional": True, "items": {"type": kind, "optional": True}}
        messages = []
        for number, row in enumerate(rows):
            sent = None if row is None else [None if item is None else text(item) for item in row]
            messages.append(debezium({"id": number, "a": sent}, {"id": INT, "a": items}))
        return written(folder, messages, "debezium-json")

    tables = tmp_path / "t.json"
    columns = (Column("id", IntType(32)), Column("a", ArrayType(BytesType())))
    tables.write_text(json.dumps([table_to_json(Table("t", "shop", columns=columns, key=("id",)))]))
    left = feed(tmp_path / "a", "bytes", base64_text)
    right = feed(tmp_path / "b", "string", encode)
    name = "hex" if form == "hex" else "base64"
    for side, sides in (("right", [left, right]), ("left", [right, left])):
        code, out = compared(sides, capsys, "--tables", str(tables))
        assert code == 1, out
        assert proposed(out) == [f"--{side}-binary", f"a={name}"], out
        assert compared(sides, capsys, "--tables", str(tables), *proposed(out))[0] == 0
    rows[1] = [b"planted"]
    other = feed(tmp_path / "c", "string", encode)
    options = ("--tables", str(tables), "--right-binary", f"a={name}")
    assert compared([left, other], capsys, *options)[0] == 1


def test_hexadecimal_text_that_was_read_as_base64_proposes_the_mode_of_the_connector(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without schema, a text of bytes may be either; a column without length refuses no value."""
    values = [bytes([0, 255, 254, 1]), b"61", b""]

    def feed(folder: Path, text: Callable[[bytes], str]) -> str:
        rows = [{"id": number, "a": text(each)} for number, each in enumerate(values)]
        return written(folder, [debezium(each, {})["payload"] for each in rows], "debezium-json")

    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, a BLOB)")
    left, right = feed(tmp_path / "a", base64_text), feed(tmp_path / "b", bytes.hex)
    for side, sides in (("right", [left, right]), ("left", [right, left])):
        code, out = compared(sides, capsys, "--ddl", str(ddl))
        assert code == 1, out
        assert proposed(out) == [f"--{side}-option", "binary-handling-mode=hex"]
        assert compared(sides, capsys, "--ddl", str(ddl), *proposed(out))[0] == 0
    values[1] = b"62"
    other = [left, feed(tmp_path / "c", bytes.hex)]
    option = ("--right-option", "binary-handling-mode=hex")
    assert compared(other, capsys, "--ddl", str(ddl), *option)[0] == 1


def test_columns_of_one_side_propose_to_leave_them_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def renamed(row: Mapping[str, str]) -> dict[str, str]:
        return {"b2" if name == "b" else name: value for name, value in row.items()}

    left = written(tmp_path / "a", [canal(OLD, None, TYPES)], "canal-json")
    right = written(tmp_path / "b", [canal(renamed(OLD), None, renamed(TYPES))], "canal-json")
    planted = [canal(renamed({**OLD, "a": "other"}), None, renamed(TYPES))]
    code, out = compared([left, right], capsys)
    assert code == 1
    hint = "hint: columns that only one side of shop.t has are left out with "
    (found,) = (line for line in out.splitlines() if line.startswith(hint))
    options = shlex.split(found.removeprefix(hint))
    assert options == ["--ignore-column", "b", "--ignore-column", "b2"]
    code, out = compared([left, right], capsys, *options)
    assert code == 0
    assert "left out: b, b2 of shop.t (--ignore-column)" in out
    other = written(tmp_path / "c", planted, "canal-json")
    assert compared([left, other], capsys, *options)[0] == 1


def maxwell(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an insert as Maxwell sends it."""
    return {"database": "shop", "table": "t", "type": "insert", "ts": 0, "data": row}


def test_numbers_and_sets_of_maxwell_propose_the_types_of_the_other_feed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = {"version": 1, "parameters": {"allowed": "a,b,c"}}
    text = {"type": "string", "optional": True}
    fields: dict[str, Mapping[str, Any]] = {
        "id": INT,
        "f": {"type": "float", "optional": True},
        "d": {"type": "double", "optional": True},
        "s": {**text, "name": "io.debezium.data.EnumSet", **allowed},
    }
    rows = [(1, 1.1, 0.1, "a,b"), (2, 100000.0, 1e20, "")]
    left = written(
        tmp_path / "a",
        [maxwell({"id": n, "f": f, "d": d, "s": s.split(",") if s else []}) for n, f, d, s in rows],
        "maxwell-json",
    )
    typed = [debezium(dict(zip(fields, each, strict=True)), fields) for each in rows]
    right = written(tmp_path / "b", typed, "debezium-json")
    typed[1]["payload"]["after"]["d"] = 1.0000000000000002e20
    other = written(tmp_path / "c", typed, "debezium-json")
    monkeypatch.chdir(tmp_path)
    code, out = compared([left, right], capsys)
    assert code == 1
    found = re.search(r"no type of f, d, s \(shop.t\).*: cdcwire (.*), then (--tables .*)", out)
    assert found is not None
    assert main(shlex.split(found[1])) == 0
    capsys.readouterr()
    options = shlex.split(found[2])
    assert compared([left, right], capsys, *options)[0] == 0
    assert compared([left, other], capsys, *options)[0] == 1


def test_single_difference_has_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option that accepts the only row that differs is proposed, too."""

    def feed(name: str, a: str, b: str) -> str:
        return written(tmp_path / name, [canal({**OLD, "a": a, "b": b}, None, TYPES)], "canal-json")

    feeds = feed("a", "1.5", "x"), feed("b", "1.50", "x")
    assert main(["compare", *feeds, "--engine", "embedded"]) == 1
    assert "    accepted with --ignore-scale a\n" in capsys.readouterr().out
    assert main(["compare", *feeds, "--engine", "embedded", "--ignore-scale", "a"]) == 0
    capsys.readouterr()
    assert main(["compare", feeds[0], feed("c", "1.5", "y"), "--engine", "embedded"]) == 1
    assert "pattern:" not in capsys.readouterr().out


def test_unsigned_number_that_is_sent_as_a_long_has_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``bigint.unsigned.handling.mode`` is ``long`` on the left and ``precise`` on the right."""
    pytest.importorskip("sqlglot", reason="needs the extra ddl")
    precise = {"type": "bytes", "optional": True, "name": "org.apache.kafka.connect.data.Decimal"}
    precise |= {"parameters": {"scale": "0", "connect.decimal.precision": "20"}}
    key = json.dumps(
        {"schema": {"type": "struct", "fields": [{"field": "id", **INT}]}, "payload": {"id": 1}}
    )
    feeds = []
    for name, kind, value in (
        ("long", {"type": "int64", "optional": True}, -1),
        ("precise", precise, b64encode((2**64 - 1).to_bytes(9, "big")).decode()),
    ):
        change = debezium({"id": 1, "u": value}, {"id": INT, "u": kind})
        (tmp_path / name).mkdir()
        message = KafkaMessage(key.encode(), json.dumps(change).encode())
        write_messages(str(tmp_path / name / "messages.jsonl"), [message])
        feeds.append(f"debezium-json:file:{tmp_path / name}")
    assert main(["compare", *feeds, "--engine", "embedded"]) == 1
    hint = "hint: if no definition says that u of shop.t is unsigned, give it with --ddl FILE "
    assert hint in capsys.readouterr().out
    (tmp_path / "t.sql").write_text(
        "CREATE TABLE shop.t (id INT PRIMARY KEY, u BIGINT UNSIGNED);\n"
    )
    words = ("--ddl", str(tmp_path / "t.sql"), "--engine", "embedded")
    assert main(["compare", *feeds, *words]) == 0
