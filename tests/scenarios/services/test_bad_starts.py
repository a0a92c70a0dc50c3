"""Programs that can't start: one line and exit code 2, which means "not run", never "passed"."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire_evidence.scenarios import small_disk
from cdcwire_evidence.scenarios.containers import LABEL, RUN_VARIABLE, KafkaContainer, labelled
from cdcwire_evidence.scenarios.ledger import RESULTS_VARIABLE, record_not_run, recorded
from cdcwire_evidence.scenarios.services import Kafka, NotRunError

GIVEN = ("CDCWIRE_KAFKA", "CDCWIRE_S3", "CDCWIRE_REGISTRY")
ROOT = Path(__file__).parents[3]
NOBODY = 65534
VERSION = "v2.12.0"  # of toxiproxy, as images/build has it
NOWHERE = "tcp://127.0.0.1:9"  # the port of a service that is long gone
NO_SOCKET = "unix:///nonexistent"
# Where to look for a service, what is wrong there, and what the line has to name.
BAD = {
    "no-engine": ({"DOCKER_HOST": NOWHERE}, f"no Docker engine answers at {NOWHERE}"),
    "no-socket": ({"DOCKER_HOST": NO_SOCKET}, f"no Docker engine answers at {NO_SOCKET}"),
    "no-image": ({"CDCWIRE_KAFKA_IMAGE": "cdcwire/nothing:0"}, "there is no image cdcwire/nothing"),
    "no-broker": ({"CDCWIRE_KAFKA": "127.0.0.1:9"}, "CDCWIRE_KAFKA, 127.0.0.1:9, does not answer"),
    "no-url": ({"CDCWIRE_S3": "nonsense"}, "CDCWIRE_S3 has to be http"),
    "no-store": ({"CDCWIRE_S3": "http://k:s@127.0.0.1:9"}, "CDCWIRE_S3, http://127.0.0.1:9, does"),
}


@pytest.mark.parametrize("fault", BAD)
def test_run_without_its_services_is_not_run(fault: str, request: pytest.FixtureRequest) -> None:
    if fault == "no-image":
        request.getfixturevalue("image_of")  # it needs an engine
    with recorded(
        f"start/{fault}",
        f"a run of the scenarios: {fault.replace('-', ' ')}",
        "The run ends with one line that names what is missing and exit code 2; nothing passed.",
    ) as result:
        variables, reported = BAD[fault]
        name = "expired_unread" if "CDCWIRE_S3" in variables else "nulls"
        file = "test_buckets.py" if "CDCWIRE_S3" in variables else "test_topics.py"
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", name]
        ran = subprocess.run(
            [sys.executable, *words, str(Path(__file__).parent / file)],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=environment(CDCWIRE_SCENARIOS="required", **variables),
        )
        (line,) = [each for each in ran.stdout.splitlines() if "scenarios not run: " in each]
        result.figures = {"said": line.strip("! ").partition("Exit: ")[2] or line}
        assert ran.returncode == 2
        assert reported in line
        assert " passed" not in ran.stdout


def test_given_services_do_without_an_engine(kafka: Kafka, tmp_path: Path) -> None:
    with recorded(
        "start/given",
        "a run with a broker that is given, and no engine",
        "What breaks nothing runs on the broker; what has to have one of its own is skipped, and "
        "is reported as not run, with its reason. So is a scenario that was not requested.",
    ) as result:
        reported, here = tmp_path / "results.jsonl", Path(__file__).parent
        files = [str(here / name) for name in ("test_topics.py", "test_load.py")]
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "nulls or sizes_on"]
        variables = {"CDCWIRE_KAFKA": kafka.bootstrap, "DOCKER_HOST": NO_SOCKET}
        ran = subprocess.run(
            [sys.executable, *words, *files],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=environment(
                CDCWIRE_SCENARIOS="required", **{RESULTS_VARIABLE: str(reported)}, **variables
            ),
        )
        assert ran.returncode == 0, ran.stdout
        assert "1 passed, 1 skipped" in ran.stdout
        lines = [json.loads(line) for line in reported.read_text().splitlines()]
        assert [line["verdict"] for line in lines].count("passed") == 1
        missing = {line["id"]: line["text"] for line in lines if line["verdict"] == "not run"}
        assert sorted(missing) == ["deselected", "test_load/sizes_on_the_brokers_disk"]
        assert missing["deselected"].endswith(" scenarios were not asked for: -k nulls or sizes_on")
        said = missing["test_load/sizes_on_the_brokers_disk"]
        assert said.startswith("no Docker engine answers, and this needs a container of ")
        result.figures = {"passed": 1, "said of the other": said}


@pytest.mark.quick
@pytest.mark.parametrize("script", ["engine start", "build", "build kafka"])
def test_scripts_do_nothing_where_all_is_given(script: str, tmp_path: Path) -> None:
    name, *words = script.split()
    variables = dict.fromkeys(GIVEN, "given")
    variables |= {"DOCKER_HOST": NOWHERE, "CDCWIRE_CACHE": str(tmp_path / "cache")}
    ran = subprocess.run(
        [f"{ROOT}/images/{name}", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment(**variables),
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("all services are given")
    assert ran.stdout.count("\n") == 1
    assert not (tmp_path / "cache").exists()


def test_port_that_is_taken_is_one_line_and_leaves_nothing(
    image_of: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, new_name: Callable[[str], str]
) -> None:
    with recorded(
        "start/port-taken",
        "a container whose port is taken",
        "It is not started, one line says so, and the container that was made for it is removed.",
    ) as result:
        run = new_name("taken")
        monkeypatch.setenv(RUN_VARIABLE, run)
        container = KafkaContainer(image_of("KAFKA_IMAGE"))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", container.ports[KafkaContainer.INSIDE]))
            taken.listen()
            with pytest.raises(NotRunError) as failure:
                container.start()
        result.figures = {"said": str(failure.value)}
        assert "\n" not in str(failure.value)
        assert "address already in use" in str(failure.value)
        assert labelled(f"{LABEL}={run}") == []


@pytest.mark.quick
@pytest.mark.parametrize(
    ("script", "variables", "reported"),
    [
        ("build", {"DOCKER_HOST": NOWHERE}, "no Docker engine answers; images/engine start"),
        ("build", {"CDCWIRE_CACHE": "/dev/null/x"}, "the cache /dev/null/x/images can't be"),
        ("build nothing", {}, "there is no image nothing; there are: kafka"),
        ("build --nothing", {}, "option --nothing is not known"),
        ("engine", {}, "start, stop, status, clean or left?"),
        ("engine clean", {"DOCKER_HOST": NOWHERE}, "no Docker engine answers"),
    ],
)
def test_scripts_end_with_one_line(
    script: str, variables: dict[str, str], reported: str, request: pytest.FixtureRequest
) -> None:
    name, *words = script.split()
    if name == "build" and words:
        request.getfixturevalue("image_of")  # without an engine it says so first
    code, lines = run_script([f"{ROOT}/images/{name}", *words], **variables)
    assert code == 2
    assert len(lines) == 1
    assert reported in lines[0]


def test_engine_is_not_started_without_rights(tmp_path: Path) -> None:
    """A user who is not root gets one line; who runs this as root becomes nobody for it."""
    with recorded(
        "start/no-rights",
        "no engine, and no right to start one",
        "`images/engine start` by a user who is not root ends with one line and exit code 2.",
    ) as result:
        script = str(shutil.copy(ROOT / "images" / "engine", tmp_path))
        readable_by_all(Path(script))
        rights = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        as_nobody = rights if os.geteuid() == 0 else []
        code, lines = run_script([*as_nobody, script, "start"], DOCKER_HOST=NOWHERE)
        result.figures = {"said": lines[-1] if lines else ""}
        assert code == 2
        assert lines == ["images/engine: no Docker engine answers, and only root can start one"]


def test_image_that_meets_a_full_disk_is_not_run(tmp_path: Path) -> None:
    with recorded(
        "start/disk-full",
        "an image is built, and the disk is full",
        "The engine has no room for it, or the cache has none: one line, exit code 2.",
    ) as result:
        programs = tmp_path / "programs"
        programs.mkdir()
        docker = programs / "docker"
        docker.write_text(
            '#!/bin/sh\ncase $1 in image) exit 1 ;; build) echo "no space left on device" >&2; '
            "exit 1 ;; esac\n"
        )
        docker.chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        with_program(tmp_path / "cache")
        script = [str(ROOT / "images" / "build"), "toxiproxy"]
        code, lines = run_script(script, PATH=path, CDCWIRE_CACHE=str(tmp_path / "cache"))
        result.figures = {"said": lines[-1].replace(f"{tmp_path}/", "") if lines else ""}
        assert code == 2
        assert [line for line in lines if "making" not in line] == lines[-1:]
        assert lines[-1].startswith("images/build: building ")
        assert lines[-1].endswith("no space left on device")
        disk = tmp_path / "disk"
        disk.mkdir()
        full = 'mkdir -p "$0/images/toxiproxy" && cp -r "$1" "$0/images/toxiproxy/" && {{ {}; }}'
        steps = 'dd if=/dev/zero of="$0/x" bs=1k 2>/dev/null; shift; CDCWIRE_CACHE="$0" exec "$@"'
        program = str(tmp_path / "cache" / "images" / "toxiproxy" / VERSION)
        words = ["sh", "-c", full.format(steps), str(disk), program, *script]
        try:
            ran = small_disk.run_on_a_small_disk(disk, "env", f"PATH={path}", *words)
        except NotRunError as error:
            record_not_run("start/cache-full", "a full disk under the cache", str(error))
            return
        assert ran.returncode == 2
        assert ran.stderr.splitlines()[-1].endswith("is the disk full?")


def with_program(cache: Path) -> None:
    """Make a cache that has toxiproxy's program, so that no compiler runs."""
    folder = cache / "images" / "toxiproxy" / VERSION
    folder.mkdir(parents=True)
    (folder / "server").write_text("")
    (folder / "server").chmod(0o755)


def readable_by_all(file: Path) -> None:
    """Let every user read a file, and go through the temporary folders above it."""
    file.chmod(0o755)
    for folder in file.parents:
        if folder.owner() == file.owner() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)


def run_script(words: list[str], **variables: str) -> tuple[int, list[str]]:
    """Run a script; return its exit code and what it said of its failure."""
    ran = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment(**variables)
    )
    return ran.returncode, ran.stderr.splitlines()


def environment(**variables: str) -> dict[str, str]:
    """This program's, without the run's own name, report and services, and with what is asked."""
    own = (RESULTS_VARIABLE, RUN_VARIABLE, *GIVEN)
    return {name: value for name, value in os.environ.items() if name not in own} | variables
