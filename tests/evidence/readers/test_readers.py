"""Readers of a list: each release in its own environment, and what goes wrong with some."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from cdcwire.configuration import ConfigurationError
from cdcwire.console.problems import UsageError
from cdcwire_evidence.readers.__main__ import judge, line_of, runs_of
from cdcwire_evidence.readers.listed import ListedReader, read_list

ROOT = Path(__file__).parents[3]
FORMAT = "cdl-json"
DAY = "2026-11-29"
# It claims the format, passes no case, and says which release it runs with.
TESTEE = """\
import json, sys, toyreader
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "start":
        answer = {"protocol": 1, "name": "toy", "version": toyreader.VERSION, "language": "Python",
                  "formats": {"cdl-json": {"encode": False, "without": [], "choices": {}}}}
    else:
        answer = {"seq": asked["seq"], "events": []}
    print(json.dumps(answer), flush=True)
"""
HALF = TESTEE.replace(
    'answer = {"seq": asked["seq"], "events": []}', 'print("{", end="", flush=True); sys.exit(3)'
).replace("toyreader.VERSION", '"1"')
SILENT = "import time\ntime.sleep(600)\n"


def wheel(folder: Path, version: str) -> None:
    """Write a wheel of the package toyreader."""
    facts = f"toyreader-{version}.dist-info"
    name = f"toyreader-{version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / name, "w") as out:
        out.writestr("toyreader.py", f"VERSION = {version!r}\n")
        out.writestr(
            f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: toyreader\nVersion: {version}\n"
        )
        out.writestr(
            f"{facts}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        out.writestr(f"{facts}/RECORD", "")


def program_in(folder: Path, text: str) -> list[str]:
    file = folder / "program.py"
    file.write_text(text.replace(", toyreader", ""), encoding="utf-8")
    return [sys.executable, str(file)]


def reader(**members: object) -> ListedReader:
    given: dict[str, object] = {
        "name": "toy",
        "registry": "pypi",
        "formats": (FORMAT,),
        "package": "toyreader",
        "adapter": "python",
        "command": ("python", "toy.py"),
        **members,
    }
    return ListedReader(**given)  # type: ignore[arg-type]  # members of a test


def test_each_release_runs_in_its_own_environment_and_a_missing_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.0", "1.1"):
        wheel(tmp_path, version)
    adapter = tmp_path / "adapters" / "python"
    adapter.mkdir(parents=True)
    (adapter / "toy.py").write_text(TESTEE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    runs = list(runs_of(reader(versions=("1.1", "9.9", "1.0")), DAY))
    assert [run.version for run in runs] == ["1.1", "9.9", "1.0"]
    assert [run.problem == "" for run in runs] == [True, False, True]
    assert "No matching distribution found for toyreader==9.9" in runs[1].problem
    assert str(tmp_path) not in runs[1].problem
    said = [run.results["testee"]["version"] for run in runs if run.results]
    assert said == ["1.1", "1.0"]
    assert runs[0].results
    assert runs[0].results["testee"]["command"] == "python toy.py"
    assert runs[0].count("failed") > 0


def test_testee_that_never_answers_ends_at_the_limit(tmp_path: Path) -> None:
    run = judge(reader(seconds=1), "1", program_in(tmp_path, SILENT), FORMAT, DAY)
    assert run.problem == "no end within 1 s"
    assert line_of(run) == f"toy 1, {FORMAT}: no end within 1 s"


def test_testee_that_answers_half_stops_the_run_and_is_partial(tmp_path: Path) -> None:
    run = judge(reader(), "1", program_in(tmp_path, HALF), FORMAT, DAY)
    assert run.is_partial
    assert run.count("crashed") > 0
    assert run.count("passed") == 0


def test_testee_that_does_not_start_is_a_problem(tmp_path: Path) -> None:
    run = judge(reader(), "1", program_in(tmp_path, "raise SystemExit(5)\n"), FORMAT, DAY)
    assert run.results is None
    assert run.problem


def test_missing_client_of_a_registry_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", "/nowhere")
    (run,) = runs_of(reader(registry="npm", adapter="javascript"), DAY)
    assert (run.version, run.problem) == ("unknown", "no releases: npm is not installed")


def test_list_of_the_project_has_eight_readers_with_three_releases() -> None:
    readers = read_list(ROOT / "adapters" / "readers.toml")
    several = [
        each
        for each in readers
        if each.registry != "checkout" and (each.versions == 3 or len(each.versions) == 3)  # type: ignore[arg-type]
    ]
    assert len(several) >= 8
    for each in readers:
        assert not each.adapter or (ROOT / "adapters" / each.adapter).is_dir()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no [[reader]]"),
        ("[other]", "unknown member 'other'"),
        ("reader = [1]", "reader 1 is not a table"),
        ("[[reader]]\nname = 'a'", "reader 1 (a): registry is not a text"),
        ("[[reader]]\nname = 'a'\nregistry = 'cpan'", "registry is one of pypi, npm, go"),
        ("[[reader]]\nname = 'a'\nregistry = 'pypi'", "package is missing"),
        ("[[reader]]\nnmae = 'a'", "unknown member 'nmae'"),
        (
            "[[reader]]\nname = 'a'\nregistry = 'checkout'\nformats = ['morse']",
            "unknown format 'morse'",
        ),
        ("[[reader]]\nname = 'a'\nregistry = 'checkout'\nversions = 0", "is not a number from 1"),
        (
            "[[reader]]\nname = 'a b'\nregistry = 'checkout'\n"
            "[[reader]]\nname = 'A-b'\nregistry = 'checkout'",
            "readers 'a b' and 'A-b' share a directory",
        ),
    ],
    ids=lambda text: " ".join(text.split())[:30],
)
def test_wrong_list_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "readers.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises((UsageError, ConfigurationError)) as caught:
        read_list(file)
    assert problem in str(caught.value)
