"""Benchmarks: ratios of routes that do the same work, in one process.

Run them from the project's folder: all (``python -m benchmarks``, with ``--quick`` in under a
minute) or one (``python -m benchmarks.decode``). Each prints a Markdown table with the bar next to
each result. They are not tests: a busy machine must not make one fail.
"""

import sys
from pathlib import Path

# Some use cdcwire_evidence, which is not installed. Installed packages come before the checkout.
sys.path.append(str(Path(__file__).parents[1] / "conformance"))
