"""The suite's facts about debezium-avro."""

from functools import partial

from cdcwire_conformance.families.lenient import CONNECT_UNCHECKED, reads_int_as_long
from cdcwire_conformance.formats.debezium_avro.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.debezium_avro.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text
from cdcwire_conformance.suite import FormatSuite, SizeFacts

LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"debezium-avro: schemas", "avro: schema limits"},
    scalars=frozenset({"debezium-json: source", "debezium-json: heartbeats"}),
    mend=partial(mend_text, texts=frozenset({"avro: text values"})),
    forgives=reads_int_as_long,
    is_framed=True,
)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#b5651d",
        note=(
            "`debezium-avro` has one row per message, with both rows of an update. Its schemas are "
            "in a registry and are not counted: a message has only their ids."
        ),
        has_one_row_per_message=True,
    ),
)
