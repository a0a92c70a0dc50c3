"""DataHub's SDKs on golden cases: bodies of the corpus, served to them as answers.

A case that is a put is made an answer first, as the service does with what was put: its records
stay byte for byte, around them stand cursors and counts. A case that can't be made one, or that
asks nothing of an SDK (what metadata columns and Blob messages say), is not asked.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.datahub.body import BodySettings, encoding_of
from cdcwire.datahub.carrying import headers_of
from cdcwire.datahub.frame import MAGIC, crc32c, write_frame
from cdcwire.datahub.message import Encoding
from cdcwire.formats.datahub_blob import FORMAT as BLOB
from cdcwire.formats.datahub_tuple import Topic, find_table, read_settings, topic_of
from cdcwire.formats.datahub_tuple.settings import EXECUTE_TIMES
from cdcwire.formats.datahub_tuple.topic import METADATA
from cdcwire.model.events import Event
from cdcwire.model.kinds import BytesType
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee
from cdcwire_evidence.datahub.sdk_driver import Driver
from cdcwire_evidence.datahub.service import Service

FORMATS = ("datahub-tuple", "datahub-blob")
# What an SDK can't know: the names and flags of Tuple's metadata columns, and bytes in base64.
_NOT_FOR_SDKS = ("reject-metadata", "reject-json")
_NOT_ITS_CLAUSE = "datahub-tuple: bytes values"
_VERSIONS = range(-1, 11)  # of schemas, as batches of the corpus name them
_NOT_OF_SDKS = frozenset({"content-encoding", "empty-is-null", "short-records"})  # options
_MOST_DIGITS = 400
_FRAME_BYTES = 12
_PUT_ENTRY, _ANSWER_ENTRY = 0x0A, 0x22  # protobuf: fields 1 and 4, with a length
_OF_ANSWERS = (0x10, 0x18, _ANSWER_ENTRY)  # and the counts, fields 2 and 3


class SdkRaisedError(Exception):
    """The SDK refused an answer."""


@dataclass(frozen=True, slots=True)
class Served:
    """An answer to be got, and its encoding."""

    encoding: Encoding
    body: bytes


def cases_for_sdks(cases: Iterable[Case]) -> list[Case]:
    """Return the cases that ask something of an SDK."""
    found = []
    for case in cases:
        if case.format not in FORMATS or case.expect == "encode" or case.level == "may":
            continue
        if case.group in _NOT_FOR_SDKS or not _NOT_OF_SDKS.isdisjoint(case.options):
            continue
        if (case.error or {}).get("clause") == _NOT_ITS_CLAUSE:
            continue
        served = [served_of(message, case.options) for message in case.messages]
        if served and all(served):
            found.append(case)
    return found


def run_cases(cases: Iterable[Case], name: str, driver: Driver, service: Service) -> Results:
    """Put cases to an SDK, and return what came of them."""
    codecs = {
        format_name: Codec(
            partial(_decode, format_name, driver, service), rejections=(SdkRaisedError,)
        )
        for format_name in FORMATS
    }
    testee = InProcessTestee(name, codecs, timeout=30.0)
    results = Results(testee.start(), name, "in process", "", FORMATS)
    return run(cases, (), [testee], results)


def _decode(
    format_name: str, driver: Driver, service: Service, message: Message, context: Context
) -> Iterator[Event | Mapping[str, Any]]:
    served = served_of(message, context.options)
    assert served is not None  # it was chosen so
    topic = None
    if format_name == "datahub-tuple":
        settings = read_settings(context)
        topic = topic_of(find_table(context.tables, settings), settings)
    service.set_topic(None if topic is None else topic.fields, _VERSIONS)
    service.set_answer(served.body, {"content-type": "application/octet-stream"})
    answer = driver.ask(
        {
            "cmd": "get",
            "endpoint": service.endpoint,
            "encoding": served.encoding,
            "compression": "none",
        }
    )
    if "raised" in answer:
        raise SdkRaisedError(answer["raised"])
    for record in answer["records"]:
        if topic is None:
            blob = KafkaMessage(None, base64.b64decode(record["data"]))
            yield from BLOB.to_events(blob, context=Context(options={"encoding": "record"}))
        else:
            yield _event(topic, record["data"])


def _event(topic: Topic, texts: list[str | None]) -> dict[str, Any]:
    """Return the event of a row in the text form, by what the SDK says and nothing else."""
    row = dict(zip((field.name for field in topic.fields), texts, strict=True))
    types = {field.name: field.type for field in topic.fields}
    with_bytes = {c.name for c in topic.columns if isinstance(c.type, BytesType)}
    image: dict[str, Any] = {}
    for name, text in row.items():
        if name in METADATA or text is None:
            image[name] = text
        elif name in with_bytes:
            image[name] = {"bytes": text}
        elif types[name] == "TIMESTAMP":
            image[name] = {"value": text, "unit": "us"}
        else:
            image[name] = _plain(text) if types[name] == "DECIMAL" else text
    metadata = {name: image.pop(name) for name in row if name in METADATA}
    op = {"I": "insert", "U": "update", "D": "delete"}[metadata["_operation_type_"]]
    is_old = (metadata["_before_image_"], metadata["_after_image_"]) == ("Y", "N")
    (time,) = (metadata[name] for name in EXECUTE_TIMES if name in metadata)
    event = {
        "kind": "row",
        "op": op,
        "schema": topic.table.schema,
        "table": metadata.get("_source_table_") or topic.table.name,
        "key": list(topic.table.key or ()),
        "position": {"sequence_id": str(int(metadata["_sequence_id_"])), "commit_ms": time},
        "before": image if is_old else None,
        "after": None if is_old else image,
    }
    return {**event, "half": "before" if is_old else "after"} if op == "update" else event


def _plain(text: str) -> str:
    """Return a decimal without exponent, unless that would be huge."""
    value = Decimal(text)
    is_huge = not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS
    return text if is_huge else format(value, "f")


# ---- puts as answers -------------------------------------------------------------------------


def served_of(message: Message, options: Mapping[str, Any]) -> Served | None:
    """Return a body as an answer; None for a record alone, and what can't be made an answer."""
    if not isinstance(message, KafkaMessage) or message.value is None:
        return None
    headers = headers_of(message)
    metadata = options.get("encoding", "auto" if message.value.startswith(MAGIC) else None)
    if "content-encoding" in headers or metadata == "record":
        return None
    if metadata is None and b'"Records"' not in message.value:
        return None  # a Blob message
    wanted = metadata if metadata in ("json", "protobuf", "batch") else None
    encoding = encoding_of(message.value, BodySettings(wanted), headers)
    make = _json_answer if encoding == "json" else _framed_answer
    body = make(message.value)
    return None if body is None else Served(encoding, body)


