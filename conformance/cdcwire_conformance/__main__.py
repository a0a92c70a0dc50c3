"""``python -m cdcwire_conformance VERB``: the command ``cdcwire``, also where it runs in place."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cdcwire.__main__ import Command, run_loaded


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns: its exit code; 130 for an interrupt while modules are imported."""
    return run_loaded(_command, argv)


def _command() -> Command:
    from cdcwire_conformance.cli import main as command

    return command


if __name__ == "__main__":
    sys.exit(main())
