"""JsonConverter as a witness: what it reads and writes of messages, beside what cdcwire does."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings

from cdcwire import connect
from cdcwire.connect import ConnectValue, Schema
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus import Case, load_cases
from cdcwire_generators.domain import domain_of
from cdcwire_generators.strategies import ChangeStream, change_streams

FOLDER = Path(__file__).parents[1]
JAR = FOLDER / "build" / "connect-testee.jar"
FORMATS = ("debezium-json", "cdl-json")


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not shutil.which("java"):
        pytest.skip("java is not on the PATH")
    if not JAR.exists():
        pytest.skip("JsonConverter is not built: run mvn -q -f adapters/connect package")


Rewrite: TypeAlias = Callable[[bytes], tuple[str, bytes | None]]


@pytest.fixture(scope="module")
def rewrite() -> Iterator[Rewrite]:
    """Give what asks JsonConverter for the values of a message, and for its own bytes of them."""
    words = ["java", "-XX:TieredStopAtLevel=1", "-jar", str(JAR), "rewrite"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def ask(data: bytes) -> tuple[str, bytes | None]:
            stdin.write(f"{base64.b64encode(data).decode()}\n")
            stdin.flush()
            values, tab, written = stdout.readline().rstrip("\n").partition("\t")
            is_written = tab and not written.startswith("!")
            return values, base64.b64decode(written) if is_written else None

        yield ask
        stdin.close()
        assert process.wait(30) == 0


def values_text(schema: Schema, value: ConnectValue) -> str:
    """Return values in the text of the program."""
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        return f"d:{unscaled}/{-exponent}"
    match schema.type:
        case "boolean":
            return "true" if value else "false"
        case "float":
            return f"f:{struct.unpack('>I', struct.pack('>f', value))[0]:x}"
        case "double":
            return f"f:{struct.unpack('>Q', struct.pack('>d', value))[0]:x}"
        case "string":
            return quoted(value)
        case "bytes":
            return f"b:{int.from_bytes(value, 'big'):x}/{len(value)}"
        case "array":
            assert schema.items is not None
            return f"[{','.join(values_text(schema.items, item) for item in value)}]"
        case "map":
            assert schema.keys is not None
            assert schema.values is not None
            keys, values = schema.keys, schema.values
            pairs = (f"{values_text(keys, k)}:{values_text(values, v)}" for k, v in value)
            return f"{{{','.join(sorted(pairs))}}}"
        case "struct":
            pairs = (
                f"{quoted(field.name)}:{values_text(field.schema, item)}"
                for field, item in zip(schema.fields, value, strict=True)
            )
            return f"{{{','.join(pairs)}}}"
        case _:
            return str(value)


def quoted(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    found = []
    for start in range(0, len(units), 2):
        unit = int.from_bytes(units[start : start + 2], "big")
        is_plain = 0x20 < unit < 0x7F and chr(unit) not in '"\\'
        found.append(chr(unit) if is_plain else f"\\u{unit:04x}")
    return f'"{"".join(found)}"'


# ---- golden messages ---------------------------------------------------------------------------

# What JsonConverter reads, or writes, otherwise: cases by their reasons. A case that it does not
# bend any more has to go from here.
BENT = {
    "-0.0 loses its sign, NaN and the infinities are read as 0.0": {
        "cdl-json/values/delete-numbers",
        "cdl-json/values/double",
        "cdl-json/values/float",
        "debezium-json/connectors/oracle-not-finite",
        "debezium-json/connectors/oracle-types-delete",
        "debezium-json/connectors/oracle-unavailable",
        "debezium-json/producer/types-3.2-bc",
        "debezium-json/producer/types-3.2-isostring",
        "debezium-json/producer/types-3.2-microseconds",
        "debezium-json/producer/types-3.2-nanoseconds",
        "debezium-json/values/decimal-as-double",
        "debezium-json/values/double",
        "debezium-json/values/double-not-finite",
        "debezium-json/values/double-read",
        "debezium-json/values/float",
        "debezium-json/values/float-not-finite",
    },
    "a member that is missing is a null": {
        "debezium-json/defaults/absent",
        "debezium-json/defaults/enum",
    },
    "a decimal that came as a number keeps that number's scale, and is not written": {
        "debezium-json/values/decimal-number",
    },
}
# What it reads as we do, and writes otherwise.
WRITTEN_OTHERWISE = {
    "entries of a map are in the order of their hashes": {
        "debezium-json/values/map",
        "debezium-json/values/map-pairs",
    },
    "Java 17 writes digits of a float that are not the fewest": {
        "debezium-json/values/float-read",
    },
}


def messages_of(case: Case) -> Iterator[bytes]:
    """Yield keys and values that have their schema with them."""
    for message in case.messages:
        for data in (getattr(message, "key", None), message.value):
            if data is not None and connect.decode(data).schema is not None:
                yield data


# The envelope of nothing: no schema, no payload.
WITHOUT_PAYLOAD = {"debezium-json/messages/tombstone-null-payload"}


def valid_cases() -> list[Case]:
    cases = load_cases(formats=FORMATS)
    return [
        case
        for case in cases
        if case.expect != "reject"
        and not {"schemas off", "string keys", "ticdc"} & set(case.features)
        and case.id not in WITHOUT_PAYLOAD
        and not case.options.get("replace-null-with-default")
    ]


def test_golden_messages_are_read_and_written_alike(rewrite: Rewrite) -> None:
    """The values agree, and the bytes: JsonConverter writes what cdcwire writes of them."""
    seen = 0
    bent, written_otherwise = set[str](), set[str]()
    for case in valid_cases():
        for data in messages_of(case):
            envelope = connect.decode(data)
            assert envelope.schema is not None
            values, written = rewrite(data)
            seen += 1
            if values != values_text(envelope.schema, envelope.payload):
                bent.add(case.id)
            elif written != connect.encode(envelope):
                written_otherwise.add(case.id)
    assert bent == set[str]().union(*BENT.values())
    assert written_otherwise == set[str]().union(*WRITTEN_OTHERWISE.values())
    assert seen > 300


def test_canonical_messages_come_back_byte_for_byte(rewrite: Rewrite) -> None:
    bent = set[str]().union(*BENT.values(), *WRITTEN_OTHERWISE.values())
    count = 0
    for case in valid_cases():
        if case.canonical and case.id not in bent:
            for data in messages_of(case):
                count += 1
                assert rewrite(data)[1] == data
    assert count > 100


def test_golden_cases_fail_as_the_list_says(capsys: pytest.CaptureFixture[str]) -> None:
    """As a testee it fails as expected, and an entry that no longer fails is an error."""
    words = ["verify", *FORMATS, "--no-derived", "--jobs", "1", "--timeout", "5"]
    words += ["--start-timeout", "300"]
    words += ["--expected-failures", str(FOLDER / "expected-failures.txt")]
    code = main([*words, "--", "java", "-XX:TieredStopAtLevel=1", "-jar", str(JAR)])
    assert code == 0, capsys.readouterr().out[-2000:]


# ---- made messages -----------------------------------------------------------------------------


def is_bent(schema: Schema, value: ConnectValue) -> bool:
    """Return whether there is a float in it, or a map of some entries."""
    if value is None:
        return False
    match schema.type:
        case "float" | "double":
            return True
        case "map":
            return len(value) > 1
        case "array":
            assert schema.items is not None
            return any(is_bent(schema.items, item) for item in value)
        case "struct":
            pairs = zip(schema.fields, value, strict=True)
            return any(is_bent(field.schema, item) for field, item in pairs)
        case _:
            return False


@pytest.mark.parametrize("name", FORMATS)
def test_made_messages_are_read_and_written_alike(rewrite: Rewrite, name: str) -> None:
    """What cdcwire writes of any events, JsonConverter reads as the same values and writes back.

    Messages with floats and maps are compared where they are golden: their faults are known.
    """
    form = get_format(name)
    count = 0

    @settings(max_examples=40, derandomize=True, deadline=None, database=None)
    @given(change_streams(domain=domain_of(form)))
    def check(stream: ChangeStream) -> None:
        nonlocal count
        for message in form.from_events(stream.events, context=Context()):
            for data in (getattr(message, "key", None), message.value):
                if data is None:
                    continue
                schema, payload = (found := connect.decode(data)).schema, found.payload
                assert schema is not None
                if not is_bent(schema, payload):
                    count += 1
                    assert rewrite(data) == (values_text(schema, payload), data)

    check()
    assert count > 40


# ---- traps -------------------------------------------------------------------------------------


def traps() -> list[tuple[str, str, str, str]]:
    lines = (FOLDER / "traps.txt").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        if not line.startswith("#"):
            schema, payload, theirs, ours = line.split(" | ")
            found.append((schema, payload, theirs, ours))
    return found


def trap_message(schema: str, payload: str) -> bytes:
    field = {**json.loads(schema), "optional": True, "field": "a"}
    whole = {"type": "struct", "fields": [field], "optional": False}
    return f'{{"schema":{json.dumps(whole)},"payload":{{"a":{payload}}}}}'.encode()


@pytest.mark.parametrize(("schema", "payload", "theirs", "ours"), traps())
def test_trap_is_as_it_was_measured(
    rewrite: Rewrite, schema: str, payload: str, theirs: str, ours: str
) -> None:
    data = trap_message(schema, payload)
    values, _ = rewrite(data)
    assert ("!" if values.startswith("!") else values) == in_struct(theirs)
    try:
        envelope = connect.decode(data)
    except DecodeError:
        text = "!"
    else:
        assert envelope.schema is not None
        text = values_text(envelope.schema, envelope.payload)
    assert text == in_struct(ours)


def in_struct(text: str) -> str:
    return text if text == "!" else f'{{"a":{text}}}'
