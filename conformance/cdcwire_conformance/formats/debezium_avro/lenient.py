"""The liberties of a reader of Debezium Avro: ranges of numbers, and texts that are not UTF-8."""

from __future__ import annotations

from functools import partial

from cdcwire_conformance.families.avro_lenient import reads_int_as_long
from cdcwire_conformance.families.connect_lenient import CONNECT_UNCHECKED
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text

LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"debezium-avro: schemas", "avro: schema limits"},
    scalars=frozenset({"debezium-json: source", "debezium-json: heartbeats"}),
    mend=partial(mend_text, texts=frozenset({"avro: text values"})),
    forgives=reads_int_as_long,
    is_framed=True,
)
