"""The liberties of a reader of `simple`: every scalar is a value, which it types itself."""

from __future__ import annotations

from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json

LIBERTIES = Liberties(
    unchecked=frozenset({"simple: limits", "simple: bootstrap", "simple: table schemas"}),
    scalars=frozenset(
        {
            *("simple: fields", "simple: schema versions", "simple: ddl events"),
            *("simple: handle key only", "simple: claim check", "simple: checksum"),
            *("simple: integer values", "simple: float values", "simple: decimal values"),
            *("simple: bit values", "simple: enum and set values", "simple: text values"),
            *("simple: temporal values", "simple: timestamp values", "simple: json columns"),
            *("simple: vector values", "simple: values"),
        }
    ),
    mend=mend_json,
)
