"""The files that expire by ``file-expiration-days``."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from cdcwire.model.tso import ms_of_tso
from cdcwire.storage.paths import DataPath, IndexPath, PathLayout, parse_path

CLAUSE = "storage: expiration"


def is_expired(
    path: str,
    layout: PathLayout,
    checkpoint_ts: int,
    days: int,
    utc_offset: timedelta = timedelta(0),
) -> bool:
    """Return whether a file is deleted: its date lies before the checkpoint's minus ``days``.

    Only data and index files under dates of days expire; ``days`` 0 or less turns it off.
    ``utc_offset``: of the server, whose local date counts.
    Raises: DecodeError for a path that the layout can't have.
    Source: storage, "expiration".
    """
    if days <= 0 or layout.date_separator != "day":
        return False
    parsed = parse_path(path, layout)
    if not isinstance(parsed, (DataPath, IndexPath)):
        return False
    return parsed.date < oldest_kept_date(checkpoint_ts, days, utc_offset)


def oldest_kept_date(checkpoint_ts: int, days: int, utc_offset: timedelta = timedelta(0)) -> str:
    """Return the first date that stays, as ``YYYY-MM-DD``; "" if there is none before it."""
    checkpoint_ms = ms_of_tso(checkpoint_ts)
    since_epoch = timedelta(milliseconds=checkpoint_ms) - timedelta(days=days) + utc_offset
    try:
        return (datetime(1970, 1, 1, tzinfo=timezone.utc) + since_epoch).date().isoformat()
    except OverflowError:
        return ""
