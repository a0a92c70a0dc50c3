"""The published packages, ``cdcwire`` and ``cdcwire-conformance``: built, and installed alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

import cdcwire

ROOT = Path(__file__).parent.parent
MOST_BYTES_OF_CODECS = 1_100_000
UV = shutil.which("uv")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(UV is None, reason="uv, which builds and installs packages, is missing"),
]

DDL = """
from cdcwire.ddl import parse_ddl
print(*(c.name for c in parse_ddl("CREATE TABLE shop.t (id BIGINT, n TEXT)")[0].columns))
"""
DECODES = """
from cdcwire import Decoder
message = (
    b'{"database":"shop","table":"t","type":"insert","ts":1,"xid":1,'
    b'"commit":true,"data":{"id":18446744073709551615}}'
)
(change,) = Decoder("maxwell-json", rows=dict).decode(message)
print(change.after)
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for package in ("reference", "conformance"):
        run("build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT / package))
    return folder


def run(*words: str) -> str:
    assert UV is not None
    return output_of([UV, *words])


def output_of(words: Sequence[str], code: int = 0) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(words, capture_output=True, text=True, cwd="/", env=own)
    assert found.returncode == code, found.stderr
    return found.stdout + found.stderr


def installed(folder: Path, wheels: Path, requirement: str) -> Path:
    """Return where the programs of a new environment are that has one package."""
    run("venv", "--quiet", str(folder))
    programs = next(path for name in ("bin", "Scripts") if (path := folder / name).is_dir())
    own = "--python", str(programs / "python"), "--find-links", str(wheels)
    run("pip", "install", "--quiet", *own, requirement)
    return programs


def files_of(wheels: Path, name: str) -> set[str]:
    (wheel,) = wheels.glob(f"{name}-*.whl")
    with ZipFile(wheel) as archive:
        return {each for each in archive.namelist() if ".dist-info/" not in each}


def test_packages_share_no_file_and_have_those_of_the_checkout(
    wheels: Path, tmp_path: Path
) -> None:
    run("build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(ROOT))
    codecs, suite = files_of(wheels, "cdcwire"), files_of(wheels, "cdcwire_conformance")
    assert not codecs & suite
    assert codecs | suite == files_of(tmp_path, "cdcwire")


def test_codecs_are_small_and_decode_alone(wheels: Path, tmp_path: Path) -> None:
    (wheel,) = wheels.glob("cdcwire-*.whl")
    assert wheel.stat().st_size < MOST_BYTES_OF_CODECS
    programs = installed(tmp_path / "own", wheels, "cdcwire")
    python = str(programs / "python")
    assert (
        run("pip", "freeze", "--quiet", "--python", python) == f"cdcwire=={cdcwire.__version__}\n"
    )
    assert output_of([python, "-c", DECODES]) == "{'id': 18446744073709551615}\n"
    message = ROOT / "golden" / "craft" / "rows" / "all-flags.bin"
    for command in ([python, "-m", "cdcwire"], [str(programs / "cdcwire")]):
        assert '"kind": "row"' in output_of([*command, "decode", "craft", str(message)])
    assert "craft" in output_of([python, "-m", "cdcwire", "identify", str(message)])
    assert "craft: " in output_of([python, "-m", "cdcwire", "explain", "craft", str(message)])
    missing = "reading CREATE TABLE statements needs the package sqlglot (extra ddl): pip install"
    assert missing in output_of([python, "-c", DDL], code=1)
    run(
        "pip", "install", "--quiet", "--python", python, "--find-links", str(wheels), "cdcwire[ddl]"
    )
    assert output_of([python, "-c", DDL]) == "id n\n"


def test_suite_brings_the_codecs_and_the_command(wheels: Path, tmp_path: Path) -> None:
    programs = installed(tmp_path / "own", wheels, "cdcwire-conformance")
    found = run("pip", "freeze", "--quiet", "--python", str(programs / "python")).split()
    version = cdcwire.__version__
    assert found == [f"cdcwire=={version}", f"cdcwire-conformance=={version}"]
    command = str(programs / "cdcwire")
    assert "passed" in output_of([command, "verify", "cdl-json", "--no-derived"])


def test_extra_of_the_codecs_brings_that_of_the_suite(wheels: Path, tmp_path: Path) -> None:
    programs = installed(tmp_path / "own", wheels, "cdcwire[html]")
    found = run("pip", "freeze", "--quiet", "--python", str(programs / "python")).lower()
    assert [each.partition("==")[0] for each in found.split()] == [
        "cdcwire",
        "cdcwire-conformance",
        "jinja2",
        "markupsafe",
    ]
