"""Work on several processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from multiprocessing.context import SpawnContext, SpawnProcess


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of new processes. An exception ends them at once, whatever they are doing."""
    others = set(active_children())
    with quiet_pool(jobs) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:
                process.terminate()
            raise


def quiet_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of new processes. An interrupt ends them without a traceback."""
    return ProcessPoolExecutor(jobs, mp_context=_QuietContext())


class _QuietProcess(SpawnProcess):
    """A process that waits with an interrupt until it has imported what it needs to start."""

    def start(self) -> None:
        if not hasattr(signal, "pthread_sigmask"):
            super().start()
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process inherits
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        super().run()


class _QuietContext(SpawnContext):
    Process = _QuietProcess
