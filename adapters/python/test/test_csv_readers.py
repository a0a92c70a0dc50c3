"""The CSV readers as testees: what each makes of files in TiCDC's settings."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1]
READERS = {
    "csv": "read_csv_module",
    "pandas": "read_pandas",
    "pyarrow": "read_pyarrow",
    "duckdb": "read_duckdb",
    "polars": "read_polars",
}
TABLE = {
    "schema": "s",
    "table": "t",
    "columns": [
        {"name": "id", "type": "int64 unsigned", "nullable": False, "roles": ["primary"]},
        {"name": "a", "type": "text(10)", "nullable": True},
        {"name": "b", "type": "bytes", "nullable": True},
        {"name": "c", "type": "float32", "nullable": True},
        {"name": "d", "type": "decimal(65,30)", "nullable": True},
        {"name": "v", "type": "int32", "nullable": True, "roles": ["generated", "virtual"]},
    ],
}
LONG = "1234567890123456789012345678901234.000000000000000000000000000010"


@pytest.fixture(params=list(READERS))
def reader(request: pytest.FixtureRequest) -> str:
    package: str = request.param
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: adapters/python/requirements.txt")
    return READERS[package]


def events_of(reader: str, file: bytes, options: dict[str, Any] | None = None) -> list[Any]:
    """Return what a reader makes of a file, asked directly."""
    from testee import Message
    from ticdc_csv import decoder

    read = importlib.import_module(reader).read
    request = {"options": options or {}, "tables": [TABLE]}
    return list(decoder(read)(Message(None, file, "data.csv"), request))


def test_values_of_all_kinds_come_through(reader: str) -> None:
    file = (
        f'"I","t","s",18446744073709551615,"q""\r\n,","AP8=",-0,"{LONG}"\r\n'
        '"D","t","s",1,\\N,\\N,\\N,\\N\r\n'
    )
    inserted, deleted = events_of(reader, file.encode())
    assert inserted == {
        "kind": "row",
        "op": "insert",
        "schema": "s",
        "table": "t",
        "key": ["id"],
        "before": None,
        "after": {
            "id": "18446744073709551615",
            "a": 'q"\r\n,',
            "b": {"bytes": "AP8="},
            "c": "-0.0",
            "d": LONG,
        },
    }
    assert deleted["op"] == "delete"
    assert deleted["before"] == {"id": "1", "a": None, "b": None, "c": None, "d": None}


def test_fields_before_the_columns_are_recognised(reader: str) -> None:
    options = {
        "include-commit-ts": True,
        "csv.output-old-value": "true",
        "output-handle-key": True,
        "binary-encoding-method": "hex",
        "terminator": "\n",
    }
    file = b'"I","t","s",433305438660591626,true,"-1",1,"x","00ff",1e+20,"1"\n'
    (event,) = events_of(reader, file, options)
    assert event["position"] == {"commit_ts": "433305438660591626"}
    assert (event["op"], event["half"]) == ("update", "after")
    assert event["extra"] == {"handle_key": "-1"}
    assert event["after"]["b"] == {"bytes": "AP8="}


def test_header_line_is_left_out(reader: str) -> None:
    file = b'o,t,s,id,a,b,c,d\r\n"I","t","s",1,"x","",1,"1"\r\n'
    assert len(events_of(reader, file, {"output-field-header": True})) == 1


@pytest.mark.parametrize(
    "file",
    [
        b'"I","t","s",1,"x","",1,"1","more"\r\n',
        b'"X","t","s",1,"x","",1,"1"\r\n',
        b'"I","t","s",one,"x","",1,"1"\r\n',
    ],
    ids=["a field too many", "an undefined operation", "a number that is none"],
)
def test_fault_is_refused_through_the_door(reader: str, file: bytes) -> None:
    good = b'"I","t","s",1,"x","",1,"1"\r\n'
    requests = [
        {"cmd": "start", "protocol": 1},
        *({"cmd": "decode", "seq": n, **_request(f)} for n, f in enumerate([file, good])),
        {"cmd": "stop"},
    ]
    ended = subprocess.run(
        [sys.executable, str(FOLDER / f"{reader}.py")],
        input="".join(f"{json.dumps(request)}\n" for request in requests),
        capture_output=True,
        text=True,
        check=True,
    )
    start, bad, fine = map(json.loads, ended.stdout.splitlines())
    assert start["protocol"] == 1
    assert start["formats"]["csv"]["encode"] is False
    assert (bad["seq"], bad["rejected"]["message"]) == (0, 0)
    assert (fine["seq"], len(fine["events"])) == (1, 1)


def _request(file: bytes) -> dict[str, Any]:
    value = base64.b64encode(file).decode()
    message = {"path": "data.csv", "value": value}
    return {"format": "csv", "tables": [TABLE], "messages": [message]}


# What differs: a quoted null text, ill-formed UTF-8, a delimiter of three characters.
KEEPS_QUOTED_NULL = {"read_pyarrow", "read_duckdb"}
KEEPS_ILL_FORMED = {"read_csv_module", "read_pandas", "read_pyarrow"}


def test_quoted_null_text_is_text_where_the_reader_can_tell(reader: str) -> None:
    (event,) = events_of(reader, b'"I","t","s",1,"\\N","",1,"1"\r\n')
    assert event["after"]["a"] == ("\\N" if reader in KEEPS_QUOTED_NULL else None)


def test_empty_text_is_not_null_where_the_null_text_is_empty(reader: str) -> None:
    (event,) = events_of(reader, b'"I","t","s",1,"",,,\r\n', {"null": ""})
    is_lost = reader == "read_pandas" or (
        reader == "read_csv_module" and sys.version_info < (3, 13)
    )
    assert event["after"]["a"] == (None if is_lost else "")
    assert event["after"]["b"] is None


def test_ill_formed_text_comes_through_or_is_refused(reader: str) -> None:
    file = b'"I","t","s",1,"\xff","",1,"1"\r\n'
    if reader in KEEPS_ILL_FORMED:
        assert events_of(reader, file)[0]["after"]["a"] == {"bytes": "/w=="}
    else:
        with pytest.raises(Exception, match=r"(?i)utf-?8|unicode"):
            events_of(reader, file)


def test_definition_is_that_of_the_version_in_the_path() -> None:
    from ticdc_csv import table_of

    versions = [{**TABLE, "version": str(version)} for version in (1, 2)]
    other = {**TABLE, "table": "u"}
    assert table_of("s/t/2/2024-01-01/CDC000001.csv", [other, *versions]) == versions[1]
    assert table_of("s/u/9/CDC000001.csv", [other, *versions]) == other
    assert table_of("data.csv", versions) == versions[0]


PAGE = FOLDER.parents[1] / "docs" / "csv-readers.md"


@pytest.mark.parametrize("package", ["pyarrow", "duckdb"])
def test_settings_on_the_page_tell_null_from_its_text(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = (block for block in blocks if package in block)
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_bytes(
        b'"I","t","s",18446744073709551615,"\\N","-0.50","0000-00-00"\r\n'
        b'"I","t","s",1,\\N,"1.00","a\r\nb"\r\n'
    )
    found: dict[str, Any] = {}
    exec(code, found)
    rows = [tuple(row.values()) if isinstance(row, dict) else row for row in found["rows"]]
    names = [name.decode() if isinstance(name, bytes) else name for name in (r[4] for r in rows)]
    assert names == ["\\N", None]
    assert [str(cell) for cell in rows[0][3:7:2]] == ["18446744073709551615", "-0.50"]
    assert rows[1][6] == "a\r\nb"
