"""Work on several processes."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of new processes, which end without a traceback when interrupted."""
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_end_when_interrupted
    )


def _end_when_interrupted() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
