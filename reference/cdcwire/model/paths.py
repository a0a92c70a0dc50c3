"""The path from an event or a message to one of its values, outermost step first."""

from __future__ import annotations

from typing import TypeAlias

Step: TypeAlias = "str | int"
Path: TypeAlias = "tuple[Step, ...]"


def path_text(path: Path) -> str:
    """Return a path as people write it: ``rows[2].columns[0]``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).lstrip(".")
