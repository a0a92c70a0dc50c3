"""The corpus as packages: each is built by its own toolchain, and walked by its own test.

Maven, Cargo and pip download what a build needs. Where they can't, their tests are skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.export import ExportError
from cdcwire_conformance.export.packages import DATA_FOLDERS, export_package

FORMATS = ("maxwell-json", "cdl-json")
WALKERS = {
    "npm": "index.js",
    "go": "corpus.go",
    "maven": "src/main/java/cdcwire/corpus/Corpus.java",
    "cargo": "src/lib.rs",
    "pypi": "cdcwire_corpus/__init__.py",
}
MOST_LINES = 100
_OFFLINE = re.compile(
    r"could not resolve host|could not transfer|failed to download|couldn't resolve|offline|"
    r"network|unknown host|spurious|no matching distribution|name resolution",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of package, as the command writes it, in a folder of its name."""
    folder = tmp_path_factory.mktemp("packages")
    assert main(["corpus", "export", str(folder), *FORMATS, "--package", "all"]) == 0
    return folder


def run(words: Sequence[str], folder: Path, needs_network: bool = False, **environment: str) -> str:
    """Run a tool in a package. Skips the test if the tool is missing, or its downloads are."""
    program = shutil.which(words[0])
    if program is None:
        pytest.skip(f"{words[0]} is not installed")
    ended = subprocess.run(
        [program, *words[1:]],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if ended.returncode and needs_network and _OFFLINE.search(ended.stdout):
        pytest.skip(f"{words[0]} can't download what the package needs")
    assert ended.returncode == 0, ended.stdout[-4000:]
    return ended.stdout


@pytest.mark.long
def test_npm_package_is_packed_and_walked(packages: Path) -> None:
    run(["npm", "test"], packages / "npm")
    [packed] = json.loads(run(["npm", "pack", "--json"], packages / "npm"))
    assert packed["filename"] == f"cdcwire-corpus-{corpus_version()}.tgz"
    names = {file["path"] for file in packed["files"]}
    assert {"index.js", "data/cases/maxwell-json.jsonl", "data/manifest.json"} <= names


@pytest.mark.long
def test_go_module_is_vetted_and_walked(packages: Path) -> None:
    assert not run(["gofmt", "-l", "."], packages / "go")
    run(["go", "vet", "./..."], packages / "go", GOFLAGS="-mod=mod", GOPROXY="off")
    assert "ok" in run(["go", "test", "./..."], packages / "go", GOPROXY="off")


@pytest.mark.long
def test_maven_artifact_is_packaged_and_walked(packages: Path) -> None:
    run(["mvn", "-B", "-q", "package"], packages / "maven", needs_network=True)
    assert (packages / f"maven/target/cdcwire-corpus-{corpus_version()}.jar").exists()
    report = packages / "maven/target/surefire-reports/TEST-cdcwire.corpus.CorpusTest.xml"
    assert 'tests="3" errors="0" skipped="0" failures="0"' in report.read_text()


@pytest.mark.long
def test_crate_is_packaged_and_walked(packages: Path) -> None:
    assert "2 passed" in run(["cargo", "test"], packages / "cargo", needs_network=True)
    run(["cargo", "package", "--no-verify"], packages / "cargo", needs_network=True)
    assert (packages / f"cargo/target/package/cdcwire-corpus-{corpus_version()}.crate").exists()


@pytest.mark.long
def test_python_package_is_a_wheel_and_walked(packages: Path, tmp_path: Path) -> None:
    folder = packages / "pypi"
    run([sys.executable, "-m", "unittest", "discover", "tests"], folder, PYTHONPATH=str(folder))
    run([sys.executable, "-m", "venv", "tools"], tmp_path)  # with pip, which uv leaves out
    python = tmp_path / "tools" / ("Scripts" if os.name == "nt" else "bin") / "python"
    words = ["-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path)]
    run([str(python), *words, str(folder)], tmp_path, needs_network=True)
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name == f"cdcwire_corpus-{corpus_version()}-py3-none-any.whl"
    walk = "import cdcwire_corpus as c; print(sum(1 for _ in c.cases('cdl-json')))"
    count = run([sys.executable, "-c", walk], tmp_path, PYTHONPATH=str(wheel))
    assert int(count) == count_lines(packages / "pypi/cdcwire_corpus/data/cases/cdl-json.jsonl")


def count_lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


@pytest.mark.parametrize("kind", WALKERS)
def test_walker_has_at_most_a_hundred_lines_of_code(packages: Path, kind: str) -> None:
    text = (packages / kind / WALKERS[kind]).read_text()
    code = [line.strip() for line in text.splitlines() if line.strip()]
    assert sum(not line.startswith(("//", "/*", "*")) for line in code) <= MOST_LINES


@pytest.mark.parametrize("kind", WALKERS)
def test_package_has_the_data_with_its_checksums_and_no_open_word(
    packages: Path, kind: str
) -> None:
    data = packages / kind / DATA_FOLDERS[kind]
    for line in (data / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((data / name).read_bytes()).hexdigest() == digest
    assert (data / "VERSION").read_text().strip() == corpus_version()
    found = (packages / kind).rglob("*")
    own = [file for file in found if file.is_file() and "target" not in file.parts]
    raw = [file.read_bytes() for file in own if data not in file.parents]
    texts = [each for each in raw if b"\0" not in each]  # not what a packer compressed
    assert texts
    assert not [text for text in texts if re.search(rb"@[a-z_]+@", text)]


def test_package_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_package("npm", tmp_path / name, ("cdl-json",), name="x")
    one, two = (
        {file.relative_to(top).as_posix(): file.read_bytes() for file in top.rglob("*.*")}
        for top in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two


@pytest.mark.parametrize(
    ("name", "taken", "problem"),
    [("x", True, "already exists"), ('x", "y": "', False, "is not a name of a package")],
)
def test_wrong_target_or_name_is_refused_and_nothing_is_written(
    name: str, taken: bool, problem: str, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    if taken:
        target.mkdir()
        (target / "mine").write_text("kept")
    with pytest.raises(ExportError, match=problem):
        export_package("npm", target, ("cdl-json",), name=name)
    assert [file.name for file in tmp_path.rglob("*")] == (["target", "mine"] if taken else [])
