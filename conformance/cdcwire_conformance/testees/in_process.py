"""Python functions as a testee: for decoders under pytest, and for those that are wrong on purpose.

There is no process to isolate a crash. Any exception of a function, other than a rejection, is
caught here, once, and becomes a crash of the case. A function that never returns is stopped by an
alarm, where the machine has one and we are on the main thread.
"""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from cdcwire_conformance.protocol.answers import (
    Claim,
    Description,
    ProtocolError,
    Rejected,
    parse_answer,
)
from cdcwire_conformance.protocol.requests import Request
from cdcwire_conformance.testees.base import NoAnswer, Reply
from cdcwire_conformance.testees.codecs import (
    Decode,
    Encode,
    Prepared,
    answer_decode,
    answer_encode,
)


@dataclass(frozen=True, slots=True)
class Codec:
    """The functions of one format.

    ``decode`` takes a message and ``context=`` and returns events: of the model, or in the text
    form. It rejects by raising DecodeError, or one of ``rejections``. ``prepared``: as in
    ``Format``, adds what messages say about each other.
    """

    decode: Decode
    encode: Encode | None = None
    without: frozenset[str] = frozenset()
    rejections: tuple[type[Exception], ...] = ()
    prepared: Prepared | None = None


class _Alarm(BaseException):
    """Not an Exception, so that no codec swallows it."""


class InProcessTestee:
    """Functions that are called as they are."""

    def __init__(self, name: str, codecs: Mapping[str, Codec], *, timeout: float = 10.0) -> None:
        self._name = name
        self._codecs = codecs
        self._timeout = timeout

    def start(self) -> Description:
        """Describe the functions."""
        claims = {
            name: Claim(codec.encode is not None, codec.without)
            for name, codec in self._codecs.items()
        }
        return Description(self._name, "", "Python", claims)

    def ask(self, request: Request, *, fresh: bool = False) -> Reply:
        """Call the function that a request asks for. Raises: NoAnswer."""
        codec = self._codecs[request.format]
        try:
            with _time_limit(self._timeout):
                if request.cmd == "decode":
                    document = answer_decode(request.body, codec.decode, codec.prepared)
                else:
                    assert codec.encode is not None
                    document = answer_encode(request.body, codec.encode)
        except _Alarm:
            raise NoAnswer("timed out", f"no answer within {self._timeout:g} s") from None
        except Exception as error:
            if isinstance(error, codec.rejections):
                return Reply(Rejected(str(error)))
            shown = "".join(traceback.format_exception_only(error)).strip()
            trace = "".join(traceback.format_exception(error))
            raise NoAnswer("crashed", shown, trace) from error
        try:
            return Reply(parse_answer(document, None, request.cmd))
        except ProtocolError as error:
            raise NoAnswer("crashed", str(error)) from error

    def announce(self, requests: Iterable[Request]) -> None:
        """Each function is called when its request is asked."""

    def close(self) -> None:
        """Nothing to end."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    on_main = threading.current_thread() is threading.main_thread()
    if not on_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
