"""The liberties of a reader of Avro: ranges, encodings and shapes of text, types that clash."""

from __future__ import annotations

from functools import partial

from cdcwire_conformance.families.avro_lenient import reads_int_as_long
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text

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
