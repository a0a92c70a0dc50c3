"""The event fields and kinds that CDL JSON carries under the default options."""

from __future__ import annotations

from cdcwire.connect.carries import CDL_KINDS
from cdcwire.model.carries import EXACT, NO, Carries, lossy

CARRIES = Carries(
    fields={
        "op": lossy("a read comes back as an insert"),
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": NO,
        "lsn": EXACT,
        "tx_id": EXACT,
        "commit_ms": EXACT,
        "sent_ms": NO,
        "partition": NO,
        "types": EXACT,
        "schema change": NO,
        "progress": NO,
        "markers": NO,
    },
    kinds=CDL_KINDS,
)
