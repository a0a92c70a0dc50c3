"""The public names of a package, each imported when it is first used.

A program that decodes one format then loads neither that format's encoder nor its explanations.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes longer to import than a package of a format
if TYPE_CHECKING:
    from collections.abc import Callable


def exports(package: str, *modules: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    They offer the names in ``__all__`` of the package. The first of ``modules`` that has a name
    gives it, so modules that load fast come first. A module of the package begins with a dot.

        __getattr__, __dir__ = exports(__name__, ".message", ".wire")
    """

    def get(name: str) -> object:
        namespace = vars(sys.modules[package])
        if name in namespace["__all__"]:
            for module in modules:
                members = vars(import_module(module, package))
                if name in members:
                    return namespace.setdefault(name, members[name])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *vars(sys.modules[package])["__all__"]})

    return get, names
