"""How the real registry is fetched, and what is said where it can't be."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from cdcwire_evidence.registry import apicurio
from cdcwire_evidence.registry.apicurio import Apicurio, UnavailableError, fetch


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, no program on the PATH, no repository."""
    monkeypatch.setenv("CDCWIRE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CDCWIRE_MAVEN_URL", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path / "cache"


def archive(monkeypatch: pytest.MonkeyPatch, name: str = apicurio._JAR) -> bytes:
    """Return an archive that has only the jar, and is what the pinned sum expects."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = 3
        tar.addfile(info, io.BytesIO(b"jar"))
    expected = replace(apicurio._ARCHIVE, sha256=sha256(out.getvalue()).hexdigest())
    monkeypatch.setattr(apicurio, "_ARCHIVE", expected)
    return out.getvalue()


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Files of a Maven repository on loopback, by their paths; what is not there is a 404."""
    files: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path in files else 404)
            self.end_headers()
            self.wfile.write(files.get(self.path, b""))

        def log_message(self, format: str, *arguments: object) -> None:
            """Be silent."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        monkeypatch.setenv("CDCWIRE_MAVEN_URL", f"http://127.0.0.1:{server.server_port}/m2/")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield files
        server.shutdown()
        thread.join()


PATH = "/m2/io/apicurio/apicurio-registry-app/3.0.9/apicurio-registry-app-3.0.9-all.tar.gz"


def test_archive_is_fetched_once(
    repository: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("urllib3", reason="the extra registry is not installed")
    repository[PATH] = archive(monkeypatch)
    jar = fetch()
    assert jar.read_bytes() == b"jar"
    repository.clear()
    assert fetch() == jar
    assert [each.name for each in cache.iterdir()] == ["apicurio-registry-3.0.9"]


def test_other_bytes_are_not_unpacked(repository: dict[str, bytes], cache: Path) -> None:
    pytest.importorskip("urllib3", reason="the extra registry is not installed")
    repository[PATH] = b"something else"
    with pytest.raises(UnavailableError, match="has the SHA-256"):
        fetch()
    assert list(cache.iterdir()) == []


def test_archive_without_the_jar_is_an_error(
    repository: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("urllib3", reason="the extra registry is not installed")
    repository[PATH] = archive(monkeypatch, "other.jar")
    with pytest.raises(UnavailableError, match="is not complete"):
        fetch()


def test_repository_without_the_archive_is_an_error(repository: dict[str, bytes]) -> None:
    pytest.importorskip("urllib3", reason="the extra registry is not installed")
    with pytest.raises(UnavailableError, match="CDCWIRE_MAVEN_URL answers 404"):
        fetch()


def test_without_mvn_it_is_said_what_is_missing() -> None:
    with pytest.raises(UnavailableError, match="there must be mvn"):
        fetch()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for mvn is a shell script")
def test_mvn_is_asked_for_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / "given.tar.gz"
    given.write_bytes(archive(monkeypatch))
    mvn = tmp_path / "bin" / "mvn"
    mvn.parent.mkdir()
    sed = "/bin/sed -n 's|.*<destination>\\(.*\\)</destination>.*|\\1|p'"
    script = f'#!/bin/sh\n/bin/cp "{{}}" "$({sed} "$4")"\n'  # mvn -B -q -f FILE validate
    mvn.write_text(script.format(given), encoding="utf-8")
    mvn.chmod(0o755)
    assert fetch().read_bytes() == b"jar"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for mvn is a shell script")
def test_output_of_mvn_is_passed_on(tmp_path: Path) -> None:
    mvn = tmp_path / "bin" / "mvn"
    mvn.parent.mkdir()
    mvn.write_text("#!/bin/sh\necho '[ERROR] no network'\nexit 1\n", encoding="utf-8")
    mvn.chmod(0o755)
    with pytest.raises(UnavailableError, match=r"mvn can't get io\.apicurio.*no network"):
        fetch()


def test_without_java_it_is_said_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="java is not on the PATH"):
        Apicurio(tmp_path / "x.jar", tmp_path / "log").start()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for java is a shell script")
def test_program_that_ends_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("urllib3", reason="the extra registry is not installed")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho no memory\n", encoding="utf-8")
    java.chmod(0o755)
    registry = Apicurio(tmp_path / "x.jar", tmp_path / "log")
    registry.start()
    with pytest.raises(UnavailableError, match="Apicurio Registry ended; its log is"):
        registry.wait()
    assert (tmp_path / "log").read_text("utf-8") == "no memory\n"
