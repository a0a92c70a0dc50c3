"""The values of a key and a value: Debezium's messages, with the framing of their bytes."""

from __future__ import annotations

from dataclasses import field

from cdcwire.connect import Envelope
from cdcwire.core.schemas import SchemaId
from cdcwire.formats.debezium_avro.connect_schema import DatumPlan
from cdcwire.formats.debezium_avro.settings import Framing
from cdcwire.model.slotted import slotted


@slotted(frozen=True, slots=True)
class Datum(Envelope):
    """A key or value: schema and payload as Connect has them, and how its bytes are written.

    ``framing``: of the id of its schema, ``schema_id``.
    """

    framing: Framing = "confluent"
    schema_id: SchemaId = 0
    plan: DatumPlan | None = field(default=None, repr=False, compare=False)
