"""The schemas of ops against the documents' samples and the codec's own output."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from cdcwire.datahub.ops import OPS
from cdcwire.formats.datahub_blob import BlobColumn, BlobMessage, Ddl, Source, decode, encode
from cdcwire_evidence.datahub.check import PARTS, problems_of, problems_with, schema

DATA = Path(__file__).resolve().parents[1] / "formats" / "datahub_blob" / "data"
SAMPLES = sorted(DATA.glob("*.json"))
ALTER: dict[str, Any] = json.loads((DATA / "alter.json").read_bytes())["payload"]["ddl"]
META = b64decode(ALTER["ddlMeta"])

pytest.importorskip("jsonschema")


def message_of(name: str) -> BlobMessage:
    op = OPS[name]
    is_row, is_ddl = op.group == "row", op.group == "ddl"
    cells = (("a", 1), ("b", None))
    return BlobMessage(
        name,
        1605339932000,
        None if op.group == "heartbeat" else "7",
        (BlobColumn("a", "LONG"), BlobColumn("b", "BYTES")) if is_row else None,
        Source("db", "MySQL", None, None, "t") if is_row or is_ddl else None,
        ("a",) if is_row else None,
        cells if op.has_before else None,
        cells if op.has_after else None,
        Ddl(ALTER["text"], META) if is_ddl else None,
    )


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_sample_fits_only_the_schema_of_its_op(file: Path) -> None:
    message = json.loads(file.read_bytes())
    fitting = [op for op in OPS if not problems_with(op, message)]
    assert fitting == [message["payload"]["op"]]
    assert problems_of(encode(decode(file.read_bytes()))) == ()


@pytest.mark.parametrize("name", OPS)
def test_written_message_fits_only_the_schema_of_its_op(name: str) -> None:
    raw = encode(message_of(name))
    assert problems_of(raw) == ()
    assert [op for op in OPS if not problems_with(op, json.loads(raw))] == [name]


@pytest.mark.parametrize("name", OPS)
def test_member_that_is_not_of_the_op_is_a_problem(name: str) -> None:
    message = json.loads(encode(message_of(name)))
    message["payload"]["other"] = 1
    (problem,) = problems_of(json.dumps(message).encode())
    assert problem.startswith("payload: ")


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"payload":{"op":"X"}}', b'{"payload":{"op":"INSERT"}}']
)
def test_invalid_message_is_a_problem(raw: bytes) -> None:
    assert problems_of(raw)


def test_there_is_a_schema_for_each_op() -> None:
    assert all(schema(name)["title"] for name in (*OPS, PARTS))
    with pytest.raises(ValueError, match="no schema"):
        schema("../parts")


def test_message_keeps_the_object_as_it_is() -> None:
    message = message_of("ALTER")
    again = decode(encode(message))
    assert again.ddl is not None
    assert again.ddl.meta == META
