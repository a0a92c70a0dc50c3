"""The formats, one package each. ``cdcwire.core.registry`` lists them.

``get_format`` and ``FORMAT_NAMES`` are importable from here too.
"""

from cdcwire.core.registry import FORMAT_NAMES, get_format

__all__ = ["FORMAT_NAMES", "get_format"]
