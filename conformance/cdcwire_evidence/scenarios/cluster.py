"""Spark's own standalone cluster: a master and workers, each a process of its own on loopback.

The workers have another working folder and another time zone than the driver, and the Python that
they are given. What they need of this project comes with ``spark-submit``, or in their environment.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from cdcwire_evidence.loopback import free_port

_SET_PARENT_DEATH_SIGNAL = 1
_library = ctypes.CDLL(None)  # looked up here: between fork and exec nothing may be imported


def end_with_parent() -> None:
    """Let this process be ended when its parent has; ``preexec_fn`` of a subprocess."""
    _library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


_STARTED_WITHIN = 60.0
_ENDED_WITHIN = 60.0
_JOB_WITHIN = 900.0  # seconds; it takes some 30 where nothing else runs
_MARK = "CDCWIRE_TEST_CLUSTER"
_ELSEWHERE = "Asia/Kathmandu"
_EXECUTOR = b"CoarseGrainedExecutorBackend"
_TASK_BEGUN = re.compile(r"Running task \S+ in stage (\d+)\.\d+ \(TID (\d+)\)")
_TASK_ENDED = re.compile(r"(?:Finished task|Exception in task|Executor killed task) .*?TID (\d+)\)")


def wait_for(found: Callable[[], object], what: str, seconds: float) -> None:
    """Wait until ``found`` returns a true value.

    Raises: AssertionError after ``seconds``, with ``what`` as the name of the wait.
    """
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, f"{what} took more than {seconds:g} seconds"
        time.sleep(0.02)


@dataclass
class Cluster:
    """A cluster. All processes that belong to it have ``mark`` in their environment.

    ``package``: what ``spark-submit`` gives to all. ``memory``: of a worker, in MiB; its executor
    gets half of it. ``others``: of the environment.
    """

    folder: Path
    python: Path
    package: Path | None = None
    workers: int = 2
    cores: int = 1
    memory: int = 1024
    others: Mapping[str, str] = field(default_factory=dict)
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    master: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    jobs: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def spark_home(self) -> Path:
        """The directory of the installed pyspark package."""
        spec = find_spec("pyspark")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        return Path(next(iter(spec.submodule_search_locations)))

    def environment(self, **others: str) -> dict[str, str]:
        """Return an environment without anything that leads to this project."""
        names = ("PATH", "HOME", "JAVA_HOME", "LANG")
        return {
            **{name: os.environ[name] for name in names if name in os.environ},
            "SPARK_HOME": str(self.spark_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "PYSPARK_PYTHON": str(self.python),
            "PYSPARK_DRIVER_PYTHON": str(self.python),
            "PYTHONDONTWRITEBYTECODE": "1",
            _MARK: self.mark,
            **self.others,
            **others,
        }

    def start(self) -> None:
        """Start the master and the workers, and wait until all workers have registered."""
        port, page = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{port}"
        places = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        self._start("master", "org.apache.spark.deploy.master.Master", *places)
        for number in range(self.workers):
            name = f"worker-{number}"
            places = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            room = ("--cores", str(self.cores), "--memory", f"{self.memory}m")
            kind = "org.apache.spark.deploy.worker.Worker"
            work = ("--work-dir", str(self.folder / name))
            self._start(name, kind, *places, *room, *work, self.master)
        address = f"http://127.0.0.1:{page}/json/"
        wait_for(lambda: self._workers_at(address) == self.workers, "the cluster", _STARTED_WITHIN)

    def _start(self, name: str, *words: str) -> None:
        place = self.folder / name
        place.mkdir()
        with (self.folder / f"{name}.log").open("wb") as log:
            command = [str(self.spark_home / "bin" / "spark-class"), *words]
            environment = self.environment(TZ=_ELSEWHERE)
            process = subprocess.Popen(
                command,
                cwd=place,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent,
            )
        self.processes.append(process)

    def _workers_at(self, address: str) -> int:
        for process in self.processes:
            assert process.poll() is None, "a process of the cluster has ended"
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                found: int = json.load(answer)["aliveworkers"]
                return found
        except OSError:
            return 0

    def submit(
        self, script: Path, *arguments: str, cwd: Path, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        """Start a script by ``spark-submit``. ``options``: more of it."""
        packages = () if self.package is None else ("--py-files", str(self.package))
        command = [
            *(str(self.spark_home / "bin" / "spark-submit"), "--master", self.master, *packages),
            *("--driver-memory", "512m", "--executor-memory", f"{self.memory // 2}m"),
            *("--conf", "spark.sql.shuffle.partitions=4", *options),
            *(str(script), *arguments),
        ]
        pipe = subprocess.PIPE
        environment = self.environment(TZ="UTC")
        job = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdout=pipe,
            stderr=pipe,
            text=True,
            preexec_fn=end_with_parent,
        )
        self.jobs.append(job)
        return job

    def pids(self) -> Iterator[int]:
        """Yield the processes that the cluster and its jobs have now."""
        wanted = f"{_MARK}={self.mark}".encode()
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if wanted in (place / "environ").read_bytes().split(b"\0"):
                    yield int(place.name)

    def executor_at_work(self, stage: int) -> int | None:
        """Return an executor that runs a task of this stage or a later one of its job."""
        for pid in self.pids():
            if _EXECUTOR in command_of(pid) and stage <= _last_unfinished_stage(pid):
                return pid
        return None

    def executor_folders(self) -> set[Path]:
        """Return the folders of all executors that there are, and were."""
        return set(self.folder.glob("worker-*/app-*/*"))

    def stop(self) -> None:
        """End all processes. Raises: AssertionError where one has to be killed."""
        for job in self.jobs:
            if job.poll() is None:  # its test has failed
                job.kill()
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(_ENDED_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        try:
            wait_for(lambda: not list(self.pids()), "the end of all processes", _ENDED_WITHIN)
        finally:
            for pid in self.pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def command_of(pid: int) -> bytes:
    """Return the command line of a process; b"" if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return b""


def parent_of(pid: int) -> int:
    """Return the process id of a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])


def _last_unfinished_stage(executor: int) -> int:
    """Return the stage of a task that an executor began and has not ended, by its log; or -1."""
    try:
        log = Path(f"/proc/{executor}/cwd/stderr").read_text("utf-8", "replace")
    except OSError:
        return -1
    begun = {tid: int(stage) for stage, tid in _TASK_BEGUN.findall(log)}
    for tid in _TASK_ENDED.findall(log):
        begun.pop(tid, None)
    return max(begun.values(), default=-1)


@dataclass(frozen=True)
class Answer:
    """The exit code and the output of a finished job."""

    code: int
    out: str
    err: str


def answer_of(job: subprocess.Popen[str]) -> Answer:
    """Wait for a job to end, and return its exit code and output.

    Raises: subprocess.TimeoutExpired, after killing the job.
    """
    try:
        out, err = job.communicate(timeout=_JOB_WITHIN)
    except subprocess.TimeoutExpired:
        job.kill()
        job.communicate()
        raise
    return Answer(job.returncode, out, err)
