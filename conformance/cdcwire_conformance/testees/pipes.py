"""A process that is spoken to line by line, and never waited for longer than allowed.

Two threads per process read its outputs, so that neither pipe fills up while we wait for the other.
This also works where pipes can't be polled. What is kept of either is bounded. A request that fits
into the pipe is written at once: the pipe is empty, since the testee has answered the one before.
Of standard error, head and tail are kept.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from cdcwire.console.interrupts import interrupts_wait
from cdcwire_conformance.testees.base import CannotStartError
from cdcwire_conformance.testees.processes import (
    LINE_LIMIT,
    kill,
    kill_labelled,
    label_process,
    labelled_environment,
    labelled_processes,
    process_tree,
    resident_memory,
)

STDERR_LIMIT = 64 * 1024
_HEAD = STDERR_LIMIT // 2
_TAIL = STDERR_LIMIT // 2


class CapturedText:
    """The output of a process since the last call of ``mark``.

    Go and Java print the reason of a crash first, Python prints it last. Therefore both ends are
    kept, and the middle is left out.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, piece: bytes) -> None:
        """Add bytes that the process wrote."""
        with self._lock:
            self._total += len(piece)
            room = _HEAD - len(self._head)
            self._head += piece[:room]
            self._tail += piece[room:]
            if len(self._tail) > 2 * _TAIL:
                del self._tail[:-_TAIL]

    def mark(self) -> None:
        """Forget what was written so far."""
        with self._lock:
            self._head.clear()
            self._tail.clear()
            self._total = 0

    @property
    def text(self) -> str:
        """The bytes as text, with a line that counts the bytes left out."""
        with self._lock:
            tail = self._tail[-_TAIL:]
            left_out = self._total - len(self._head) - len(tail)
            between = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
            data = bytes(self._head + between + tail)
        return data.decode("utf-8", "backslashreplace").rstrip()


FITS_INTO_A_PIPE = 16 * 1024 if os.name == "posix" else 0
_PIECE = 64 * 1024
_SECONDS_BETWEEN_MEASUREMENTS = 0.05
_MEASUREMENTS_PER_SEARCH = 20  # a search reads about all processes of the machine

_LIVE: set[LineProcess] = set()


