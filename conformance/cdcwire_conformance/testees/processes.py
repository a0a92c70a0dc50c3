"""The processes that a command has started: how all of them are ended, and the memory they hold.

Children are found by their parents, and others by a label. The label is a variable in the
environment, and a limit on a resource that Linux no longer has. A process inherits the limit
whatever its environment and its session are. All of this needs ``/proc``; elsewhere only the group
of the command is killed.

The limit of memory is on resident memory. A limit on address space would stop Go and Java, which
reserve far more than they use. Without ``/proc`` nothing is measured.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LABEL_VARIABLE = "CDCWIRE_TESTEE"
_RUN = str(secrets.choice(range(10**8, 10**9)))  # a label is 18 digits: a run, a number in it
_FILE_LOCKS = 10  # RLIMIT_LOCKS: without effect since Linux 2.4.25
_NAME_OF_FILE_LOCKS = b"Max file locks"  # in /proc/PID/limits
_numbers = itertools.count(1)
_ROUNDS = 50  # a process may fork while it is looked for, and takes a moment to end
_SECONDS_BETWEEN_ROUNDS = 0.02


def labelled_environment(env: Mapping[str, str] | None) -> tuple[dict[str, str], str]:
    """Return an environment with a new label, and the label."""
    label = f"{_RUN}{next(_numbers):09}"
    return {**(os.environ if env is None else env), LABEL_VARIABLE: label}, label


def label_process(pid: int, label: str) -> None:
    """Give a label to a process that has just started, for all that it will start (Linux).

    A process of another user can't get it.
    """
    if sys.platform == "linux":
        import resource

        for each in process_tree(pid):
            with contextlib.suppress(OSError, ValueError):
                _, hard = resource.prlimit(each, _FILE_LOCKS)
                resource.prlimit(each, _FILE_LOCKS, (int(label), hard))


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all that it has started, directly or through others."""
    waiting = [pid]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        waiting.extend(_children(current))


def _children(pid: int) -> Iterator[int]:
    try:
        for task in os.listdir(PROC / str(pid) / "task"):
            text = (PROC / str(pid) / "task" / task / "children").read_text(encoding="ascii")
            yield from map(int, text.split())
    except (OSError, ValueError):  # it ended meanwhile
        return


def labelled_processes(label: str = _RUN) -> Iterator[int]:
    """Yield the running processes with a label; by default those of all commands."""
    try:
        names = os.listdir(PROC)
    except OSError:
        return
    for name in names:
        if name.isdigit() and int(name) != os.getpid() and _has_label(PROC / name, label.encode()):
            yield int(name)


def _has_label(process: Path, label: bytes) -> bool:
    try:
        limits = (process / "limits").read_bytes()
        soft = limits.partition(_NAME_OF_FILE_LOCKS)[2].lstrip()
        if soft.startswith(label):
            stat = (process / "stat").read_bytes()
            return stat.rpartition(b")")[2].split()[0] != b"Z"  # it has ended otherwise
        environment = (process / "environ").read_bytes()
    except OSError:  # it has ended, or is a process of another user
        return False
    wanted = f"{LABEL_VARIABLE}=".encode() + label
    return any(each.startswith(wanted) for each in environment.split(b"\0"))


def kill_labelled(label: str) -> None:
    """Kill all processes with a label, and wait a second at most until they have ended."""
    for _ in range(_ROUNDS):
        found = list(labelled_processes(label))
        if not found:
            return
        kill(found)
        time.sleep(_SECONDS_BETWEEN_ROUNDS)


def kill(pids: list[int]) -> None:
    """Kill processes; those that have ended are left out."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


MEBIBYTE = 1 << 20
LINE_LIMIT = 64 * MEBIBYTE  # of one answer
MEMORY_LIMIT = 2048 * MEBIBYTE
TIMEOUT = 10.0  # seconds for one answer
START_TIMEOUT = 60.0  # a virtual machine may need its time


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for an answer and for the start, bytes of an answer and of memory (None: any)."""

    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    line: int = LINE_LIMIT
    memory: int | None = None


USUAL_LIMITS = Limits()


_SHARE = 0.75  # of the machine's memory, for all testees together


def over_limit_text(limit: int | None) -> str:
    """Return what is said of a process that used more memory than its limit."""
    return f"it used more than {(limit or 0) // MEBIBYTE} MiB of memory (--memory)"


def can_measure() -> bool:
    """Return whether this platform shows the memory of processes."""
    return (PROC / "self" / "statm").exists()


def default_limit(jobs: int) -> int | None:
    """Return the limit for each of ``jobs`` testees; None where nothing can be measured."""
    if not can_measure():
        return None
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(MEMORY_LIMIT, int(total * _SHARE / max(1, jobs)))


def resident_memory(pids: Iterable[int]) -> int:
    """Return the resident bytes of processes; 0 for those that have ended."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page * sum(map(_resident_pages, pids))


def _resident_pages(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
