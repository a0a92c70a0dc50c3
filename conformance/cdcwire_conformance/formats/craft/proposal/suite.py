"""The suite's facts about craft-proposal."""

from __future__ import annotations

from cdcwire_conformance.formats.craft.proposal.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.proposal.mutations import RULES
from cdcwire_conformance.formats.craft.suite import CLAIM, mend_version_or_text
from cdcwire_conformance.known_wrong.lenient import Liberties
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_TEXTS = frozenset(
    {
        "craft-proposal: ddl events",
        "craft-proposal: strings",
        "craft-proposal: names",
        "craft-proposal: string arrays",
        "craft-proposal: values",
    }
)

LIBERTIES = Liberties(mend=mend_version_or_text("craft-proposal: version", b"\x00\x01", _TEXTS))
SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(color="#7fb7dd", claim=CLAIM),
)
