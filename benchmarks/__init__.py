"""Benchmarks: ratios of routes that do the same work, in one process.

Each is a module to be run from the project's folder (``python -m benchmarks.decode``), and prints a
Markdown table with the bar beside each result. They are no tests: a busy machine must not fail one.
"""

import sys
from pathlib import Path

# Some use cdcwire_evidence, which is not installed. Installed packages come before the checkout.
sys.path.append(str(Path(__file__).parents[1] / "conformance"))
