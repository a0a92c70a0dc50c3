"""One-shot mode: one process per case, for programs that do not answer line by line.

``COMMAND decode FORMAT`` (or ``encode``) reads the request on standard input and writes the answer
on standard output. Exit 0: accepted; 1: rejected; anything else: a crash. Many languages end with 1
after an error that nobody caught, so a rejection also has its answer on standard output.

With ``raw`` standard input is the value alone. There is no answer to ask for when it is rejected;
a rejection then counts unless standard error looks like an error that nobody caught.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence

from cdcwire.files.json_messages import bytes_from_json
from cdcwire.model.text import Json
from cdcwire_conformance.protocol.answers import (
    Answer,
    Description,
    ProtocolError,
    Rejected,
    parse_answer,
    parse_line,
)
from cdcwire_conformance.protocol.check import ProtocolChecker
from cdcwire_conformance.protocol.requests import Request
from cdcwire_conformance.testees.base import CannotStartError, NoAnswer, Reply
from cdcwire_conformance.testees.pipes import RunResult, exit_text, run_once
from cdcwire_conformance.testees.processes import USUAL_LIMITS, Limits, over_limit_text

ACCEPTED, REJECTED = 0, 1
_NOBODY_CAUGHT_IT = re.compile(
    r"^Traceback \(most recent call last\)|^Exception in thread|^panic: |^thread '.*' panicked"
    r"|^Unhandled exception|^\s+at .+:\d+:\d+\)?$|^Segmentation fault",
    re.MULTILINE,
)


def raw_bytes(request: Request) -> bytes | None:
    """Return what ``--raw`` sends for a request; None if its case needs more than one value."""
    messages: list[Mapping[str, Json]] = request.body.get("messages", [])
    if request.cmd != "decode" or set(request.body) != {"messages"} or len(messages) != 1:
        return None
    message = messages[0]
    if message.get("key") is not None or "headers" in message or "path" in message:
        return None
    return bytes_from_json(message.get("value"), "value")


class OneShotTestee:
    """A command that is started once per case."""

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits = USUAL_LIMITS,
        *,
        raw: bool = False,
        env: Mapping[str, str] | None = None,
        checker: ProtocolChecker | None = None,
    ) -> None:
        if not command:
            raise ValueError("a testee needs a command")
        self.command = tuple(command)
        self.raw = raw
        self._limits = limits
        self._env = env
        self._checker = checker
        self._seq = 0

    def start(self) -> Description:
        """Nothing is asked in this mode; what is run counts as claimed.

        Raises: CannotStartError where there is no such program.
        """
        if shutil.which(self.command[0]) is None:
            raise CannotStartError(f"{self.command[0]!r} can't be started: no such program")
        return Description(os.path.basename(self.command[0]))

    def ask(self, request: Request, *, fresh: bool = False) -> Reply:
        """Run the command for a request. Raises: NoAnswer; ValueError if it can't go raw."""
        self._seq += 1
        data = raw_bytes(request) if self.raw else request.line(self._seq)
        if data is None:
            raise ValueError("this case has more than the value's bytes")
        command = (*self.command, request.cmd, request.format)
        deadline = time.monotonic() + self._limits.timeout
        try:
            result = run_once(
                command,
                data,
                deadline,
                limit=self._limits.line,
                memory_limit=self._limits.memory,
                env=self._env,
            )
        except CannotStartError as error:
            raise NoAnswer("crashed", error.problem) from error
        if result.is_over_memory:
            raise NoAnswer("crashed", over_limit_text(self._limits.memory), result.stderr)
        if result.timed_out:
            problem = f"no end within {self._limits.timeout:g} s"
            raise NoAnswer("timed out", problem, result.stderr)
        try:
            answer = self._answer(result, request.cmd)
        except ProtocolError as error:
            raise NoAnswer("crashed", str(error), result.stderr) from error
        return Reply(answer, result.stderr, size=len(result.stdout))

    def _answer(self, result: RunResult, cmd: str) -> Answer:
        if result.too_much:
            raise ProtocolError(
                f"the answer is longer than {self._limits.line} bytes (--answer-size)"
            )
        code, output = result.code, result.stdout.strip()
        if code not in (ACCEPTED, REJECTED):
            raise ProtocolError(f"neither accepted (0) nor rejected (1): {exit_text(code)}")
        if code == REJECTED and self.raw and not output:
            if _NOBODY_CAUGHT_IT.search(result.stderr):
                raise ProtocolError("exit code 1, but standard error shows an uncaught error")
            return Rejected(result.stderr.strip()[-200:] or None)
        if not output:
            raise ProtocolError(
                f"exit code {code} without an answer on standard output"
                + ('; to reject, print {"rejected":{}}' if code == REJECTED else "")
            )
        document = parse_line(output)
        answer = parse_answer(document, None, cmd)
        if self._checker is not None:
            self._checker.check_answer(document, cmd, needs_seq=False)
        if isinstance(answer, Rejected) != (code == REJECTED):
            word = "rejects" if isinstance(answer, Rejected) else "accepts"
            raise ProtocolError(f"the answer {word}, but the exit code is {code}")
        return answer

    def announce(self, requests: Iterable[Request]) -> None:
        """Each process gets one request."""

    def close(self) -> None:
        """Nothing runs between cases."""
