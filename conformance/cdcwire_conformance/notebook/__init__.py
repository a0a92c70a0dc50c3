"""Comparisons in notebooks: one function, and a result that a notebook shows."""

from cdcwire_conformance.notebook.comparing import compare
from cdcwire_conformance.notebook.shown import NotebookComparison

__all__ = ["NotebookComparison", "compare"]
