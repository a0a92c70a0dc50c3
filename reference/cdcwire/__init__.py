"""Reference codecs for change-data-capture wire formats: bytes in, values out.

Each documented format is a package of its own (``from cdcwire import craft``). What they share
stands here: errors, the neutral model of events and types, and the registry of formats. Nothing in
this package opens a file, a socket or a clock, and nothing outside the standard library is needed.
"""

from cdcwire.errors import DecodeError, EncodeError, TruncatedError

__all__ = ["DecodeError", "EncodeError", "TruncatedError", "__version__"]

__version__ = "0.1.0"
