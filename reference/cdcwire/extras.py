"""Libraries that only some commands need, loaded when they are needed.

They belong to the extras of the package; without them everything else works. An error names the
packages of the extra, as the installed package requires them: that works wherever it came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from types import ModuleType


class MissingExtraError(ModuleNotFoundError):
    """A package is not installed. The text is one line for the user, and says how to get it."""


def load_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Return a module of a library that an extra brings.

    ``purpose``: what needs it, as the beginning of a sentence. Raises: MissingExtraError.
    """
    return load_library(module, lambda: requirements_of(extra), purpose, f" (extra {extra})")


def requirements_of(extra: str) -> str:
    """Return the packages of an extra as pip takes them: ``'jinja2<4,>=3.1'``.

    Without an installed package, as in a program that runs from its sources: the extra of a
    checkout.
    """
    belongs = re.compile(rf"""\bextra == ["']{re.escape(extra)}["']""")
    for package in ("cdcwire", "cdcwire-conformance"):
        try:
            lines = requires(package) or []
        except PackageNotFoundError:
            continue
        named = [line.partition(";") for line in lines]
        found = [f"'{name.strip()}'" for name, _, marker in named if belongs.search(marker)]
        if found:
            return " ".join(found)
    return f"'.[{extra}]' in a checkout of cdcwire"


def load_library(
    module: str, requirement: str | Callable[[], str], purpose: str, origin: str = ""
) -> ModuleType:
    """Return a module of a library that ``pip install REQUIREMENT`` brings.

    ``origin``: what else brings it. Raises: MissingExtraError.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != library:
            raise  # the library is there, and something that it needs is not
        named = requirement if isinstance(requirement, str) else requirement()
        raise MissingExtraError(
            f"{purpose} needs the package {library}{origin}: pip install {named}"
        ) from error