def _start(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command with three pipes. Raises: CannotStartError."""
    try:
        # A session of its own: killing the group also ends what the command has started.
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            bufsize=0,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CannotStartError(f"{command[0]!r} can't be started: {reason}") from error


class Ended(Exception):
    """The process closed its standard output."""


class TooMuch(Exception):
    """The process wrote more than is kept."""


class LineProcess:
    """A running command with its three pipes.

    ``memory_limit``: resident bytes of the process and its children, above which it is killed;
    ``is_over_memory`` is then true. ``asked``: the answers that it still owes. ``line_limit``:
    bytes of one answer, and of all answers that nobody read yet. At that limit its output is not
    read until an answer is taken. ``is_over_line_limit``: one answer is longer, or all output that
    nobody requested is. Its output is then closed, which may end the process.
    Raises (on creation): CannotStartError.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        line_limit: int = LINE_LIMIT,
        memory_limit: int | None = None,
    ) -> None:
        self._line_limit = line_limit
        self._memory_limit = memory_limit
        self.is_over_memory = False
        self.is_over_line_limit = False
        self.asked = 1
        self._has_ended = threading.Event()
        self._lines: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()
        self._unread = 0  # bytes in _lines
        self._taken = threading.Condition()  # guards _unread; a line was taken out of _lines
        self.stderr = CapturedText()
        marked, self._mark = labelled_environment(env)
        with interrupts_wait():  # no process is started and forgotten
            self._process = _start(command, marked)
            label_process(self._process.pid, self._mark)
            assert self._process.stdout is not None
            assert self._process.stderr is not None
            self._threads = [
                threading.Thread(target=target, args=(stream,), daemon=True)
                for target, stream in (
                    (self._read_lines, self._process.stdout),
                    (self._read_stderr, self._process.stderr),
                )
            ]
            if memory_limit is not None:
                self._threads.append(threading.Thread(target=self._watch_memory, daemon=True))
            for thread in self._threads:
                thread.start()
            _LIVE.add(self)

    def _read_lines(self, stream: IO[bytes]) -> None:
        with stream:
            self._lines.put(self._put_lines(stream))

    def _put_lines(self, stream: IO[bytes]) -> Ended | TooMuch:
        pending = bytearray()
        while piece := _read(stream):
            pending += piece
            *lines, rest = pending.split(b"\n") if b"\n" in piece else [pending]
            for line in lines:
                if line.strip():
                    with self._taken:
                        self._unread += len(line)
                    self._lines.put(bytes(line))
            pending = rest
            if len(pending) > self._line_limit or not self._wait_for_room():
                self.is_over_line_limit = True
                return TooMuch()
        if pending.strip():
            self._lines.put(bytes(pending))  # an answer without its line end
        return Ended()

    def _wait_for_room(self) -> bool:
        """Wait until the unread answers are within the limit.

        Returns: False if there are more of them than were asked for.
        """
        with self._taken:
            while self._unread > self._line_limit and not self._has_ended.is_set():
                if self._lines.qsize() > self.asked:
                    return False
                self._taken.wait()
        return True

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            while piece := _read(stream):
                self.stderr.add(piece)

    def _watch_memory(self) -> None:
        assert self._memory_limit is not None
        left: set[int] = set()  # have left their parents
        for number in itertools.count(1):
            if self._has_ended.wait(_SECONDS_BETWEEN_MEASUREMENTS):
                return
            if number % _MEASUREMENTS_PER_SEARCH == 0:
                left = set(labelled_processes(self._mark))
            processes = left.union(process_tree(self._process.pid))
            if resident_memory(processes) > self._memory_limit:
                self.is_over_memory = True
                kill(list(processes))
                return

    def write(self, data: bytes, deadline: float) -> None:
        """Write a whole line. Raises: TimeoutError; BrokenPipeError when nobody reads any more."""
        if len(data) <= FITS_INTO_A_PIPE:
            try:
                self._write(data)
            except ValueError as error:  # it was closed, as an interrupt does
                raise BrokenPipeError from error
            return
        errors: list[OSError | ValueError] = []

        def write() -> None:
            try:
                self._write(data)
            except (OSError, ValueError) as error:
                errors.append(error)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        writer.join(max(0.0, deadline - time.monotonic()))
        if writer.is_alive():
            self._threads.append(writer)  # it ends with the process
            raise TimeoutError
        if errors:
            raise BrokenPipeError from errors[0]

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(data)
        while view:
            written = self._process.stdin.write(view)
            view = view[written or 0 :]

    def read_line(self, deadline: float) -> bytes:
        """Return the next line that is not blank. Raises: TimeoutError, Ended, TooMuch."""
        try:
            found = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(found, Exception):
            self._lines.put(found)  # it stays true
            raise found
        with self._taken:
            self._unread -= len(found)
            self._taken.notify()
        return found

    def close_input(self) -> None:
        """Close the process's input: nothing more will come."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()

    def end(self, patience: float) -> int | None:
        """Wait for the process to end by itself; then kill it.

        Returns: its exit code; None if it had to be killed.
        """
        self.close_input()
        code: int | None
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with interrupts_wait():
                self._kill()
        return code

    def _kill(self) -> None:
        """Kill what is left of the process and of all it started, and let the threads finish."""
        _LIVE.discard(self)
        self._has_ended.set()
        with self._taken:
            self._taken.notify()
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        kill_labelled(self._mark)  # a grandchild in another session may hold the pipes
        for thread in self._threads:  # each closes the pipe that it reads
            thread.join(0.5)


def kill_all() -> None:
    """Kill every process that is still there: for a run that is broken off."""
    for process in tuple(_LIVE):
        process.end(0)


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of one run of a command. ``code``: None when it had to be killed."""

    code: int | None
    stdout: bytes
    stderr: str
    timed_out: bool = False
    too_much: bool = False
    is_over_memory: bool = False


def run_once(
    command: Sequence[str],
    data: bytes,
    deadline: float,
    *,
    limit: int = LINE_LIMIT,
    memory_limit: int | None = None,
    env: Mapping[str, str] | None = None,
) -> RunResult:
    """Run a command on some input and return what it wrote. Raises: CannotStartError."""
    process = LineProcess(command, env=env, line_limit=limit, memory_limit=memory_limit)
    lines: list[bytes] = []
    size = 0
    timed_out = too_much = False
    try:
        with contextlib.suppress(BrokenPipeError):  # it need not read its input
            process.write(data, deadline)
        process.close_input()
        while size <= limit:
            lines.append(process.read_line(deadline))
            size += len(lines[-1])
        too_much = True
    except TimeoutError:
        timed_out = True
    except TooMuch:
        too_much = True
    except Ended:
        pass
    except BaseException:
        process.end(0)
        raise
    patience = 0.0 if timed_out or too_much else max(0.1, deadline - time.monotonic())
    code = process.end(patience)
    stopped_late = code is None and not too_much
    stderr = process.stderr.text
    return RunResult(
        code,
        b"\n".join(lines),
        stderr,
        timed_out or stopped_late,
        too_much,
        process.is_over_memory,
    )


def _read(stream: IO[bytes]) -> bytes:
    try:
        return stream.read(_PIECE)
    except (OSError, ValueError):  # closed under us
        return b""


def exit_text(code: int | None) -> str:
    """Return an exit code for people."""
    if code is None:
        return "it did not end by itself"
    if code < 0:
        try:
            return f"killed by signal {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"
    return f"exit code {code}"
