"""Work on several processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import InvalidStateError, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.reduction import ForkingPickler
from types import MappingProxyType, ModuleType
from typing import Any


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of new processes. An exception ends them at once, whatever they are doing."""
    others = set(active_children())
    with quiet_pool(jobs) as pool:
        try:
            yield pool
        except BaseException:
            threading.excepthook = _without_lost_results(threading.excepthook)
            for process in set(active_children()) - others:
                process.terminate()
            pool.shutdown()  # now: a thread that ends while Python ends writes a traceback
            raise


def _without_lost_results(
    show: Callable[[threading.ExceptHookArgs], object],
) -> Callable[[threading.ExceptHookArgs], object]:
    """Return what shows exceptions of threads, except those about results that nobody waits for.

    A pool whose processes have ended sets their exception on each waiting result. Up to Python 3.12
    its thread ends with InvalidStateError at the first one that was cancelled.
    """

    def shown(arguments: threading.ExceptHookArgs) -> object:
        return None if arguments.exc_type is InvalidStateError else show(arguments)

    return shown


def quiet_pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of new processes. An interrupt ends them without a traceback."""
    return ProcessPoolExecutor(jobs, mp_context=_QuietContext())


class _QuietProcess(SpawnProcess):
    """A process that waits with an interrupt until it has imported what it needs to start.

    It does not import the program that started it, which needs no ``if __name__`` then.
    """

    def start(self) -> None:
        with _without_main():
            if not hasattr(signal, "pthread_sigmask"):
                super().start()
                return
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it inherits this
            try:
                super().start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def run(self) -> None:
        threading.Thread(target=_end_with_parent, daemon=True).start()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        super().run()


@contextmanager
def _without_main() -> Iterator[None]:
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _end_with_parent() -> None:
    """End this process once its parent has ended, also if that was killed."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _QuietContext(SpawnContext):
    Process = _QuietProcess


def _proxy(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def _as_call(proxy: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    return _proxy, (dict(proxy),)


# Values that are sent have these as their empty mappings, and Python does not pickle them.
ForkingPickler.register(MappingProxyType, _as_call)
