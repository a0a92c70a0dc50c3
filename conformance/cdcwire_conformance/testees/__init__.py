"""Testees: decoders, each connected in one of the modes of the testee protocol.

| module | content |
| --- | --- |
| ``base`` | the interface of every testee, and its failures |
| ``pipes`` | a process that reads and answers lines |
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
