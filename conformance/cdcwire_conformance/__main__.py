"""The entry of the command line: ``cdcwire VERB``, and ``python -m cdcwire_conformance VERB``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns: its exit code; 130 for an interrupt while modules are imported."""
    try:
        from cdcwire_conformance.cli import main as run
    except KeyboardInterrupt:
        print("cdcwire: interrupted", file=sys.stderr)
        return _INTERRUPTED
    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
