"""Files of a Maven repository, fetched once into a cache outside of any work tree.

They come by ``mvn``, with its own settings and mirrors, or from the repository whose URL the
environment variable ``CDCWIRE_MAVEN_URL`` gives. The cache is ``CDCWIRE_CACHE``, else the user's
folder for caches. A file is taken only if its SHA-256 is the one that is known here.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

# Later versions of the plugin want the artifact's parents, which not every repository has.
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cdcwire</groupId><artifactId>fetched</artifactId><version>1</version>
<packaging>pom</packaging><build><plugins><plugin>
<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
<version>2.10</version><executions>{steps}</executions></plugin></plugins></build></project>
"""
_STEP = """<execution><id>{number}</id><phase>validate</phase><goals><goal>get</goal></goals>
<configuration><artifact>{artifact}</artifact><transitive>false</transitive>
<destination>{file}</destination></configuration></execution>
"""
_SECONDS = 60.0
_PIECE_BYTES = 1 << 20


class FetchError(Exception):
    """A file can't be had. The text is one line: what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file of a Maven repository, and the SHA-256 of its bytes."""

    group: str
    name: str
    version: str
    sha256: str
    kind: str = "jar"
    classifier: str = ""

    @property
    def file(self) -> str:
        """The name of the file in the repository."""
        parts = (self.name, self.version, self.classifier)
        return f"{'-'.join(part for part in parts if part)}.{self.kind}"

    def __str__(self) -> str:
        found = f"{self.group}:{self.name}:{self.version}"
        return f"{found}:{self.kind}:{self.classifier}" if self.classifier else found


def cache_folder() -> Path:
    """Return the folder for what is fetched or made once."""
    given = os.environ.get("CDCWIRE_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdcwire"


def fetch_all(artifacts: Iterable[Artifact], folder: Path) -> tuple[Path, ...]:
    """Return the files of artifacts in a folder; missing files are fetched.

    Raises: FetchError.
    """
    artifacts = tuple(artifacts)
    found = tuple(folder / artifact.file for artifact in artifacts)
    missing = [artifact for artifact in artifacts if not (folder / artifact.file).is_file()]
    if not missing:
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            files = {artifact: Path(made) / artifact.file for artifact in missing}
            _fetch(files)
            for artifact, file in files.items():
                _check(artifact, file)
                file.replace(folder / artifact.file)
    except OSError as error:
        raise FetchError(f"{folder}: {error.strerror or error}") from error
    return found


def _fetch(files: Mapping[Artifact, Path]) -> None:
    repository = os.environ.get("CDCWIRE_MAVEN_URL")
    if repository:
        for artifact, file in files.items():
            _fetch_from(repository, artifact, file)
    elif shutil.which("mvn"):
        _fetch_by_maven(files)
    else:
        raise FetchError(
            f"to fetch {next(iter(files))} there must be mvn on the PATH, or the URL of a Maven "
            "repository in CDCWIRE_MAVEN_URL"
        )


def _fetch_by_maven(files: Mapping[Artifact, Path]) -> None:
    """Fetch all in one run, which has one step for each."""
    with tempfile.TemporaryDirectory() as made:
        pom = Path(made) / "pom.xml"
        steps = "".join(
            _STEP.format(number=number, artifact=artifact, file=escape(str(file)))
            for number, (artifact, file) in enumerate(files.items())
        )
        pom.write_text(_POM.format(steps=steps), "utf-8")
        done = subprocess.run(
            ["mvn", "-B", "-q", "-f", str(pom), "validate"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    missing = [artifact for artifact, file in files.items() if not file.is_file()]
    if done.returncode or missing:
        said = [line for line in done.stdout.splitlines() if "ERROR" in line]
        reason = f"{said[0]:.300}" if said else "no reason"
        raise FetchError(f"mvn can't get {(missing or list(files))[0]}: {reason}")


def _fetch_from(repository: str, artifact: Artifact, file: Path) -> None:
    if "@" in urlsplit(repository).netloc:
        problem = "CDCWIRE_MAVEN_URL has a user or a password; give them to mvn (settings.xml)"
        raise FetchError(problem)
    folder = f"{artifact.group.replace('.', '/')}/{artifact.name}/{artifact.version}"
    url = f"{repository.rstrip('/')}/{folder}/{artifact.file}"
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer, file.open("wb") as out:
            shutil.copyfileobj(answer, out)
    except urllib.error.HTTPError as error:
        problem = f"the repository in CDCWIRE_MAVEN_URL answers {error.code} for {artifact}"
        raise FetchError(problem) from error
    except (urllib.error.URLError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise FetchError(f"no repository at CDCWIRE_MAVEN_URL: {reason}") from error


def _check(artifact: Artifact, file: Path) -> None:
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            found.update(piece)
    if found.hexdigest() != artifact.sha256:
        raise FetchError(f"{artifact} has the SHA-256 {found.hexdigest()}, not {artifact.sha256}")
