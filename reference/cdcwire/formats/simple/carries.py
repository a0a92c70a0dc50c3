"""The event fields and kinds that `simple` carries under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy
from cdcwire.mysql.carries import LABELS_AS_INDEXES, mysql_kinds

_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": lossy("ill-formed bytes, each becomes U+FFFD", replaced="in all text"),
    "timestamp with zone": as_form("timestamp with zone"),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": EXACT,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": EXACT,
        "partition": NO,
        "types": EXACT,
        "schema change": lossy(
            "the number of the action, and the schema of a statement about a whole one"
        ),
        "progress": EXACT,
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
