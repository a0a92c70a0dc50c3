"""Workflows may only read the repository, and name actions by digest. CI runs as a user does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
FILES = [*WORKFLOWS, ROOT / "action.yml"]
PINNED = re.compile(r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_actions_are_named_by_digest_and_version(file: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (.+)$", file.read_text("utf-8"), re.MULTILINE)
    assert used
    assert [name for name in used if name != "./" and not PINNED.fullmatch(name)] == []


def test_an_action_has_one_digest() -> None:
    text = "".join(file.read_text("utf-8") for file in FILES)
    used = set(re.findall(r"uses: (\S+@.+)", text))
    assert len(used) == len({name.partition("@")[0] for name in used})


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflow_may_only_read(file: Path) -> None:
    text = file.read_text("utf-8")
    assert "\npermissions:\n  contents: read\njobs:\n" in text
    assert text.count("permissions:") == 1
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_nightly_run_has_the_tests_that_are_marked_for_it() -> None:
    text = (ROOT / ".github/workflows/nightly.yml").read_text("utf-8")
    steps = [step for step in text.split("\n      - ") if "CDCWIRE_HYPOTHESIS: full" in step]
    assert sorted(step.partition("\n")[0] for step in steps) == [
        "run: tox run -e spark",
        "run: tox run -e spark -- pytest -q -n 2 --dist loadfile tests/conformance/compare/feeds",
        "run: tox run -e suite",
    ]


def test_pythons_are_the_same_everywhere() -> None:
    package = (ROOT / "pyproject.toml").read_text("utf-8")
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', package)
    assert versions
    script = (ROOT / ".ci/run").read_text("utf-8")
    assert re.findall(r"^pythons=\((.*)\)$", script, re.MULTILINE) == [" ".join(versions)]
    (environments,) = re.findall(r"^env_list = (.*)$", (ROOT / "tox.ini").read_text("utf-8"), re.M)
    of_versions = [name for name in environments.split(", ") if re.fullmatch(r"py\d+", name)]
    assert of_versions == [f"py{each.replace('.', '')}" for each in versions]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    (installed,) = re.findall(r"python-version: \|\n((?: +3\.\d+\n)+)", workflow)
    assert sorted(installed.split()) == versions


def test_ci_runs_the_commands_of_the_readme_as_a_new_user_does() -> None:
    """Other Pythons, and the request for all of them, follow both commands."""
    script = (ROOT / ".ci/run").read_text("utf-8")
    before, found, after = script.partition("\nadd_pythons\n")
    assert found
    assert all(
        f'part "{name}: $(readme_command' in before for name in ("the tests", "the main job")
    )
    assert "readme_command" not in after
    (body,) = re.findall(r"^add_pythons\(\) \{\n(.*?)^\}$", before, re.MULTILINE | re.DOTALL)
    others = before.replace(body, "")
    assert "PATH=" in body
    assert "TOX_SKIP_MISSING_INTERPRETERS=false" in body
    assert "PATH=" not in others
    assert "TOX_SKIP_MISSING_INTERPRETERS=" not in others
