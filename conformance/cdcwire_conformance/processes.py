"""Work on several processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of new processes. An exception ends them at once, whatever they are doing."""
    others = set(active_children())
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_end_when_interrupted
    )
    with pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:
                process.terminate()
            raise


def _end_when_interrupted() -> None:
    """Let an interrupt end the process without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
