"""``cdcwire.toml`` and ``[tool.cdcwire]``: the user's own options of each verb."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cdcwire.cli import parser_of
from cdcwire.cli.config_file import configured_words
from cdcwire_conformance.cli import compare as compare_verb
from cdcwire_conformance.cli import main

if sys.version_info < (3, 11):
    pytest.importorskip("tomli", reason="the extra toml is not installed")

VERBS = ("compare", "verify")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def words_of(text: str, file: str = "cdcwire.toml") -> list[str]:
    Path(file).write_text(text, encoding="utf-8")
    return configured_words("compare", VERBS, parser_of(compare_verb))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("[verify]\nlevel = ['must']", []),
        ("[compare]\nhtml = 'a b.html'", ["--html=a b.html"]),
        ("[compare]\nlimit = -5", ["--limit=-5"]),
        ("[compare]\nno-order = true\ncommon = false", ["--no-order"]),
        ("[compare]\nmask = true", ["--mask"]),
        ("[compare]\nmask = false", ["--no-mask"]),
        ("[compare]\nredact = ['a', 'b']", ["--redact=a", "--redact=b"]),
        (
            "[compare.left-option]\nmax-batch-size = 16\ninclude-commit-ts = true",
            ["--left-option=max-batch-size=16", "--left-option=include-commit-ts=true"],
        ),
    ],
)
def test_settings_are_words_of_the_command_line(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_project_file_has_them_in_its_tool_section() -> None:
    text = "[project]\nname = 'x'\n[tool.cdcwire.compare]\nlimit = 3\n"
    assert words_of(text, "pyproject.toml") == ["--limit=3"]


@pytest.mark.parametrize("text", ["[tool.other]\nx = 1", "no TOML at all"])
def test_project_file_without_the_section_is_not_read(text: str) -> None:
    assert words_of(text, "pyproject.toml") == []


def test_own_file_is_used_instead_of_that_of_the_project() -> None:
    Path("pyproject.toml").write_text("[tool.cdcwire.compare]\nlimit = 3\n")
    assert words_of("[compare]\nlimit = 4") == ["--limit=4"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[compare]\nlimt = 3", "compare.limt is not an option of cdcwire compare"),
        ("[compare]\nhelp = true", "compare.help is not an option of cdcwire compare"),
        ("[compar]\nlimit = 3", "'compar' is not a verb"),
        ("compare = 3", "compare is not a section"),
        ("[compare]\nno-order = 1", "compare.no-order is true or false"),
        ("[compare]\nredact = [['a']]", "compare.redact has a list or a section in a list"),
        ("[compare", "not TOML at "),
        ("a=" + "[" * 5000, "nested too deeply"),
    ],
)
def test_wrong_setting_is_two_lines(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cdcwire.toml").write_text(text)
    assert main(["compare", "craft:file:a", "craft:file:b"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("cdcwire compare: cdcwire.toml: ")
    assert said in first
    assert second.endswith("see `cdcwire compare --help-all`")


@pytest.mark.parametrize(
    ("text", "meant"), [("[compare]\nlimt = 3", "limit"), ("[compar]\nlimit = 3", "compare")]
)
def test_misspelled_setting_has_a_suggestion(
    text: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cdcwire.toml").write_text(text)
    assert main(["compare", "craft:file:a", "craft:file:b"]) == 2
    _, second = capsys.readouterr().err.splitlines()
    assert second == f"did you mean {meant!r}? see `cdcwire compare --help-all`"


def test_command_line_overrides_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cdcwire.toml").write_text("[generate]\nseed = 9\nto = 'feed'\n")
    assert main(["generate", "craft", "--rows", "1"]) == 0
    nine = Path("feed/messages.jsonl").read_bytes()
    assert main(["generate", "craft", "--rows", "1", "--seed", "8"]) == 0
    assert Path("feed/messages.jsonl").read_bytes() != nine
    assert main(["generate", "craft", "--rows", "1", "--seed", "9", "--to", "other"]) == 0
    assert Path("other/messages.jsonl").read_bytes() == nine
    wrote = "cdcwire generate: wrote 1 row change as craft to"
    assert capsys.readouterr().err == f"{wrote} feed\n{wrote} feed\n{wrote} other\n"
