"""Measuring: routes take turns in one process, and the best CPU time of each counts.

Absolute times say much about the machine; the ratio of two routes in one run says little about it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from time import process_time_ns
from typing import TypeAlias

from cdcwire.core.compiled import FastDecoder
from cdcwire.core.message import Message

Work: TypeAlias = Callable[[], object]
Route: TypeAlias = Callable[[], Work]
"""Prepares, unmeasured, and returns the work to be measured. It is called before each round, so
that no round profits from what the one before it has seen."""


def best_times(routes: Mapping[str, Route], rounds: int) -> dict[str, int]:
    """Return the least CPU time of each route in nanoseconds, without garbage collection."""
    times: dict[str, list[int]] = {name: [] for name in routes}
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, route in routes.items():
                work = route()
                start = process_time_ns()
                work()
                times[name].append(process_time_ns() - start)
                gc.collect()
    finally:
        if was_enabled:
            gc.enable()
    return {name: min(found) for name, found in times.items()}


def learn(decoder: FastDecoder, messages: Iterable[Message]) -> None:
    """Let a decoder learn the tables of messages that are not measured."""
    for message in messages:
        for _ in decoder.decode(message):
            pass
