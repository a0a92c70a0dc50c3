"""The liberties of a reader of Canal-JSON: every scalar is a value, which it types itself."""

from __future__ import annotations

from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json

LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("canal-json: mysqlType", "canal-json: sqlType"),
            *("storage: names", "storage: separators", "storage: file numbers"),
            *("storage: index files", "storage: schema hash", "storage: versions"),
        }
    ),
    scalars=frozenset(
        {
            *("canal-json: members", "canal-json: tidb extension", "canal-json: watermarks"),
            *("canal-json: handle key only", "canal-json: primary key names"),
            *("canal-json: integer values", "canal-json: float values"),
            *("canal-json: decimal values", "canal-json: temporal values"),
            *("canal-json: text values", "canal-json: enum and set values"),
            *("canal-json: json values", "canal-json: vector values"),
        }
    ),
    mend=mend_json,
)
