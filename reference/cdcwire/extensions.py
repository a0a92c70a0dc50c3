"""Functions that the package cdcwire-conformance adds to this one, which imports no other package.

They are registered in the group of entry points ``cdcwire``, by the names below.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

Extension: TypeAlias = Literal["open-feed", "read-elsewhere"]
"""``open-feed``: opens a feed as ``cdcwire.feed.FeedSource``. ``read-elsewhere``: makes a
``cdcwire.identify.sampling.Elsewhere``."""


def extension(name: Extension) -> Any:
    """Return the function of a name. Raises: ModuleNotFoundError if no package has it."""
    from importlib.metadata import entry_points  # which takes longer to import than a format

    found = entry_points(group="cdcwire", name=name)
    if not found:
        raise ModuleNotFoundError(
            f"no installed package has {name}: it is in the package cdcwire-conformance",
            name="cdcwire_conformance",
        )
    with names_the_extra(name):
        return next(iter(found)).load()


@contextmanager
def names_the_extra(what: str) -> Iterator[None]:
    """Say which extra is missing for ``what``. Raises: ModuleNotFoundError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "pyarrow"):
            raise
        missing = f"{what} needs the package {error.name}: install cdcwire with the extra arrow"
        raise ModuleNotFoundError(missing, name=error.name) from error
