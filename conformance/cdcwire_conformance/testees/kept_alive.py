"""Kept-alive mode: one process, one JSON line in, one JSON line out.

Anything other than an answer of the protocol is a crash of the case that was asked. The process is
killed, and a new one is started for the next case.

A testee that says ``ahead`` gets the announced requests in groups that fit into its pipe. So
neither side waits for the other once per case. If it ends, the requests of the group that it has
not answered are sent again to the new process when they are asked.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from cdcwire_conformance.protocol.answers import (
    Description,
    ProtocolError,
    parse_answer,
    parse_description,
    parse_line,
)
from cdcwire_conformance.protocol.check import ProtocolChecker
from cdcwire_conformance.protocol.requests import START_LINE, STOP_LINE, Request
from cdcwire_conformance.testees.base import CannotStartError, FailureKind, NoAnswer, Reply
from cdcwire_conformance.testees.pipes import (
    FITS_INTO_A_PIPE,
    Ended,
    LineProcess,
    TooMuch,
    exit_text,
)
from cdcwire_conformance.testees.processes import USUAL_LIMITS, Limits, over_limit_text

_STOP_PATIENCE = 5.0
_ENDING_PATIENCE = 1.0
_GROUP = 64  # requests


class KeptAliveTestee:
    """A command that answers line by line.

    ``checker``: compares every answer with the schemas.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits = USUAL_LIMITS,
        *,
        env: Mapping[str, str] | None = None,
        checker: ProtocolChecker | None = None,
    ) -> None:
        if not command:
            raise ValueError("a testee needs a command")
        self.command = tuple(command)
        self._limits = limits
        self._env = env
        self._checker = checker
        self._process: LineProcess | None = None
        self._seq = 0
        self._is_ahead = False
        self._coming: Iterator[Request] = iter(())
        self._group: deque[Request] = deque()  # announced and not yet asked
        self._sent = 0  # how many of the group the process has
        self._is_fresh = True  # whether the process has answered no request yet

    def start(self) -> Description:
        """Start the command and ask what it is. Raises: CannotStartError."""
        process = LineProcess(
            self.command,
            env=self._env,
            line_limit=self._limits.line,
            memory_limit=self._limits.memory,
        )
        deadline = time.monotonic() + self._limits.start_timeout
        try:
            process.write(START_LINE, deadline)
            document = parse_line(process.read_line(deadline))
            if self._checker is not None:
                self._checker.check_start(document)
            description = parse_description(document)
        except (OSError, Ended, TooMuch, ProtocolError) as error:
            problem, stderr = self._give_up(process, error, self._limits.start_timeout)
            raise CannotStartError(f"the testee did not start: {problem}", stderr) from error
        except BaseException:
            process.end(0)
            raise
        self._process = process
        self._is_ahead = description.ahead
        self._is_fresh = True
        self._sent = 0
        return description

    def announce(self, requests: Iterable[Request]) -> None:
        """Name the requests that will be asked next, in this order; some may be left out."""
        self._coming = iter(requests)
        self._group.clear()

    def ask(self, request: Request, *, fresh: bool = False) -> Reply:
        """Return the answer to a request. Raises: NoAnswer."""
        is_next = bool(self._group) and self._group[0] is request
        has_others = self._sent > 0 and not is_next  # it would answer them first
        if self._process is not None and (has_others or (fresh and not self._is_fresh)):
            process, self._process = self._process, None
            process.end(0)
        if self._process is None:
            try:
                self.start()
            except CannotStartError as error:
                raise NoAnswer("crashed", error.problem, error.stderr) from error
            assert self._process is not None
        process = self._process
        is_fresh, self._is_fresh = self._is_fresh, False
        deadline = time.monotonic() + self._limits.timeout
        try:
            seq = self._send(process, request, deadline, is_next=not fresh)
            line = process.read_line(deadline)
            document = parse_line(line)
            answer = parse_answer(document, seq, request.cmd)
            if self._checker is not None:
                self._checker.check_answer(document, request.cmd)
        except (OSError, Ended, TooMuch, ProtocolError) as error:
            self._process = None
            problem, stderr = self._give_up(process, error, self._limits.timeout)
            kind: FailureKind = "timed out" if isinstance(error, TimeoutError) else "crashed"
            raise NoAnswer(kind, problem, stderr, is_fresh=is_fresh) from error
        except BaseException:
            self._process = None
            process.end(0)
            raise
        return Reply(answer, process.stderr.text, is_fresh, len(line))

    def _send(
        self, process: LineProcess, request: Request, deadline: float, *, is_next: bool
    ) -> int:
        """Send a request that the process does not have yet. Returns: its number.

        ``is_next``: it is one of those announced, so the ones after it go with it.
        """
        if self._sent:
            self._group.popleft()
            self._sent -= 1
        else:
            process.stderr.mark()
            data = request.line(self._seq + 1)
            if is_next and self._is_ahead:
                self._forget_up_to(request)
                data += self._lines_after(len(data))
            self._seq += 1 + self._sent
            process.asked = 1 + self._sent
            process.write(data, deadline)
        process.asked = 1 + self._sent
        return self._seq - self._sent

    def _forget_up_to(self, request: Request) -> None:
        while self._group:
            if self._group.popleft() is request:
                return
        for announced in self._coming:
            if announced is request:
                return

    def _lines_after(self, size: int) -> bytes:
        """Return the next requests that fit into the pipe after one of this size."""
        lines = bytearray()
        for number in range(_GROUP):
            if number == len(self._group):
                self._group.extend(islice(self._coming, 1))
            if number == len(self._group):
                break
            line = self._group[number].line(self._seq + 2 + number)
            if size + len(lines) + len(line) > FITS_INTO_A_PIPE:
                break
            lines += line
            self._sent = number + 1
        return bytes(lines)

    def _give_up(self, process: LineProcess, error: Exception, timeout: float) -> tuple[str, str]:
        """End the process. Returns: the problem, and its standard error since the last request."""
        ended = isinstance(error, (Ended, BrokenPipeError))
        code = process.end(_ENDING_PATIENCE if ended else 0)
        match error:
            case _ if process.is_over_memory:
                problem = over_limit_text(self._limits.memory)
            case TimeoutError():
                problem = f"no answer within {timeout:g} s"
            case TooMuch() | BrokenPipeError() if process.is_over_line_limit:
                size = self._limits.line
                problem = (
                    f"more than {size} bytes came without being asked for, or in one answer"
                    " (--answer-size)"
                )
            case ProtocolError():
                problem = str(error)
            case _:
                problem = f"the testee ended without an answer ({exit_text(code)})"
        return problem, process.stderr.text

    def close(self) -> str | None:
        """Say stop and wait for the end. Returns: what was odd about it, if anything."""
        process, self._process = self._process, None
        if process is None:
            return None
        try:
            process.write(STOP_LINE, time.monotonic() + _STOP_PATIENCE)
        except OSError:
            return f"the testee had ended before stop ({exit_text(process.end(0))})"
        code = process.end(_STOP_PATIENCE)
        return None if code == 0 else f"after stop the testee is to end with 0: {exit_text(code)}"
