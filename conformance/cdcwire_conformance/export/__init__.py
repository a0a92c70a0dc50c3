"""The corpus as a release archive: all cases as lines of JSON, for tests that have no Python."""

from cdcwire_conformance.export.archive import Exported, ExportError, export_corpus
from cdcwire_conformance.export.lines import case_line

__all__ = ["ExportError", "Exported", "case_line", "export_corpus"]
