"""Services start in time, and a killed run leaves none of them running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cdcwire_evidence.scenarios.containers import (
    LABEL,
    RUN_VARIABLE,
    KafkaContainer,
    MinioContainer,
    RegistryContainer,
    Service,
    ToxiproxyContainer,
    labelled,
    running,
)
from cdcwire_evidence.scenarios.ledger import recorded

ALL_SECONDS = 60.0
ENGINE = Path(__file__).parents[3] / "images" / "engine"
# A run that starts two services, one with a disk of its own, and goes on for long.
RUN = """
import sys, time
from cdcwire_evidence.scenarios.containers import MinioContainer, ToxiproxyContainer
for service in (MinioContainer(sys.argv[1], disk_mib=16), ToxiproxyContainer(sys.argv[2])):
    service.start()
    service.wait()
print("ready", flush=True)
time.sleep(600)
"""


def test_nothing_is_left(image_of: Callable[[str], str], new_name: Callable[[str], str]) -> None:
    with recorded(
        "run/killed",
        "a run that is killed leaves nothing behind once it is cleaned up",
        "A run with two services is ended by SIGKILL. Its containers, their programs and mounts "
        "are still there then; `images/engine clean` finds them by the run's name, and after it "
        "there is no container, volume, network, mount or process of that run.",
    ) as result:
        run = new_name("killed")
        words = [sys.executable, "-c", RUN, image_of("MINIO_IMAGE"), image_of("TOXIPROXY_IMAGE")]
        killed = subprocess.Popen(
            words, env={**os.environ, RUN_VARIABLE: run}, stdout=subprocess.PIPE, text=True
        )
        try:
            assert killed.stdout is not None
            assert killed.stdout.readline() == "ready\n"
        finally:
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        there = labelled(f"{LABEL}={run}")
        processes = [each.attrs["State"]["Pid"] for each in there]
        folders = [each.attrs["GraphDriver"]["Data"]["MergedDir"] for each in there]
        assert len(there) == 2
        assert all(map(is_running, processes))
        assert left_of(run)[0] == 1
        if os.path.exists(folders[0]):  # the engine is on this machine, and we may look
            assert set(folders) <= mounts()
        assert subprocess.run([ENGINE, "clean", run], check=False).returncode == 0
        result.figures = {
            "containers before": len(there),
            "containers after": len(labelled(f"{LABEL}={run}")),
            "processes after": sum(map(is_running, processes)),
            "mounts after": len(set(folders) & mounts()),
        }
        assert [value for name, value in result.figures.items() if "after" in name] == [0, 0, 0]
        assert left_of(run) == (0, "nothing is left\n")


def test_all_services_start_within_a_minute(image_of: Callable[[str], str], tmp_path: Path) -> None:
    with recorded(
        "start/all",
        "all services start within a minute",
        "Kafka, MinIO, Apicurio Registry and toxiproxy, side by side, their images at hand.",
    ) as result:
        services: dict[str, Service] = {
            "Kafka": KafkaContainer(image_of("KAFKA_IMAGE")),
            "MinIO": MinioContainer(image_of("MINIO_IMAGE")),
            "Apicurio Registry": RegistryContainer(image_of("REGISTRY_IMAGE")),
            "toxiproxy": ToxiproxyContainer(image_of("TOXIPROXY_IMAGE")),
        }
        began, took = time.monotonic(), dict[str, float]()

        def start(name: str) -> None:
            with running(services[name], tmp_path / f"{name}.log"):
                took[name] = round(time.monotonic() - began, 1)

        with ThreadPoolExecutor(len(services)) as pool:
            list(pool.map(start, services))
        result.figures = {f"{name}, s": seconds for name, seconds in took.items()}
        assert took.keys() == services.keys()
        assert max(took.values()) < ALL_SECONDS


def left_of(run: str) -> tuple[int, str]:
    """The output of ``images/engine left`` about a run."""
    said = subprocess.run([ENGINE, "left", run], capture_output=True, text=True, check=False)
    return said.returncode, said.stdout


def is_running(pid: int) -> bool:
    """Return whether the process exists."""
    return Path(f"/proc/{pid}").exists()


def mounts() -> set[str]:
    """Where something is mounted."""
    return {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()}
