"""The chapter about the adapters: builds those whose toolchains are installed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from tempfile import TemporaryDirectory

from cdcwire_conformance.output.markdown import inline
from cdcwire_evidence.report.part import NotRun, Part, table

TITLE = "Adapters"
_PARALLEL = 2
_MINUTES = 10  # for one build, with its downloads


@dataclass(frozen=True, slots=True)
class Build:
    """Packages of ``adapters/`` that one command builds.

    ``needs``: the programs that it runs; ``install``: how to get them.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...]
    install: str


BUILDS: tuple[Build, ...] = (
    Build(
        "javascript",
        ("npm", "ci", "--no-audit", "--no-fund", "--prefix", "adapters/javascript"),
        ("npm", "node"),
        "install Node",
    ),
    Build(
        "go", ("go", "build", "-C", "adapters/go", "-o", "build/", "./..."), ("go",), "install Go"
    ),
    Build(
        "java, connect and spark",
        ("mvn", "-B", "-q", "--fail-at-end", "-f", "adapters", "package"),
        ("mvn", "javac"),
        "install Maven and a JDK 17",
    ),
)


def adapters_part(builds: Sequence[Build] = BUILDS) -> Part:
    """Build the adapters. A toolchain that is missing is not run; one that fails is a failure."""
    part = Part(TITLE, "npm ci, go build, mvn package")
    wanted = []
    for build in builds:
        missing = [program for program in build.needs if shutil.which(program) is None]
        if missing:
            why = f"{missing[0]} is not installed"
            part.not_run.append(NotRun(f"adapter {build.name}", why, build.install))
        else:
            wanted.append(build)
    # A compiler that is interrupted leaves its temporary files.
    with TemporaryDirectory() as folder, ThreadPoolExecutor(_PARALLEL) as pool:
        problems = list(pool.map(_problem, wanted, repeat(folder)))
    rows = []
    for build, problem in zip(wanted, problems, strict=True):
        command = shlex.join(build.command)
        rows.append((build.name, f"`{command}`", "**failed**" if problem else "built"))
        if problem:
            part.attention.append(f"`{command}` failed: {problem}")
    part.asked, part.passed = len(wanted), problems.count("")
    part.lines = table(("adapter", "command", "result"), rows) if rows else []
    return part


def _problem(build: Build, temporary: str) -> str:
    """Return why a build failed, in one line; nothing if it did not."""
    try:
        ended = subprocess.run(
            build.command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_MINUTES * 60,
            env={**os.environ, "TMPDIR": temporary},
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {_MINUTES} minutes"
    if ended.returncode == 0:
        return ""
    lines = [line.strip() for line in (ended.stderr + ended.stdout).splitlines() if line.strip()]
    first = next((line for line in lines if "error" in line.lower()), "")
    return inline((first or (lines or ["no output"])[0])[:200])
