"""Positions filled from one counter, so that streams of every pair of formats can meet."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.model.events import POSITION_MEMBERS, Position
from cdcwire.model.instants import tso_of_ms

BASE_MS = 1_704_067_200_000  # 2024-01-01 00:00:00 UTC
BASE_TSO = tso_of_ms(BASE_MS)

POSITION_FIELDS = POSITION_MEMBERS
_SERVER_UUID = "24bc7850-2c16-11e6-a073-0242ac110002"


def check_position_fields(position_fields: tuple[str, ...]) -> None:
    """Raise ValueError for a field that a position does not have."""
    odd = set(position_fields) - set(POSITION_FIELDS)
    if odd:
        raise ValueError(f"a position has no {', '.join(sorted(odd))}")


def commit_ts_at(commit: int) -> int:
    """Return the commit ts of transaction number ``commit``: one a millisecond."""
    return BASE_TSO + tso_of_ms(commit)


def position_at(
    change: int,
    commit: int,
    position_fields: tuple[str, ...] = ("commit_ts",),
    partition: int | None = None,
) -> Position:
    """Return the position of change number ``change``, in transaction number ``commit``.

    Only the fields that ``position_fields`` names are filled. Both numbers grow along a stream, and
    changes of one transaction share what is the transaction's: its time and id.
    """
    everything: dict[str, int | str | None] = {
        "commit_ts": commit_ts_at(commit),
        "sequence_id": 1_704_067_200_000_000_000 + change,
        "lsn": 163_955_000_000 + 56 * change,
        "tx_id": str(57_000_000 + commit),
        "tx_order": change,
        "partition": partition,
        "commit_ms": BASE_MS + commit,
        "sent_ms": BASE_MS + commit + 7,
        "file": "binlog.000001",
        "pos": 154 + 300 * change,
        "row": 0,
        "gtid": f"{_SERVER_UUID}:{1 + commit}",
        "server_id": 1,
        "commit_lsn": _hexadecimal_lsn(commit, 1),
        "change_lsn": _hexadecimal_lsn(commit, 2 + change),
        "event_serial_no": 1,
        "commit_scn": str(2_500_000 + commit),
        "scn": str(2_000_000 + change),
        "rs_id": f"0x{change:06x}.00000001.0010",
        "ssn": 0,
        "start_ts": commit_ts_at(commit) - 1,
    }
    return Position(**{name: everything[name] for name in position_fields})  # type: ignore[arg-type]


def with_mariadb_gtid(position: Position) -> Position:
    """Return a position of ``position_at`` with its GTID as MariaDB writes it.

    Source: MariaDB, "Global Transaction ID": domain, server and sequence number.
    """
    if position.gtid is None:
        return position
    number = position.gtid.replace(":", "-").rpartition("-")[2]
    return replace(position, gtid=f"0-1-{number}")


def _hexadecimal_lsn(*numbers: int) -> str:
    """Return the position of a record in SQL Server's log: its log file, block and slot."""
    commit, slot = numbers
    return f"00000027:{1 + commit:08x}:{slot % 0x10000:04x}"
