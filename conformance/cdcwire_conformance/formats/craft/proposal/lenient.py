"""The liberties of a reader of Craft as proposed: versions, encodings of text, undefined types."""

from __future__ import annotations

from cdcwire_conformance.formats.craft.lenient import mend_version_or_text
from cdcwire_conformance.known_wrong.lenient import Liberties

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
