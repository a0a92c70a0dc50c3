"""One process that runs ``cdcwire compare`` again and again with one Spark session.

A session takes seconds to start, and its first comparisons are the slowest. The process reads a
list of words per line, and answers each with a line: exit code, output, errors.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from cdcwire.model.text import Json
from cdcwire_conformance.cli import main
from cdcwire_evidence import program

Compared: TypeAlias = "tuple[int, str, Json]"
# Small feeds end before the second compiler of Java pays, and a full collection takes no time.
_SPARK = (
    "spark.driver.defaultJavaOptions=-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions=2",
)


class Comparer:
    """Runs comparisons in another process. A context manager: the process ends with it."""

    def __enter__(self) -> Comparer:
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            program("report.comparer"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def compare(self, left: str, right: str, *more: str) -> Compared:
        """Return exit code, text and document; without a document the text is the error's line."""
        file = Path(self._folder.name, "comparison.json")
        file.unlink(missing_ok=True)
        settings = [word for setting in _SPARK for word in ("--conf", setting)]
        words = [left, right, "--json", str(file), *more, "--master", "local[2]", *settings]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(words) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            return self._process.wait(), "the process of the comparisons ended", None
        code, output, errors = json.loads(answer)
        if not file.exists():
            return code, (errors.splitlines() or ["no result"])[-1], None
        return code, output, json.loads(file.read_text(encoding="utf-8"))


def serve() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main(["compare", *json.loads(line)])
        print(json.dumps([code, output.getvalue(), errors.getvalue()]), flush=True)


if __name__ == "__main__":
    serve()
