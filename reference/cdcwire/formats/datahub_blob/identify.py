"""The signs of Blob messages: the members of a record, or a body whose records are blobs."""

from __future__ import annotations

from cdcwire.core.guess import Guess, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.datahub.identify import guess_body
from cdcwire.datahub.ops import OPS

_MEMBERS = {"schema", "payload"}
_OF_SCHEMA = {"dataColumn", "source"}


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is a blob, or a body of blobs."""
    return _of_record(message) or guess_body(message, "blobs")


def _of_record(message: Message) -> Guess | None:
    if not isinstance(message, KafkaMessage):
        return None
    found = json_object(message.value)
    if found is None or message.value is None or not found.keys() >= _MEMBERS:
        return None
    schema, payload = found["schema"], found["payload"]
    if not isinstance(schema, dict) or not isinstance(payload, dict):
        return None
    is_marker = str(payload.get("op")) in OPS and not schema
    if not schema.keys() & _OF_SCHEMA and not is_marker:
        return None
    version = found.get("version")
    return Guess(
        f"the members schema and payload, with {'an op' if is_marker else 'dataColumn'} of DataHub",
        "value",
        offset_of(message.value, "schema"),
        alone="sure",
        options={"encoding": "record"},
        alternatives=({}, {"lenient-ops": True}),
        facts={"version": f"{version:.40}"} if isinstance(version, str) else {},
    )
