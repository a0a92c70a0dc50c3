"""The event fields and kinds that Open Protocol carries under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy, option
from cdcwire.mysql.carries import LABELS_AS_INDEXES, mysql_kinds

_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": lossy(
        "ill-formed bytes of CHAR and VARCHAR, each becomes U+FFFD", replaced="in CHAR and VARCHAR"
    ),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": option("output-old-value"),
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": EXACT,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": NO,
        "partition": EXACT,
        "types": EXACT,
        "schema change": EXACT,
        "progress": EXACT,
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
