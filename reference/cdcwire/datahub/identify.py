"""The signs of a body of DataHub, and of its records: blobs or tuples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, OptionValues, json_object
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Reader
from cdcwire.datahub.body import (
    DEFAULT_SETTINGS,
    BodySettings,
    ContentEncoding,
    encoding_of,
    open_content,
    read_body,
)
from cdcwire.datahub.compression import MAX_RAW_BYTES
from cdcwire.datahub.frame import MAGIC, read_frame
from cdcwire.datahub.message import Batch

RecordKind: TypeAlias = Literal["blobs", "tuples"]

_CONTENTS: tuple[ContentEncoding, ...] = ("none", "deflate", "lz4")
_MOST_COMPRESSED = 1 << 20  # larger values are not opened


@dataclass(frozen=True, slots=True)
class _Body:
    evidence: str
    content: ContentEncoding
    encoding: str
    records: RecordKind | None  # None: there are none
    compression: str = "none"


def guess_body(message: Message, records: RecordKind) -> Guess | None:
    """Return a guess for a body whose records have this kind, or that has none."""
    if not isinstance(message, KafkaMessage) or not message.value:
        return None
    body = _find(message.value)
    if body is None or body.records not in (records, None):
        return None
    options: OptionValues = {"encoding": body.encoding}
    if body.content != "none":
        options = {**options, "content-encoding": body.content}
    facts = {"body": body.encoding}
    if body.compression != "none":
        facts["compression of batches"] = body.compression
    if body.records is None:
        return Guess(f"{body.evidence}, without records", "value", 0, "possible", options=options)
    evidence = f"{body.evidence}, whose records are {records}"
    return Guess(evidence, alone="likely", options=options, facts=facts)


@lru_cache(maxsize=4)
def _find(value: bytes) -> _Body | None:
    for content in _CONTENTS:
        if content != "none" and len(value) > _MOST_COMPRESSED:
            break
        try:
            opened = open_content(value, BodySettings(content_encoding=content), {})
        except DecodeError:
            continue
        found = _of_json(opened, content) or _of_frame(opened, content)
        if found is not None:
            return found
    return None


def _of_json(opened: bytes, content: ContentEncoding) -> _Body | None:
    body = json_object(opened)
    records = None if body is None else body.get("Records")
    if body is None or not isinstance(records, list):
        return None
    if body.get("Action") != "pub" and "NextCursor" not in body:
        return None
    data = [each.get("Data") for each in records if isinstance(each, dict)]
    kind: RecordKind | None = None
    if data:
        kind = "tuples" if isinstance(data[0], list) else "blobs"
    return _Body("JSON with the member Records", content, "json", kind)


def _of_frame(opened: bytes, content: ContentEncoding) -> _Body | None:
    if not opened.startswith(MAGIC) or len(opened) > MAX_RAW_BYTES:
        return None
    try:
        read_frame(Reader(opened))
    except DecodeError:
        return None
    evidence, encoding = (
        "the frame DHUB with a checksum that fits",
        encoding_of(opened, DEFAULT_SETTINGS, {}),
    )
    try:
        body = read_body(opened, None)
    except DecodeError:  # of a blob topic, it would be read
        return _Body(evidence, content, encoding, "tuples")
    records = body.records()
    if not records:
        return _Body(evidence, content, encoding, None)
    is_json = all(isinstance(each.data, bytes) and each.data[:1] == b"{" for each in records)
    batch = next((each for each in body.entries if isinstance(each, Batch)), None)
    compression = "none" if batch is None else batch.compression
    return _Body(evidence, content, encoding, "blobs" if is_json else "tuples", compression)
