"""The event fields and kinds that Maxwell JSON carries under the default options.

Rows name no types, so they are read by the definitions of their tables.
"""

from __future__ import annotations

from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy
from cdcwire.mysql.carries import INDEXES_AS_LABELS, mysql_kinds

_INSTANT = as_form("timestamp with zone")
_KINDS: dict[str, CarryVerdict] = {
    **INDEXES_AS_LABELS,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": NO,
    "timestamp": _INSTANT,
    "timestamp as count": _INSTANT,
    "timestamp with zone": _INSTANT,
    "json": lossy("a JSON null, which becomes NULL"),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": EXACT,
        "commit_ms": lossy("the part below a second"),
        "sent_ms": NO,
        "partition": NO,
        "types": EXACT,
        "schema change": NO,  # encoding one needs the definitions before and after it
        "progress": NO,
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
