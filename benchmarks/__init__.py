"""Benchmarks: ratios of routes that do the same work, in one process.

Run each as a module from the project's folder (``python -m benchmarks.decode``). It prints a
Markdown table with the bar next to each result. They are not tests: a busy machine must not make
one fail.
"""

import sys
from pathlib import Path

# Some use cdcwire_evidence, which is not installed. Installed packages come before the checkout.
sys.path.append(str(Path(__file__).parents[1] / "conformance"))
