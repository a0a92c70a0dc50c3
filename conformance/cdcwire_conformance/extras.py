"""Libraries that only some commands need, loaded when they are needed.

They belong to the extras of the package (``pip install 'cdcwire[ddl]'``); without them everything
else works.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class MissingExtraError(Exception):
    """A library is not installed. The text is one line for the user, and says how to get it."""


def load_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Return a module of a library that an extra brings.

    ``purpose``: what needs it, as the beginning of a sentence. Raises: MissingExtraError.
    """
    return load_library(module, f"'cdcwire[{extra}]'", purpose)


def load_library(module: str, requirement: str, purpose: str) -> ModuleType:
    """Return a module of a library that ``pip install REQUIREMENT`` brings.

    Raises: MissingExtraError.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != library:
            raise  # the library is there, and something that it needs is not
        raise MissingExtraError(
            f"{purpose} needs the package {library}: pip install {requirement}"
        ) from error
