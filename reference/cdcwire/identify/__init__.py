"""The format and the settings of messages of unknown origin, with the evidence.

Each format says what it sees in a message (``Format.identify``). This package decodes with the
settings that this suggests, ranks the formats, and never calls one sure that could be another.
"""

from cdcwire.identify.ranking import (
    Candidate,
    Identification,
    Sample,
    identify_messages,
)

__all__ = ["Candidate", "Identification", "Sample", "identify_messages"]
