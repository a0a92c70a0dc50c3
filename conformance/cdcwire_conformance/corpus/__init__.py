"""The golden corpus: cases, the cases derived from them, and the checks that keep them true.

| module | content |
| --- | --- |
| ``case`` | one case and its reading |
| ``files`` | the files of a folder or of an archive |
| ``store`` | the place of the corpus; loading, the index, retired ids |
| ``derive`` | malformed derived cases, by the rules of each format |
| ``clauses`` | the clause headings of the pages of the formats |
| ``rebuild``, ``check`` | the files that the tool makes, and the check that all agrees |
"""

from cdcwire_conformance.corpus.case import (
    Case,
    CorpusError,
    Expect,
    Level,
    MessageFiles,
    read_case,
)
from cdcwire_conformance.corpus.store import (
    corpus_version,
    golden_files,
    id_fits,
    load_case,
    load_cases,
    read_index,
)

__all__ = [
    "Case",
    "CorpusError",
    "Expect",
    "Level",
    "MessageFiles",
    "corpus_version",
    "golden_files",
    "id_fits",
    "load_case",
    "load_cases",
    "read_case",
    "read_index",
]
