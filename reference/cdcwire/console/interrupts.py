"""Interrupts (SIGINT, SIGTERM) as exceptions: none is lost, and none comes where it must not.

Python raises the exception of a signal wherever the main thread is. In a callback of the garbage
collector (Hypothesis has one) or in ``__del__`` nobody can catch it. It goes to
``sys.unraisablehook``, and the program goes on. Such an exception is raised again here, and so is
one that would come in that hook.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    Hook: TypeAlias = "Callable[[sys.UnraisableHookArgs], object]"

_SECONDS_UNTIL_AGAIN = 0.01  # the callback has ended by then


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM."""


@contextlib.contextmanager
def interrupts_raise() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt in the block, and SIGTERM ``Terminated``.

    A signal that the process ignores stays ignored: a shell starts background commands so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    handlers, hook = _handlers(), sys.unraisablehook
    try:
        sys.unraisablehook = partial(_raise_again, hook)
        for number, handler in handlers.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, _raise)
        yield
    finally:
        _restore(handlers)
        sys.unraisablehook = hook


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Hold signals back until the block ends: for steps that must be whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    handlers = _handlers()
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: held.append(number))
        yield
    finally:
        _restore(handlers)
    if held:
        signal.raise_signal(held[0])


@contextlib.contextmanager
def own_handler_stays() -> Iterator[None]:
    """Set this program's handler of SIGINT again, if a library replaces it in the block."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        is_own = before not in (None, signal.SIG_DFL, signal.default_int_handler)
        if is_own and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _raise(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _raise_again.__code__:  # nobody would catch it
            _interrupt_later(number)
            return
        frame = frame.f_back
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _raise_again(hook: Hook, lost: sys.UnraisableHookArgs) -> None:
    if isinstance(lost.exc_value, KeyboardInterrupt):
        is_terminated = isinstance(lost.exc_value, Terminated)
        _interrupt_later(signal.SIGTERM if is_terminated else signal.SIGINT)
    else:
        hook(lost)


def _interrupt_later(number: int) -> None:
    again = threading.Timer(_SECONDS_UNTIL_AGAIN, _thread.interrupt_main, [number])
    again.daemon = True
    again.start()


def _handlers() -> dict[signal.Signals, Any]:
    return {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}


def _restore(handlers: dict[signal.Signals, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None:  # None: a handler that Python did not set
            signal.signal(number, handler)
