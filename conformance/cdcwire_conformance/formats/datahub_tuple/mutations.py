"""The rules of DataHub Tuple: bodies, and in them the metadata columns of rows.

A row has two flags; one is changed at a time, to a value that no operation allows. Another
operation type might be legal, so the operation type stays.
"""

from __future__ import annotations

from cdcwire_conformance.corpus.mutations.rules import FormatRules
from cdcwire_conformance.families.datahub_mutations import changes, legal_sizes

_LONG_PART = 256  # every byte of a text is alike; its fields are what differs

RULES = FormatRules(
    parts=("value",), legal_sizes=legal_sizes, changes=changes, long_part=_LONG_PART
)
