"""Reference codecs for change-data-capture wire formats: bytes in, values out.

Each documented format is a package (``from cdcwire import craft``), imported when it is first used.
All formats share the errors, the neutral model of events and types, and the registry of formats.
This package opens no file, socket or clock, and needs only the standard library.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError

if TYPE_CHECKING:
    from cdcwire.core.registry import *  # noqa: F403 (the formats, for type checkers)

__all__ = ["DecodeError", "EncodeError", "TruncatedError", "__version__"]

__version__ = "0.1.0"


def __getattr__(name: str) -> ModuleType:
    """Import a format by the name of its package: ``cdcwire.craft``."""
    from cdcwire.core.registry import package_of

    try:
        package = package_of(name.replace("_", "-"))
    except ValueError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return import_module(f"cdcwire.formats.{package}")
