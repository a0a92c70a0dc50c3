"""The event fields and kinds that CSV files carry under the default options.

Fields of events come from the path, the schema files and the options; kinds from the definition.
"""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, option
from cdcwire.storage.paths import OF_PATHS

_AS: dict[str, CarryVerdict] = {
    "bool": as_form("int8"),
    "float not finite": NO,
    "decimal not finite": NO,
    "date as count": as_form("date"),
    "time as count": as_form("time"),
    "datetime as count": as_form("datetime"),
    "timestamp as count": as_form("timestamp"),
    "timestamp with zone": option("time-zone"),
    "interval": NO,
    "enum by index": as_form("enum by label"),
    "set by index": as_form("set by label"),
    "array": NO,
    "map": NO,
    "struct": NO,
    "unknown": NO,
    "unavailable": NO,
}

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": option("output-old-value"),
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": option("include-commit-ts"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": NO,
        "partition": OF_PATHS,
        "types": EXACT,
        "schema change": EXACT,
        "progress": EXACT,
        "markers": NO,
    },
    kinds={kind: _AS.get(kind, EXACT) for kind in KINDS},
)
