"""Programs that produce the evidence in REPORT.md. They are tested, but not part of the wheel."""

from __future__ import annotations

import sys
from pathlib import Path


def program(module: str, *words: str) -> list[str]:
    """Return the command of one of these programs: ``program("scenarios.load", "HOST:PORT")``."""
    return [sys.executable, str(Path(__file__).parents[1] / "evidence.py"), module, *words]
