"""The suite's facts about avro."""

from __future__ import annotations

from functools import partial

from cdcwire_conformance.families.lenient import reads_int_as_long
from cdcwire_conformance.formats.avro.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.avro.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_TEXTS = frozenset({"avro: text values", "avro: ddl"})
LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("avro: decimal text", "avro: bigint unsigned", "avro: vector values"),
            *("avro: integer values", "avro: column types", "avro: schema limits"),
        }
    ),
    scalars=frozenset({"avro: ddl"}),
    mend=partial(mend_text, texts=_TEXTS),
    forgives=reads_int_as_long,
    is_framed=True,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#967bb6",
        note=(
            "`avro` has one row per message, without its old values. Its schemas are in a "
            "registry and are not counted: a message has only their ids."
        ),
        has_one_row_per_message=True,
    ),
    command="cdcwire_conformance.formats.avro.command",
)
