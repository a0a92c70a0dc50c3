"""Clusters whose Python has all libraries but not this project, which comes to them as a wheel."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from cdcwire_evidence.scenarios.cluster import Cluster

ROOT = Path(__file__).parents[3]
_OURS = re.compile(r"_*(editable_.*)?cdcwire", re.IGNORECASE)


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with all libraries of this one, but not with this project."""
    folder = tmp_path_factory.mktemp("python")
    others = folder / "libraries"
    others.mkdir()
    for site in {Path(each) for each in sys.path if Path(each).name == "site-packages"}:
        for entry in site.iterdir():
            if entry.suffix != ".pth" and not _OURS.match(entry.name):
                (others / entry.name).symlink_to(entry)
    venv.create(folder / "venv", symlinks=True)
    (own,) = (folder / "venv").glob("lib/python*/site-packages")
    (own / "libraries.pth").write_text(f"{others}\n")
    python = folder / "venv" / "bin" / "python"
    assert _imports(python, "pyspark, pyarrow, pandas")
    assert not _imports(python, "cdcwire")
    assert not _imports(python, "cdcwire_conformance")
    return python


def _imports(python: Path, names: str) -> bool:
    command = [str(python), "-c", f"import {names}"]
    return subprocess.run(command, cwd="/", env={}, capture_output=True).returncode == 0


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this project, under a name that PySpark puts on the path of its workers."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True
    )
    (wheel,) = folder.glob("cdcwire-*.whl")
    return Path(shutil.copyfile(wheel, folder / "cdcwire.zip"))


@contextmanager
def _started(folder: Path, python: Path, package: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder, python, package)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, bare_python: Path, package: Path
) -> Iterator[Cluster]:
    """A cluster whose workers live. A job may lose its executors: the next one has its own."""
    with _started(tmp_path_factory.mktemp("cluster"), bare_python, package) as running:
        yield running


@pytest.fixture
def own_cluster(
    tmp_path_factory: pytest.TempPathFactory, bare_python: Path, package: Path
) -> Iterator[Cluster]:
    """A cluster with a worker that a test may kill."""
    with _started(tmp_path_factory.mktemp("own-cluster"), bare_python, package) as running:
        yield running


def _files_of(page: Path, heading: str) -> Mapping[str, str]:
    """Return the Python files that a chapter of a page shows, by the name in their first line."""
    text = page.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    block = re.compile(r"^```python\n# (\w+\.py)\b[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return dict(block.findall(text))


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripts that the page about clusters shows."""
    folder = tmp_path_factory.mktemp("scripts")
    found = _files_of(ROOT / "docs" / "how-to" / "spark-cluster.md", "Submit a job")
    assert sorted(found) == ["submit.py", "to_parquet.py"]
    for name, text in found.items():
        (folder / name).write_text(text)
    return folder
