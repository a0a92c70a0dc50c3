"""``python -m cdcwire VERB``: the command ``cdcwire`` of the installed package."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points


def main() -> int:
    """Run the command. Returns: its exit code. Raises: SystemExit if no package has the command."""
    commands = entry_points(group="console_scripts", name="cdcwire")
    if not commands:
        sys.exit("cdcwire: the command is not installed: it is in the package cdcwire-conformance")
    code: int = next(iter(commands)).load()()
    return code


if __name__ == "__main__":
    sys.exit(main())
