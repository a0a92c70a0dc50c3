"""The testee protocol: what the runner says to a decoder, and what it answers.

The contract is written for authors in ``docs/testee-protocol.md``. The JSON Schemas in this
directory say the same to machines.

| module | what it has |
| --- | --- |
| ``messages`` | a message in JSON, and back |
| ``requests`` | what the runner sends |
| ``answers`` | reading what a testee answers |
| ``check`` | every line against the schemas (``--check-protocol``) |
"""

from cdcwire_conformance.protocol.answers import (
    Answer,
    Claim,
    Description,
    Events,
    Messages,
    ProtocolError,
    Rejected,
)
from cdcwire_conformance.protocol.requests import PROTOCOL_VERSION, Request

__all__ = [
    "PROTOCOL_VERSION",
    "Answer",
    "Claim",
    "Description",
    "Events",
    "Messages",
    "ProtocolError",
    "Rejected",
    "Request",
]
