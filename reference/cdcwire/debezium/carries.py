"""The event fields that Debezium's messages carry, in JSON and in Avro alike."""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.model.carries import EXACT, NO, CarryVerdict, lossy, option

DEBEZIUM_FIELDS: Mapping[str, CarryVerdict] = {
    "op": EXACT,
    "before of update": option("transforms", "none"),
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
    "schema change": lossy("the statement and its number; few but truncate have a form"),
    "progress": EXACT,
    "markers": EXACT,
}
