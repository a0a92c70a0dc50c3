"""The processes that a command has started, so that all of them can be ended.

Children are found by their parents, and those that have left their parents by a variable in their
environment. Both need ``/proc``; elsewhere only the group of the command is killed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
LABEL_VARIABLE = "CDCWIRE_TESTEE"
_RUN = secrets.token_hex(8)
_numbers = itertools.count(1)
_ROUNDS = 50  # a process may fork while it is looked for, and takes a moment to end
_SECONDS_BETWEEN_ROUNDS = 0.02


def labelled_environment(env: Mapping[str, str] | None) -> tuple[dict[str, str], str]:
    """Return an environment with a new label, and the label."""
    label = f"{_RUN}.{next(_numbers)}."
    return {**(os.environ if env is None else env), LABEL_VARIABLE: label}, label


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
    """Yield the running processes with a label in their environment; by default of any command."""
    wanted = f"{LABEL_VARIABLE}={label}".encode()
    try:
        names = os.listdir(PROC)
    except OSError:
        return
    for name in names:
        if name.isdigit() and int(name) != os.getpid():
            # A process that has ended, or of another user, has no environment to read.
            with contextlib.suppress(OSError):
                environment = (PROC / name / "environ").read_bytes()
                if any(each.startswith(wanted) for each in environment.split(b"\0")):
                    yield int(name)


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
