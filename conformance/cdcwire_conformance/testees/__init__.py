"""What is judged: a decoder, connected in one of the modes of the testee protocol.

| module | what it has |
| --- | --- |
| ``base`` | what every testee can do, and how it fails |
| ``pipes`` | a process that is spoken to line by line |
| ``kept_alive``, ``one_shot`` | the two modes |
| ``in_process`` | Python functions as a testee |
| ``reference`` | the reference codecs, as a program for both modes |
"""

from cdcwire_conformance.testees.base import CannotStartError, NoAnswer, Reply, Testee
from cdcwire_conformance.testees.kept_alive import KeptAliveTestee
from cdcwire_conformance.testees.one_shot import OneShotTestee

__all__ = [
    "CannotStartError",
    "KeptAliveTestee",
    "NoAnswer",
    "OneShotTestee",
    "Reply",
    "Testee",
]
