"""Numbers of examples that properties are tried with, and how much work a test does.

``quick``: the same few in every run. The environment variable ``CDCWIRE_HYPOTHESIS`` chooses
others: ``full`` for the nightly run, with eight times as many, ``deep`` for hours.
They are drawn at random, except in continuous integration, where ``CI`` is set.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

_SLOW_BY_DESIGN = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick",
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),  # explaining takes longer than shrinking
    suppress_health_check=_SLOW_BY_DESIGN,
)
for _name, _examples in (("full", 120), ("deep", 1000)):
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize="CI" in os.environ,
        print_blob=True,
        suppress_health_check=_SLOW_BY_DESIGN,
    )
# No test depends on its time: a line of progress after 10 seconds would be an unexpected output.
os.environ["CDCWIRE_PROGRESS_SECONDS"] = "0"
settings.load_profile(os.environ.get("CDCWIRE_HYPOTHESIS", "quick"))
_NUMBERS = count()


def pytest_configure() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Look seldom for garbage, and not in all that was imported: it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()


@pytest.fixture
def calls_of() -> Callable[[Callable[[], object]], int]:
    """Return a function that counts the calls of functions in a piece of work.

    Unlike its time, they do not depend on the machine.
    """

    def count(work: Callable[[], object]) -> int:
        calls = 0

        def note(frame: FrameType, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(before)
        return calls

    return count


@pytest.fixture
def memory_url() -> Iterator[str]:
    """Yield a new URL of a storage in memory."""
    fsspec: Any = pytest.importorskip("fsspec")
    url = f"memory://prefix-{next(_NUMBERS)}"
    yield url
    store = fsspec.filesystem("memory")
    if store.exists(f"/{url.partition('://')[2]}"):
        store.rm(f"/{url.partition('://')[2]}", recursive=True)
