"""The event fields and kinds that Debezium's JSON carries under the default options."""

from __future__ import annotations

from cdcwire.connect.carries import DEBEZIUM_KINDS
from cdcwire.model.carries import EXACT, NO, Carries, lossy, option

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": option("replica-identity", "full"),
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": NO,
        "lsn": EXACT,
        "tx_id": EXACT,
        "commit_ms": EXACT,
        "sent_ms": EXACT,
        "partition": NO,
        "types": EXACT,
        "schema change": lossy("the statement and its number; only truncate has a form"),
        "progress": EXACT,
        "markers": EXACT,
    },
    kinds=DEBEZIUM_KINDS,
)
