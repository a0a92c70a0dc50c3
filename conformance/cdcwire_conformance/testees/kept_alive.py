"""Kept-alive mode: one process, one JSON line in, one JSON line out.

Anything other than an answer of the protocol is a crash of the case that was asked. The process is
killed, and a new one is started for the next case.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

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
from cdcwire_conformance.testees.limits import LINE_LIMIT, START_TIMEOUT, TIMEOUT
from cdcwire_conformance.testees.memory import over_limit_text
from cdcwire_conformance.testees.pipes import (
    Ended,
    LineProcess,
    TooMuch,
    exit_text,
)

_STOP_PATIENCE = 5.0
_ENDING_PATIENCE = 1.0


class KeptAliveTestee:
    """A command that answers line by line.

    ``timeout``: seconds for one answer. ``checker``: compares every answer with the schemas.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        timeout: float = TIMEOUT,
        start_timeout: float = START_TIMEOUT,
        line_limit: int = LINE_LIMIT,
        memory_limit: int | None = None,
        env: Mapping[str, str] | None = None,
        checker: ProtocolChecker | None = None,
    ) -> None:
        if not command:
            raise ValueError("a testee needs a command")
        self.command = tuple(command)
        self._timeout = timeout
        self._start_timeout = start_timeout
        self._line_limit = line_limit
        self._memory_limit = memory_limit
        self._env = env
        self._checker = checker
        self._process: LineProcess | None = None
        self._seq = 0
        self._is_fresh = True  # whether the process has answered no request yet

    def start(self) -> Description:
        """Start the command and ask what it is. Raises: CannotStartError."""
        process = LineProcess(
            self.command,
            env=self._env,
            line_limit=self._line_limit,
            memory_limit=self._memory_limit,
        )
        deadline = time.monotonic() + self._start_timeout
        try:
            process.write(START_LINE, deadline)
            document = parse_line(process.read_line(deadline))
            if self._checker is not None:
                self._checker.check_start(document)
            description = parse_description(document)
        except (OSError, Ended, TooMuch, ProtocolError) as error:
            problem, stderr = self._give_up(process, error, self._start_timeout)
            raise CannotStartError(f"the testee did not start: {problem}", stderr) from error
        except BaseException:
            process.end(0)
            raise
        self._process = process
        self._is_fresh = True
        return description

    def ask(self, request: Request, *, fresh: bool = False) -> Reply:
        """Return the answer to a request. Raises: NoAnswer."""
        if fresh and self._process is not None and not self._is_fresh:
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
        self._seq += 1
        process.stderr.mark()
        deadline = time.monotonic() + self._timeout
        try:
            process.write(request.line(self._seq), deadline)
            document = parse_line(process.read_line(deadline))
            answer = parse_answer(document, self._seq, request.cmd)
            if self._checker is not None:
                self._checker.check_answer(document, request.cmd)
        except (OSError, Ended, TooMuch, ProtocolError) as error:
            self._process = None
            problem, stderr = self._give_up(process, error, self._timeout)
            kind: FailureKind = "timed out" if isinstance(error, TimeoutError) else "crashed"
            raise NoAnswer(kind, problem, stderr, is_fresh=is_fresh) from error
        except BaseException:
            self._process = None
            process.end(0)
            raise
        return Reply(answer, process.stderr.text, is_fresh)

    def _give_up(self, process: LineProcess, error: Exception, timeout: float) -> tuple[str, str]:
        """End the process. Returns: the problem, and its standard error since the last request."""
        ended = isinstance(error, (Ended, BrokenPipeError))
        code = process.end(_ENDING_PATIENCE if ended else 0)
        match error:
            case _ if process.is_over_memory:
                problem = over_limit_text(self._memory_limit)
            case TimeoutError():
                problem = f"no answer within {timeout:g} s"
            case TooMuch() | BrokenPipeError() if process.is_over_line_limit:
                size = self._line_limit
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