def _json_answer(raw: bytes) -> bytes | None:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    records = document.get("Records") if isinstance(document, dict) else None
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        return None
    if "Action" not in document:
        return raw
    answer = {
        "NextCursor": "next",
        "RecordCount": len(records),
        "StartSeq": 0,
        "Records": [
            {"Sequence": index, "SystemTime": 0, **each} for index, each in enumerate(records)
        ],
    }
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _framed_answer(raw: bytes) -> bytes | None:
    """Return an answer with the entries of a put. A frame that is broken stays as it is."""
    if len(raw) < _FRAME_BYTES or not raw.startswith(MAGIC):
        return raw
    stated, size = struct.unpack_from(">II", raw, len(MAGIC))
    body = raw[_FRAME_BYTES:]
    if size != len(body) or stated != crc32c(body):
        return raw
    entries = bytearray()
    count = position = 0
    while position < len(body):
        if body[position] in _OF_ANSWERS:
            return raw
        length, start = _varint(body, position + 1)
        if body[position] != _PUT_ENTRY or start < 0 or start + length > len(body):
            return None
        entries.append(_ANSWER_ENTRY)
        entries += body[position + 1 : start + length]
        position = start + length
        count += 1
    if count > 0x7F:
        return None
    return write_frame(b"\x0a\x04next\x10" + bytes([count]) + b"\x18\x00" + bytes(entries))


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number and where it ends; -1 where it does not."""
    value = shift = 0
    for place in range(position, min(position + 5, len(data))):
        value |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:
            return value, place + 1
        shift += 7
    return 0, -1
