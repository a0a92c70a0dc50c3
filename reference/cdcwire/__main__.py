"""The command ``cdcwire VERB``, and ``python -m cdcwire VERB``.

The package cdcwire-conformance adds its verbs as the entry point ``command`` of the group
``cdcwire``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import TypeAlias

_INTERRUPTED = 130
Command: TypeAlias = "Callable[[Sequence[str] | None], int]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns: its exit code; 130 for an interrupt while modules are imported."""
    return run_loaded(_command, argv)


def run_loaded(load: Callable[[], Command], argv: Sequence[str] | None) -> int:
    """Run the command that ``load`` imports. Returns: its exit code."""
    try:
        command = load()
    except KeyboardInterrupt:
        print("cdcwire: interrupted", file=sys.stderr)
        return _INTERRUPTED
    return command(argv)


def _command() -> Command:
    for found in entry_points(group="cdcwire", name="command"):
        whole: Command = found.load()
        return whole
    from cdcwire.cli import main as own

    return own


if __name__ == "__main__":
    sys.exit(main())
