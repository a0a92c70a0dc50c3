"""The liberties of a reader of Maxwell JSON: every scalar is a value, definitions are not read."""

from __future__ import annotations

from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json

LIBERTIES = Liberties(
    unchecked=frozenset({"maxwell-json: definitions", "maxwell-json: limits"}),
    scalars=frozenset(
        {
            *("maxwell-json: timestamp", "maxwell-json: transactions", "maxwell-json: position"),
            *("maxwell-json: query", "maxwell-json: primary key", "maxwell-json: numbers"),
            *("maxwell-json: texts", "maxwell-json: temporal values"),
            *("maxwell-json: enum and set values",),
        }
    ),
    mend=mend_json,
)
