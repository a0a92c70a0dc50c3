"""Decoders that are wrong on purpose, each with one fault that real decoders had.

A corpus that does not catch them all is not good enough. They are part of the package, since the
report names the case that catches each. Each format's suite lists those whose fault it can show.
"""

from cdcwire_conformance.known_wrong.decoder import KnownWrong

__all__ = ["KnownWrong"]
