"""The liberties of a reader of this format: those of Connect's JSON, and versions."""

from __future__ import annotations

from cdcwire_conformance.families.connect_lenient import CONNECT_SCALARS, CONNECT_UNCHECKED
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json

LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"debezium-json: message version"},
    scalars=CONNECT_SCALARS
    | {
        *("debezium-json: source", "debezium-json: heartbeats"),
        "debezium-json: logical messages",
    },
    mend=mend_json,
)
