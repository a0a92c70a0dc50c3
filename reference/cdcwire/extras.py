"""Libraries and functions of other packages, loaded when a command needs them.

Libraries belong to the extras of this package; without them everything else works. An error names
the packages of the extra, as the installed package requires them: that works wherever it came from.
The package cdcwire-conformance registers its functions in the group of entry points ``cdcwire``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, TypeAlias


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
    from importlib.metadata import (
        PackageNotFoundError,
        requires,
    )  # which takes longer to import than a format

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


Extension: TypeAlias = Literal["open-feed", "read-elsewhere"]
"""``open-feed``: opens a feed as ``cdcwire.feed.FeedSource``. ``read-elsewhere``: makes a
``cdcwire.identify.sampling.Elsewhere``. Both are of cdcwire-conformance."""


def extension(name: Extension, purpose: str) -> Any:
    """Return the function of a name. ``purpose``: what needs it. Raises: MissingExtraError."""
    from importlib.metadata import entry_points  # it is slow to import

    found = entry_points(group="cdcwire", name=name)
    if not found:
        package = "cdcwire-conformance"
        raise MissingExtraError(f"{purpose} needs the package {package}: pip install {package}")
    with names_the_extra(purpose):
        return next(iter(found)).load()


@contextmanager
def names_the_extra(what: str) -> Iterator[None]:
    """Say that the extra ``arrow`` is missing for ``what``. Raises: MissingExtraError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "pyarrow"):
            raise
        load_extra(error.name, "arrow", what)
        raise
