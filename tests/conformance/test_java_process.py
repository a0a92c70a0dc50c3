"""The Java process of a session ends, and its directory goes, however the program ends.

A small program takes the place of Java.
"""

from __future__ import annotations

import os
import socketserver
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cdcwire_conformance.spark import java as module
from cdcwire_conformance.spark.java import JavaProcess, end_java, java_ends_on_interrupt, start_java

WAITS = "import sys; sys.stdin.read(); open('ended', 'w').close()"
STAYS = "import time; time.sleep(600)"


@pytest.fixture(autouse=True)
def no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_started", [])


def started(program: str, folder: Path) -> JavaProcess:
    found = start_java()
    found.log.write_text("text")
    found.process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, cwd=folder
    )
    return found


def test_java_may_end_itself_before_its_directory_goes(tmp_path: Path) -> None:
    java = started(WAITS, tmp_path)
    process = java.process
    assert process is not None
    end_java()
    assert process.returncode == 0
    assert (tmp_path / "ended").exists()
    assert not java.folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
def test_java_that_does_not_end_is_killed(tmp_path: Path) -> None:
    java = started(STAYS, tmp_path)
    process = java.process
    assert process is not None
    java.end(0.1)
    assert process.returncode == -9
    assert not java.folder.exists()


def test_an_interrupt_ends_java_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end, given = module._end, []

    def ended(process: subprocess.Popen[bytes], seconds: float) -> None:
        given.append(seconds)
        end(process, seconds)

    monkeypatch.setattr(module, "_end", ended)
    java = started(STAYS, tmp_path)
    process = java.process
    assert process is not None
    with pytest.raises(KeyboardInterrupt), java_ends_on_interrupt():
        raise KeyboardInterrupt
    assert process.returncode is not None
    assert not java.folder.exists()
    assert given == [0]  # Java has no time to end itself


def test_other_errors_leave_java_as_it_is(tmp_path: Path) -> None:
    java = started(WAITS, tmp_path)
    with pytest.raises(ValueError, match="wrong"), java_ends_on_interrupt():
        raise ValueError("wrong")
    assert java.process is not None
    assert java.process.poll() is None
    assert java.folder.exists()
    end_java()


def test_a_java_that_never_started_leaves_no_directory() -> None:
    java = start_java()
    assert java.folder.is_dir()
    end_java()
    assert not java.folder.exists()


def test_temporary_files_of_java_are_in_its_directory() -> None:
    java = start_java()
    settings = java.with_folder({"spark.driver.defaultJavaOptions": "-XX:+UseParallelGC", "a": "b"})
    assert settings == {
        "a": "b",
        "spark.driver.defaultJavaOptions": (
            f'-XX:+UseParallelGC "-Djava.io.tmpdir={java.folder}" -XX:-UsePerfData'
        ),
    }
    assert java.with_folder({})["spark.driver.defaultJavaOptions"].startswith('"-Djava.io.tmpdir=')
    end_java()


def test_directories_in_the_users_places_are_removed_and_the_places_stay(tmp_path: Path) -> None:
    places = [tmp_path / "made" / "first", tmp_path / "second"]
    java = start_java(list(map(str, places)))
    assert [folder.parent for folder in java.folders] == places
    assert java.local_dirs == f"{java.folders[0]},{java.folders[1]}"
    assert java.folder == java.folders[0]
    (java.folders[1] / "blocks").mkdir()
    end_java()
    assert [list(place.iterdir()) for place in places] == [[], []]


def test_nothing_is_sent_to_java_for_objects_that_go() -> None:
    java = start_java()
    java.client = SimpleNamespace(is_connected=True)
    end_java()
    assert java.client.is_connected is False


def test_listeners_do_not_print_that_java_has_gone(capsys: pytest.CaptureFixture[str]) -> None:
    class Handler(socketserver.BaseRequestHandler):
        """Never called."""

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        java = start_java()
        java.listeners.append(server)
        end_java()
        try:
            raise EOFError
        except EOFError:
            server.handle_error(None, None)  # type: ignore[arg-type]  # as on an error
    assert capsys.readouterr() == ("", "")
