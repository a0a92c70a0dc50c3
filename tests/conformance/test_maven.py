"""Jars are fetched once, by their sums, from the repository that is named."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire_conformance.maven import Artifact, FetchError, cache_folder, fetch_all

BYTES = b"a jar"
JAR = Artifact("org.example", "thing_2.13", "1.2", hashlib.sha256(BYTES).hexdigest())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that has ``JAR``, as the only place to fetch from."""
    file = tmp_path / "repository" / "org" / "example" / "thing_2.13" / "1.2" / JAR.file
    file.parent.mkdir(parents=True)
    file.write_bytes(BYTES)
    monkeypatch.setenv("CDCWIRE_MAVEN_URL", (tmp_path / "repository").as_uri())
    return file


def test_jar_is_fetched_once(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (found,) = fetch_all([JAR], cache)
    assert found == cache / "thing_2.13-1.2.jar"
    assert found.read_bytes() == BYTES
    repository.unlink()
    assert fetch_all([JAR], cache) == (found,)
    assert list(cache.iterdir()) == [found]


def test_jar_of_other_bytes_is_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r":thing_2\.13:1\.2 has the SHA-256 .*, not 00$"):
        fetch_all([replace(JAR, sha256="00")], tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("repository")
def test_missing_jar_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="CDCWIRE_MAVEN_URL") as caught:
        fetch_all([replace(JAR, version="9")], tmp_path / "cache")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", ["alice:p4ss-w0rd@host", "alice:p4ss-w0rd@host:1"])
def test_password_in_the_address_is_refused_and_not_shown(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDCWIRE_MAVEN_URL", f"https://{place}/maven2")
    with pytest.raises(FetchError, match="has a user or a password; give them to mvn") as caught:
        fetch_all([JAR], tmp_path / "cache")
    assert "p4ss" not in str(caught.value)
    assert list((tmp_path / "cache").iterdir()) == []


def test_without_maven_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDCWIRE_MAVEN_URL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match="there must be mvn on the PATH, or the URL of a Maven"):
        fetch_all([JAR], tmp_path / "cache")


def test_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDCWIRE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("CDCWIRE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "cdcwire"


MVN = """#!{python}
import sys
from pathlib import Path
from xml.etree import ElementTree

assert sys.argv[1:4] == ["-B", "-q", "-f"] and sys.argv[5:] == ["validate"]
space = "{{http://maven.apache.org/POM/4.0.0}}"
steps = list(ElementTree.parse(sys.argv[4]).iter(space + "configuration"))
with open({log!r}, "a") as log:
    print(len(steps), file=log)
for step in steps:
    if step.findtext(space + "artifact") == "org.example:none:1":
        print("[ERROR] no such artifact")
        sys.exit(1)
    assert step.findtext(space + "transitive") == "false"
    Path(step.findtext(space + "destination")).write_bytes({value!r})
"""


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for mvn is a script")
def test_maven_is_run_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mvn, log = tmp_path / "bin" / "mvn", tmp_path / "log"
    mvn.parent.mkdir()
    mvn.write_text(MVN.format(python=sys.executable, log=str(log), value=BYTES))
    mvn.chmod(0o755)
    monkeypatch.delenv("CDCWIRE_MAVEN_URL", raising=False)
    monkeypatch.setenv("PATH", str(mvn.parent))
    jars = [replace(JAR, name=name) for name in "abc"]
    found = fetch_all(jars, tmp_path / "it's <cache> & more")
    assert [file.read_bytes() for file in found] == [BYTES] * 3
    assert log.read_text() == "3\n"
    missing = replace(JAR, name="none", version="1")
    with pytest.raises(FetchError, match=r"mvn can't get org\.example:none:1: \[ERROR\] no such"):
        fetch_all([*jars, missing, replace(JAR, name="d")], tmp_path / "it's <cache> & more")
