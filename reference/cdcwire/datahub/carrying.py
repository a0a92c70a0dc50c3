"""Records in the messages that carry them: bodies of HTTP, with the options that both formats have.

Source: datahub, "bodies", "batching".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.limits import decompressed_bytes
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.options import from_context, option
from cdcwire.datahub.body import BodySettings, ContentEncoding, body_parts, write_body
from cdcwire.datahub.compression import MAX_RAW_BYTES
from cdcwire.datahub.fields import Field
from cdcwire.datahub.message import (
    Batch,
    BatchCompression,
    Body,
    Encoding,
    ReadyRecord,
    Record,
)
from cdcwire.model.events import Path

CLAUSE_BODIES = "datahub: bodies"
MAX_PUT_BYTES = 4 * 1024 * 1024  # of one put request; larger ones are refused by the service


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyOptions:
    """The options of both formats. ``body``: those that the reader and writer of bodies take."""

    encoding: str = "auto"
    compression: BatchCompression = option(
        "compression",
        "none",
        "Compression inside a batch; the caller passes the function that writes lz4.",
    )
    content_encoding: ContentEncoding = option(
        "content-encoding",
        "none",
        "Compression of a whole body without a header that names it; lz4 as above.",
    )
    compressions: Mapping[str, Compression] = from_context()
    max_decompressed_bytes: int = decompressed_bytes(MAX_RAW_BYTES)
    max_batch_size: int = option("max-batch-size", 16, "Records in one body.")
    empty_is_null: bool = False

    @property
    def body(self) -> BodySettings:
        """The settings for reading and writing bodies."""
        return BodySettings(
            cast(Encoding, self.encoding) if self.encoding not in ("auto", "record") else None,
            self.content_encoding,
            self.compression,
            self.empty_is_null,
            self.compressions,
            self.max_decompressed_bytes,
        )


def queued(message: Message) -> KafkaMessage:
    """Return the message of a queue. Raises: DecodeError for a file."""
    return expect_kafka(message, "datahub: records")


def value_of(message: KafkaMessage) -> bytes:
    """Return the bytes. Raises: DecodeError where there are none."""
    if message.value is None:
        raise DecodeError("there are no bytes", 0, CLAUSE_BODIES)
    return message.value


def headers_of(message: KafkaMessage) -> dict[str, str]:
    """Return the headers of HTTP, names in lower case; of a repeated one the last."""
    return {name.lower(): value.decode("latin-1") for name, value in message.headers}


def read_records(
    message: KafkaMessage, fields: Sequence[Field] | None, settings: BodySettings
) -> Iterator[tuple[Path, Record]]:
    """Yield the records of a body with the paths to their data. Raises: DecodeError."""
    for path, part in body_parts(value_of(message), fields, settings, headers_of(message)):
        if isinstance(part, Record):
            yield path, part


def write_records(
    groups: Iterable[Sequence[Record]],
    fields: Sequence[Field] | None,
    settings: BodySettings,
    max_batch_size: int,
) -> Iterator[KafkaMessage]:
    """Yield bodies with records. The records of a group (an update's two) share a body.

    A body is closed before it has more than ``max_batch_size`` records or, as estimated, more
    bytes than the service takes. Raises: EncodeError.
    """
    waiting: list[Record] = []
    size = 0
    for group in groups:
        weight = sum(map(_weight, group))
        if waiting and (
            len(waiting) + len(group) > max(max_batch_size, 1) or size + weight > MAX_PUT_BYTES
        ):
            yield _message(waiting, fields, settings)
            waiting, size = [], 0
        waiting += group
        size += weight
    if waiting:
        yield _message(waiting, fields, settings)


def _weight(record: Record) -> int:
    if isinstance(record, ReadyRecord):
        return record.weight
    if isinstance(record.data, bytes):
        return len(record.data) * 4 // 3 + 64
    return sum(len(value) * 3 if isinstance(value, str) else 24 for value in record.data) + 64


def _message(
    records: list[Record], fields: Sequence[Field] | None, settings: BodySettings
) -> KafkaMessage:
    encoding: Encoding = settings.encoding or "json"
    entries: tuple[Record | Batch, ...] = tuple(records)
    if encoding == "batch":
        entries = (Batch(tuple(records), settings.compression),)
    with step("body"):
        raw, headers = write_body(Body(encoding, entries), fields, settings)
    return KafkaMessage(
        None, raw, tuple((name, text.encode("ascii")) for name, text in headers.items())
    )
