"""The event fields and kinds that Canal-JSON carries on a queue, under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy, option
from cdcwire.mysql.carries import LABELS_AS_INDEXES, mysql_kinds

_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": lossy("ill-formed bytes, each becomes U+FFFD", replaced="in all text"),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": option("enable-tidb-extension"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": EXACT,
        "sent_ms": EXACT,
        "partition": NO,  # a file's path has it, a message does not
        # mysqlType has them in full under content-compatible only.
        "types": lossy("lengths, digits and elements"),
        "schema change": lossy("the number of the action"),
        "progress": option("enable-tidb-extension"),
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
