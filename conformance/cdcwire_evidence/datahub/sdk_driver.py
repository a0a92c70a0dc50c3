"""The programs that hold DataHub's SDKs: which they are, and a conversation with one that runs.

A request is a line of JSON, an answer another: ``adapters/python/drive_pydatahub.py`` says what is
in them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from cdcwire_conformance.testees import CannotStartError
from cdcwire_conformance.testees.pipes import Ended, LineProcess, TooMuch

START_TIMEOUT = 60.0
TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Sdk:
    """An SDK. ``needs``: a file that is built first. ``compressions``: those that it offers."""

    name: str
    command: tuple[str, ...]
    install: str
    needs: str
    compressions: tuple[str, ...]


SDKS = (
    Sdk(
        "pydatahub",
        ("python", "adapters/python/drive_pydatahub.py"),
        "pip install -r adapters/python/requirements.txt",
        "adapters/python/drive_pydatahub.py",
        ("none", "deflate", "lz4", "zlib"),
    ),
    Sdk(
        "aliyun-sdk-datahub",
        ("java", "-jar", "adapters/java/datahub/build/datahub-driver.jar"),
        "mvn -q -f adapters/java/datahub package",
        "adapters/java/datahub/build/datahub-driver.jar",
        ("none", "deflate", "lz4"),
    ),
)


class SdkEndedError(Exception):
    """The program ended, or said nothing in time: the SDK took it down."""


class Driver:
    """A running program with an SDK in it. Raises (on creation): CannotStartError.

    One that ended is started again by its next question.
    """

    def __init__(self, sdk: Sdk, root: Path) -> None:
        if not (root / sdk.needs).exists():
            raise CannotStartError(f"{sdk.needs} is not here")
        words = [str(root / word) if "/" in word else word for word in sdk.command]
        if words[0] == "python":
            words[0] = sys.executable
        self._words = words
        self._process: LineProcess | None = None
        self.version = self._start()

    def _start(self) -> str:
        self._process = LineProcess(self._words)
        try:
            return str(self._say({"cmd": "start"}, START_TIMEOUT)["version"])
        except SdkEndedError as error:
            raise CannotStartError("the program did not start", str(error)) from error

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request; what the SDK raised is in ``raised``.

        Raises: SdkEndedError.
        """
        if self._process is None:
            self._start()
        return self._say(request, TIMEOUT)

    def _say(self, request: Mapping[str, Any], patience: float) -> dict[str, Any]:
        process = self._process
        assert process is not None
        deadline = time.monotonic() + patience
        try:
            process.write(json.dumps(request).encode() + b"\n", deadline)
            return cast("dict[str, Any]", json.loads(process.read_line(deadline)))
        except (OSError, Ended, TooMuch, ValueError) as error:
            self._process = None
            process.end(0.5)
            raise SdkEndedError(process.stderr.text.strip() or repr(error)) from error

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.write(b'{"cmd":"stop"}\n', time.monotonic() + 1)
        except OSError:
            pass
        finally:
            process.end(5.0)


@contextmanager
def driver_of(sdk: Sdk, root: Path) -> Iterator[Driver]:
    """Give a running program, and end it. Raises: CannotStartError."""
    driver = Driver(sdk, root)
    try:
        yield driver
    finally:
        driver.close()
