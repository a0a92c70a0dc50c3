"""A storage sink on a disk that gets full: a program of its own, on a disk of its own.

``run_on_a_small_disk`` mounts a disk in memory that only this program sees (``unshare``), so that
no mount is left however it ends.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from cdcwire.core.context import Context
from cdcwire.files.stores import LocalStore, StoreError
from cdcwire.storage.writing import WriteOrder
from cdcwire_conformance.sources.storage.writing import PrefixWriter, WriterSettings
from cdcwire_evidence.scenarios.prefixes import (
    OPTIONS,
    events_of_sink,
    go_on,
    replayed_with_faults,
    rows_of,
    write_all,
)
from cdcwire_evidence.scenarios.services import NotRunError

ROWS = 400
ORDERS: tuple[WriteOrder, ...] = ("data-first", "index-first")
LEFT_KIB = (0, 4, 8)  # the room that is left: none, or enough for a part of a file
_DISK_KIB = 4096
_MOUNT = f'mount -t tmpfs -o size={_DISK_KIB}k tmpfs "$0" && exec "$@"'
_WAIT_MS = 3_600_000  # of rows, so that files are larger than the room that is left


@dataclass(frozen=True, slots=True)
class FullDisk:
    """One feed into a directory whose disk gets full in the middle and has room again later.

    ``refused``: what the sink said. ``rows_while_full``, ``faults_while_full``: what a reader got
    then; ``rows``, ``faults``: what it got at the end, when the sink had gone on.
    """

    write_order: WriteOrder
    left_kib: int
    refused: str
    rows_while_full: list[str]
    faults_while_full: list[str]
    rows: list[str]
    faults: list[str]


def run_on_a_small_disk(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command that has a small disk at a folder; nobody else sees that, and it goes with it.

    Raises: NotRunError where a user may not mount anything.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        raise NotRunError("the program unshare is not installed; it gives a program private mounts")
    for rights in ("-m", "-rm"):  # root, and users who may be root in a world of their own
        words = [unshare, rights, "sh", "-c", _MOUNT, str(folder)]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return subprocess.run([*words, *command], capture_output=True, text=True, check=False)
    raise NotRunError("programs may not have private mounts on this machine")


def fill(ballast: Path, left_kib: int) -> None:
    """Take all room of a disk but so many KiB."""
    with ballast.open("wb", buffering=0) as out:
        out.write(bytes((shutil.disk_usage(ballast.parent).free >> 10) - left_kib << 10))


def fill_while_writing(folder: Path, order: WriteOrder, left_kib: int) -> FullDisk:
    """Let the disk get full in the middle of a feed, look, make room, and let the sink go on."""
    ballast, place, context = (
        folder / "ballast",
        LocalStore(folder / "feed"),
        Context(OPTIONS["csv"]),
    )
    events = events_of_sink(ROWS)
    settings = WriterSettings(order, flush_interval_ms=_WAIT_MS)
    writer = PrefixWriter(place, "csv", context, settings)
    half = len(events) // 2
    write_all(writer, events[:half])
    fill(ballast, left_kib)
    refused = ""
    try:
        write_all(writer, events[half:])
        writer.close()
    except StoreError as error:
        refused = str(error)
    early, faults_while_full = replayed_with_faults(place, "csv", context, order)
    ballast.unlink()
    go_on(writer, events)
    late, faults = replayed_with_faults(place, "csv", context, order)
    return FullDisk(
        write_order=order,
        left_kib=left_kib,
        refused=refused,
        rows_while_full=rows_of(early),
        faults_while_full=list(map(str, faults_while_full)),
        rows=rows_of(late),
        faults=list(map(str, faults)),
    )


def main(folder: Path) -> None:
    """Print a JSON line for each case. ``folder``: a small disk that is empty."""
    for order in ORDERS:
        for left_kib in LEFT_KIB:
            print(json.dumps(asdict(fill_while_writing(folder, order, left_kib))))
            shutil.rmtree(folder / "feed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
