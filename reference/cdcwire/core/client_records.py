"""Records of confluent-kafka, kafka-python and aiokafka as messages, without importing a client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from cdcwire.core.message import KafkaMessage, Message, StoredFile

_BYTES = (bytes, bytearray, memoryview)
_Headers: TypeAlias = Iterable[tuple[str, bytes | None]]


def message_of(record: object) -> Message:
    """Return the message of a record: of this package, of a Kafka client, or the value's bytes.

    Raises: TypeError that names what was given; ValueError for an error of confluent-kafka, whose
    value is the text of the error.
    """
    if isinstance(record, (KafkaMessage, StoredFile)):
        return record
    if isinstance(record, _BYTES):
        return message_of_value(record)
    if not (hasattr(record, "key") and hasattr(record, "value")):
        given = "None, as poll() returns without a message" if record is None else _kind_of(record)
        raise TypeError(
            f"the record is {given}; it must be a KafkaMessage, a StoredFile, bytes, "
            "or the record of a Kafka client, with key and value"
        )
    error = _member(record, "error")
    if error is not None:
        raise ValueError(f"the record is an error of the client, not a message: {error!s:.200}")
    headers = _headers_of(_member(record, "headers"))
    return KafkaMessage(_bytes_of(record, "key"), _bytes_of(record, "value"), headers)


def each_record(records: Iterable[object]) -> Iterable[object]:
    """Return records to loop over. Raises: TypeError for one record, whose loop gives its parts."""
    if isinstance(records, (KafkaMessage, StoredFile, *_BYTES)) or hasattr(records, "value"):
        raise TypeError(f"records is one record, {_kind_of(records)}; pass a list of records")
    return records


def message_of_value(value: object, headers: _Headers | None = None) -> KafkaMessage:
    """Return the message of a value whose key is unknown. Raises: TypeError."""
    if value is not None and not isinstance(value, _BYTES):
        raise TypeError(f"the value is {_kind_of(value)}; it must be bytes or None")
    data = None if value is None else bytes(value)
    return KafkaMessage(None, data, _headers_of(headers), has_key=False)


def _headers_of(headers: _Headers | None) -> tuple[tuple[str, bytes], ...]:
    """Return a client's headers; a client may have None for no headers, and for an empty one."""
    return tuple((name, b"" if value is None else bytes(value)) for name, value in headers or ())


def _kind_of(value: object) -> str:
    return f"of type {type(value).__name__}"


def _member(record: object, name: str) -> Any:
    """Return an attribute, or the result of a method; None for a record without it."""
    member: Any = getattr(record, name, None)
    return member() if callable(member) else member


def _bytes_of(record: object, name: str) -> bytes | None:
    value = _member(record, name)
    if value is None or isinstance(value, bytes):
        return value
    raise TypeError(
        f"the record's {name} is {_kind_of(value)}; it must be bytes or None: "
        f"make the consumer without a {name} deserializer"
    )


def place_of(record: object) -> dict[str, Any]:
    """Return where a record is: the file of a ``StoredFile``, the topic of a client's record."""
    if isinstance(record, StoredFile):
        return {"file": record.path}
    if isinstance(record, (KafkaMessage, *_BYTES)):
        return {}
    kinds = {"topic": str, "partition": int, "offset": int}
    found = {name: _member(record, name) for name in kinds}
    return {name: value for name, value in found.items() if isinstance(value, kinds[name])}
