"""Kafka Connect's JSON: the envelope of schema and payload that JsonConverter writes.

``decode`` gives schema and payload of one message, ``encode`` the bytes that JsonConverter writes.
Both CDL formats and Debezium's JSON use this layer.
"""

from cdcwire.connect.envelope import Envelope, Parsed, SchemasEnable, decode, encode, parse
from cdcwire.connect.fast import EnvelopeDecoder, PayloadReader, payload_reader
from cdcwire.connect.schema import NO_DEFAULT, ConnectType, ConnectValue, Field, Schema

__all__ = [
    "NO_DEFAULT",
    "ConnectType",
    "ConnectValue",
    "Envelope",
    "EnvelopeDecoder",
    "Field",
    "Parsed",
    "PayloadReader",
    "Schema",
    "SchemasEnable",
    "decode",
    "encode",
    "parse",
    "payload_reader",
]
