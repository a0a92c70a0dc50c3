"""Decoders that are wrong on purpose, each with one fault that real decoders had.

A corpus that does not catch them all is not good enough. They live here, not under tests, since
the report names the case that catches each.
"""

from cdcwire_conformance.known_wrong.avro import AVRO
from cdcwire_conformance.known_wrong.connect import CONNECT_FAULTS
from cdcwire_conformance.known_wrong.datahub import DATAHUB_FAULTS
from cdcwire_conformance.known_wrong.debezium import DEBEZIUM_FAULTS
from cdcwire_conformance.known_wrong.decoder import KnownWrong
from cdcwire_conformance.known_wrong.events import EVENTS
from cdcwire_conformance.known_wrong.structure import STRUCTURE
from cdcwire_conformance.known_wrong.texts import TEXTS
from cdcwire_conformance.known_wrong.values import VALUES

KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *VALUES,
    *TEXTS,
    *EVENTS,
    *STRUCTURE,
    *AVRO,
    *DATAHUB_FAULTS,
    *CONNECT_FAULTS,
    *DEBEZIUM_FAULTS,
)

__all__ = ["KNOWN_WRONG", "KnownWrong"]
