"""The testee protocol: the runner's requests to a decoder, and the decoder's answers.

The contract is written for authors in ``docs/testee-protocol.md``. The JSON Schemas in this
directory say the same to machines.

| module | content |
| --- | --- |
| ``requests`` | the runner's requests, and how testees in Python read them |
| ``answers`` | reading a testee's answers |
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
