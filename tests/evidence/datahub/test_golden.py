"""The DataHub cases beyond what a judge asks: places of errors, written bytes, schemas of ops."""

from __future__ import annotations

import json

import pytest

from cdcwire.compressions import known_compressions
from cdcwire.core.errors import DecodeError
from cdcwire.datahub.body import read_body
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.sharding import hash_key, key_of_image, shard_of, shard_ranges
from cdcwire.formats.datahub_tuple.topic import find_table, topic_of
from cdcwire.model.text import event_from_json
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_evidence.datahub.check import problems_of, problems_with

CASES = load_cases(["datahub-blob", "datahub-tuple"])
REJECTED = [case for case in CASES if case.expect == "reject"]
CANONICAL = [case for case in CASES if case.canonical and "compression" not in case.features]
SHARDED = [case for case in CASES if "datahub: sharding" in case.clauses]
SHARDS = 4  # of the topics of these cases
SAMPLES = [case for case in CASES if case.id.startswith("datahub-blob/document/")]


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: case.id)
def test_reject_case_is_rejected_at_its_place(case: Case) -> None:
    codec, error = get_format(case.format), case.error
    assert error is not None
    with pytest.raises(DecodeError) as caught:
        list(codec.to_events(case.messages[error["message"]], context=case.context()))
    found = {
        "message": error["message"],
        "offset": caught.value.offset,
        "path": list(caught.value.path),
        "clause": caught.value.clause,
    }
    assert found == error


@pytest.mark.parametrize("case", CANONICAL, ids=lambda case: case.id)
def test_canonical_case_is_written_byte_for_byte(case: Case) -> None:
    context = case.context()
    events = [event_from_json(event, context.tables) for event in case.events or ()]
    written = get_format(case.format).from_events(events, context=context)
    assert [message.value for message in written] == [message.value for message in case.messages]


@pytest.mark.parametrize("case", SAMPLES, ids=lambda case: case.id)
def test_document_sample_fits_only_the_schema_of_its_op(case: Case) -> None:
    pytest.importorskip("jsonschema")
    for message in case.messages:
        value = message.value or b""
        document = json.loads(value)
        assert problems_of(value) == ()
        fitting = [op for op in OPS if not problems_with(op, document)]
        assert fitting == [document["payload"]["op"]]


@pytest.mark.parametrize("case", SHARDED, ids=lambda case: case.id)
def test_records_have_hash_key_and_shard_of_the_reference_rule(case: Case) -> None:
    tables = case.context().tables
    fields = topic_of(find_table(tables)).fields if tables else None
    records = [
        record
        for message in case.messages
        for record in read_body(message.value or b"", fields).records()
    ]
    assert case.events
    for event, record in zip(case.events, records, strict=True):
        image = event["before"] if event["after"] is None else event["after"]
        texts = {name: None if value is None else value["value"] for name, value in image.items()}
        wanted = hash_key(key_of_image(texts, event["key"], event["table"]))
        assert record.hash_key == wanted
        assert record.shard_id == str(shard_of(wanted, shard_ranges(SHARDS)))


@pytest.mark.parametrize(
    "raw", [b"", b"\x10a\x05\x00\x50bcdef", b"\xf0\xff\xff\xffab", b"\xff" * 9]
)
def test_damaged_lz4_block_is_a_value_error(raw: bytes) -> None:
    pytest.importorskip("cramjam")
    with pytest.raises(ValueError, match=r"."):
        known_compressions()["lz4-block"].decompress((100).to_bytes(4, "little") + raw)
