"""The requests that the runner sends: start, decode, encode, stop.

A request is one line. Everything outside ASCII is escaped, so that a testee which splits its input
at the line ends of Unicode reads whole lines all the same. Members that a case does not need are
missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from cdcwire.files.json_messages import bytes_to_json, json_line, message_to_json
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case

PROTOCOL_VERSION = 1

Command: TypeAlias = Literal["decode", "encode"]

START_LINE = b'{"cmd":"start","protocol":%d}\n' % PROTOCOL_VERSION
STOP_LINE = b'{"cmd":"stop"}\n'


# The feature of cases whose messages are read with the definitions of their tables.
USES_DEFINITIONS = "definitions"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a testee, not yet numbered. ``body`` has all members but cmd, seq, format."""

    cmd: Command
    format: str
    body: Mapping[str, Json]

    def document(self, seq: int) -> dict[str, Json]:
        """Return the request as a JSON object with this sequence number."""
        return {"cmd": self.cmd, "seq": seq, "format": self.format, **self.body}

    def line(self, seq: int) -> bytes:
        """Return the request as a line of JSON with this sequence number."""
        return json_line(self.document(seq))


def decode_request(case: Case) -> Request:
    """Return the request to decode the messages of a case."""
    body = _context_members(case)
    if not needs_tables(case.format) and USES_DEFINITIONS not in case.features:
        body.pop("tables", None)
    body["messages"] = [message_to_json(message) for message in case.messages]
    return Request("decode", case.format, body)


def encode_request(case: Case) -> Request:
    """Return the request to encode the events of a case."""
    body = _context_members(case)
    body["events"] = case.events
    return Request("encode", case.format, body)


@cache
def needs_tables(format_name: str) -> bool:
    """Return whether a decoder of this format needs table definitions."""
    return format_name not in FORMAT_NAMES or get_format(format_name).needs_tables


def _context_members(case: Case) -> dict[str, Json]:
    """Return what the bytes don't say."""
    members: dict[str, Json] = {}
    if case.options:
        members["options"] = dict(case.options)
    if case.tables:
        members["tables"] = case.tables
    if case.schemas:
        members["schemas"] = dict(case.schemas)
    if case.blobs:
        members["blobs"] = {location: bytes_to_json(blob) for location, blob in case.blobs.items()}
    return members
