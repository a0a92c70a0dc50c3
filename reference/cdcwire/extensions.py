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


def extension(name: Extension, purpose: str) -> Any:
    """Return the function of a name. ``purpose``: what needs it. Raises: MissingExtraError."""
    from importlib.metadata import entry_points  # which takes longer to import than a format

    from cdcwire.extras import MissingExtraError

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
        from cdcwire.extras import load_extra

        load_extra(error.name, "arrow", what)
        raise
