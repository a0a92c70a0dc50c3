"""The Avro libraries as testees: what each makes of messages of TiCDC."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import json
import re
import struct
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

FOLDER = Path(__file__).parents[1]
SPARK = FOLDER.parent / "spark"
READERS = {
    "fastavro": "read_fastavro",
    "avro": "read_avro",
    "confluent_kafka": "read_confluent_kafka",
    "pyspark": "read_spark",
}
COMMIT_TS = 433305438660591626
LONG = "12345678901234567890123456.789"


def skip_without(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: adapters/python/requirements.txt")
    if package == "pyspark" and not (SPARK / "build").exists():
        pytest.skip("spark-avro is not here: mvn -q -f adapters/spark package")


@pytest.fixture(params=list(READERS))
def reader(request: pytest.FixtureRequest) -> str:
    skip_without(request.param)
    return READERS[request.param]


Ask: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def spark() -> Iterator[Ask]:
    """Give what asks one program of Spark, started once and by the first question."""
    started: list[subprocess.Popen[str]] = []

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        if not started:
            words = [sys.executable, str(SPARK / "read_spark.py")]
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=nothing, text=True)
            started.append(process)
        stdin, stdout = started[0].stdin, started[0].stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{json.dumps({'cmd': 'decode', 'seq': 1, **request})}\n")
        stdin.flush()
        answer: dict[str, Any] = json.loads(stdout.readline())
        return answer

    yield ask
    for process in started:
        process.communicate('{"cmd":"stop"}\n', timeout=60)


# ---- messages --------------------------------------------------------------------------------


def column(name: str, kind: str, tidb_type: str, **more: Any) -> dict[str, Any]:
    """Return a field; ``null``: "first" or "last" in its union."""
    null = more.pop("null", None)
    parameters = {key: more.pop(key) for key in ("allowed", "length") if key in more}
    parameters["tidb_type"] = tidb_type
    plain = {"type": kind, "connect.parameters": parameters, **more}
    full = {None: plain, "first": ["null", plain], "last": [plain, "null"]}[null]
    return {"name": name, "type": full}


def extension(name: str, kind: str, default: Any) -> dict[str, Any]:
    return {"default": default, "name": name, "type": kind}


EXTENSION = [
    extension("_tidb_op", "string", ""),
    extension("_tidb_commit_ts", "long", 0),
    extension("_tidb_commit_physical_time", "long", 0),
]
ID = column("id", "long", "BIGINT UNSIGNED")


def schema(*fields: dict[str, Any]) -> str:
    record = {"type": "record", "name": "t", "namespace": "default.s", "fields": fields}
    return json.dumps(record)


def number(value: int) -> bytes:
    """Return a zigzag varint."""
    rest = (value << 1 ^ value >> 63) & 2**64 - 1
    groups = []
    while rest > 127:
        groups.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*groups, rest])


def sized(value: bytes) -> bytes:
    return number(len(value)) + value


TOLD = sized(b"c") + number(COMMIT_TS) + number(COMMIT_TS >> 18)
COLUMNS: list[tuple[dict[str, Any], bytes, Any]] = [
    (ID, number(-1), "18446744073709551615"),
    (column("a", "int", "INT", null="first"), number(0), None),
    (column("b", "int", "INT", null="last"), number(1), None),
    (column("c", "long", "BIGINT", null="last"), number(0) + number(-(2**63)), str(-(2**63))),
    (column("d", "string", "TEXT"), sized("ä\r".encode()), "ä\r"),
    (column("e", "bytes", "BLOB", null="first"), number(1) + sized(b"\0\xff"), {"bytes": "AP8="}),
    (column("f", "bytes", "BIT", length="10"), sized(b"\2\0"), "512"),
    (column("g", "string", "SET", allowed="a,b"), sized(b""), ""),
    (column("h", "double", "DOUBLE"), struct.pack("<d", -0.0), "-0.0"),
    (column("i", "string", "DATE"), sized(b"0000-00-00"), "0000-00-00"),
    (
        column("j", "bytes", "DECIMAL", logicalType="decimal", precision=29, scale=3, null="first"),
        number(1) + sized(int(LONG.replace(".", "")).to_bytes(13, "big")),
        LONG,
    ),
]
SCHEMAS = {
    "1": schema(ID),
    "2": schema(*(field for field, _, _ in COLUMNS), *EXTENSION),
    "3": schema(ID, column("d", "string", "TEXT")),
    "4": schema(ID, column("d", "string", "JSON")),
}
ROW = b"".join(data for _, data, _ in COLUMNS) + TOLD
KEY = number(-1)


def confluent(schema_id: int, data: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + data


Events: TypeAlias = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def events_of(reader: str, spark: Ask) -> Events:
    """Return what gives the events that a reader makes of a message."""

    def events(key: bytes | None, value: bytes | None, **more: Any) -> list[dict[str, Any]]:
        from testee import Message
        from ticdc_avro import decoder

        if reader == "read_spark":
            answer = spark({**_request(key, value), **more})
            found: list[dict[str, Any]] = answer["events"]
            return found
        read = importlib.import_module(reader).read
        decode: Any = decoder(read)
        return list(decode(Message(key, value), {"schemas": SCHEMAS, **more}))

    return events


def _request(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    message = {
        name: part if part is None else base64.b64encode(part).decode()
        for name, part in (("key", key), ("value", value))
    }
    return {"format": "avro", "schemas": SCHEMAS, "messages": [message]}


# ---- what they read --------------------------------------------------------------------------


def test_values_of_all_kinds_come_through(reader: str, events_of: Events) -> None:
    (event,) = events_of(confluent(1, KEY), confluent(2, ROW))
    assert event == {
        "kind": "row",
        "op": "insert",
        "schema": "s",
        "table": "t",
        "key": ["id"],
        "position": {"commit_ts": str(COMMIT_TS), "commit_ms": str(COMMIT_TS >> 18)},
        "before": None,
        "after": {field["name"]: expected for field, _, expected in COLUMNS},
        "extra": {},
    }


def test_null_value_is_a_delete_of_the_key(reader: str, events_of: Events) -> None:
    (event,) = events_of(confluent(1, KEY), None)
    assert (event["op"], event["after"]) == ("delete", None)
    assert event["before"] == {"id": "18446744073709551615"}


def test_row_without_extension_is_an_upsert(reader: str, events_of: Events) -> None:
    (event,) = events_of(confluent(1, KEY), confluent(3, KEY + sized(b"x")))
    assert (event["op"], event["position"]) == ("upsert", {})


def test_envelope_of_glue_names_its_schema_by_uuid(reader: str, events_of: Events) -> None:
    if reader == "read_confluent_kafka":
        pytest.skip("it knows Confluent's envelope only, and does not claim Glue's")
    name = uuid.uuid4()
    key = b"\3\0" + name.bytes + KEY
    schemas = {str(name): SCHEMAS["1"]}
    (event,) = events_of(key, None, options={"registry": "glue"}, schemas=schemas)
    assert event["before"] == {"id": "18446744073709551615"}


KEEPS_ILL_FORMED = {"read_fastavro"}
REPLACES_ILL_FORMED = {"read_spark"}


def test_ill_formed_text_comes_through_is_replaced_or_refused(
    reader: str, events_of: Events
) -> None:
    value = confluent(3, KEY + sized(b"\xff"))
    if reader in KEEPS_ILL_FORMED | REPLACES_ILL_FORMED:
        (event,) = events_of(None, value)
        expected = {"bytes": "/w=="} if reader in KEEPS_ILL_FORMED else "\ufffd"
        assert event["after"]["d"] == expected
    else:
        with pytest.raises(UnicodeDecodeError):
            events_of(None, value)


def test_ill_formed_text_in_another_type_is_no_text(reader: str, events_of: Events) -> None:
    value = confluent(4, KEY + sized(b"\xff"))
    if reader in REPLACES_ILL_FORMED:
        assert events_of(None, value)[0]["after"]["d"] == "\ufffd"
    else:
        with pytest.raises(UnicodeError):
            events_of(None, value)


FAULTS = {
    "a row cut short": confluent(3, KEY + number(5) + b"abc"),
    "a length below zero": confluent(3, KEY + number(-5) + b"abc"),
    "a schema that is not known": confluent(9, KEY),
    "an envelope of another kind": b"\1" + confluent(1, KEY)[1:],
    "an envelope cut short": b"\0\0\0\0",
    "no bytes": b"",
    "a byte after the record": confluent(1, KEY + b"\0"),
}
LOOKS_AFTER = {"read_fastavro", "read_avro"}


def test_faults_are_refused_through_the_door(reader: str) -> None:
    if reader == "read_spark":
        pytest.skip("asked directly only: each start of a session takes its time")
    asked = [*FAULTS.values(), confluent(1, KEY)]
    requests = [
        {"cmd": "start", "protocol": 1},
        *({"cmd": "decode", "seq": n, **_request(key, None)} for n, key in enumerate(asked)),
        {"cmd": "stop"},
    ]
    ended = subprocess.run(
        [sys.executable, str(FOLDER / f"{reader}.py")],
        input="".join(f"{json.dumps(request)}\n" for request in requests),
        capture_output=True,
        text=True,
        check=True,
    )
    start, *bad, good = map(json.loads, ended.stdout.splitlines())
    assert start["formats"]["avro"]["encode"] is False
    is_seen = ["rejected" in answer for answer in bad]
    assert is_seen == ["after" not in fault or reader in LOOKS_AFTER for fault in FAULTS]
    assert (good["seq"], len(good["events"])) == (len(FAULTS), 1)


# ---- what is done for all of them ------------------------------------------------------------


def test_column_named_like_the_extension_is_recognised_by_its_type() -> None:
    from ticdc_avro import shape_of

    text = schema(column("_tidb_op", "string", "TEXT"), *EXTENSION[1:])
    assert shape_of(text).column_names == ["_tidb_op"]


def test_full_name_goes_before_the_namespace() -> None:
    from ticdc_avro import shape_of

    record = {"type": "record", "name": "default.s.t", "namespace": "a.b", "fields": []}
    shape = shape_of(json.dumps(record))
    assert (shape.schema, shape.table) == ("s", "t")


def test_old_row_of_the_newer_producer_is_read() -> None:
    from ticdc_avro import event_of, shape_of

    old = {"type": "record", "name": "t_before", "fields": [ID]}
    before = {"default": None, "name": "_ticdc_before", "type": ["null", old]}
    shape = shape_of(schema(ID, before, EXTENSION[0]))
    record = {"id": 2, "_ticdc_before": {"id": 1}, "_tidb_op": "u"}
    event = event_of(None, (shape, record))
    assert (event["op"], event["before"], event["after"]) == ("update", {"id": "1"}, {"id": "2"})
    gone = event_of(None, (shape, {"id": 2, "_ticdc_before": None, "_tidb_op": "d"}))
    assert (gone["op"], gone["before"], gone["after"]) == ("delete", {"id": "2"}, None)


# ---- the page --------------------------------------------------------------------------------

PAGE = FOLDER.parents[1] / "docs" / "avro-readers.md"


def block_about(word: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = (block for block in blocks if word in block)
    return str(code)


@pytest.mark.parametrize("package", ["fastavro", "avro"])
def test_code_on_the_page_reads_a_row(package: str) -> None:
    pytest.importorskip(package)
    found: dict[str, Any] = {
        "fetch": lambda schema_id: SCHEMAS[str(schema_id)],
        "value": confluent(3, KEY + sized(b"x")),
    }
    exec(block_about({"fastavro": "import fastavro", "avro": "import avro.io"}[package]), found)
    assert found["row"] == {"id": -1, "d": "x"}


def test_code_on_the_page_reads_a_row_with_confluent_kafka(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = pytest.importorskip("confluent_kafka.schema_registry")

    def get_schema(_self: object, schema_id: int, *_: object, **__: object) -> Any:
        return registry.Schema(SCHEMAS[str(schema_id)], "AVRO")

    monkeypatch.setattr(registry.SchemaRegistryClient, "get_schema", get_schema)
    found: dict[str, Any] = {"value": confluent(3, KEY + sized(b"x"))}
    exec(block_about("AvroDeserializer"), found)
    assert found["row"] == {"id": -1, "d": "x"}


AROUND_SPARK = """
import sys
sys.path[:0] = [{spark!r}]
from read_spark import session

values = {values!r}
messages = session().createDataFrame([(bytearray(value),) for value in values], "value binary")
schema_id, text = 3, {schema!r}
{code}
print([row.row.id for row in rows.collect()])
print(rows.select(rows.row.d.cast("binary").alias("d")).first().d.hex())
"""


def test_code_on_the_page_reads_rows_with_spark() -> None:
    skip_without("pyspark")
    program = AROUND_SPARK.format(
        spark=str(SPARK),
        values=[confluent(1, KEY), confluent(3, KEY + sized(b"\xff"))],
        schema=SCHEMAS["3"],
        code=block_about("from_avro"),
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines() == ["[-1]", "ff"]
