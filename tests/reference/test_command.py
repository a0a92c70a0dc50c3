"""``python -m cdcwire`` is the command ``cdcwire``, with the verbs of the installed packages."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import cdcwire
from cdcwire import __main__ as entrance

ROW = '{"database":"d","table":"t","type":"insert","ts":1,"xid":1,"commit":true,"data":{"id":1}}'


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--version"], 0, f"cdcwire {cdcwire.__version__}\n"),
        (["decode", "maxwell-json", "no-such-file"], 2, ""),
    ],
)
def test_module_runs_the_command(words: list[str], code: int, said: str) -> None:
    command = [sys.executable, "-m", "cdcwire", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (code, said)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the verbs and functions that other installed packages add."""
    monkeypatch.setattr(entrance, "entry_points", lambda **_: ())


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["decode", "maxwell-json"], '"op":"insert"'),
        (["explain", "maxwell-json"], "maxwell-json: json text"),
        (["identify"], "maxwell-json"),
    ],
)
def test_package_alone_has_the_verbs_of_messages(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "message.json").write_text(ROW, encoding="utf-8")
    assert entrance.main([*words, str(tmp_path / "message.json")]) == 0
    assert said in capsys.readouterr().out.replace('": "', '":"')


@pytest.mark.parametrize(
    "words",
    [
        ["decode", "maxwell-json", "order.jsonl"],
        ["explain", "maxwell-json", "order.jsonl"],
        ["identify", "order.jsonl"],
        ["decode", "maxwell-json", "orders.jsonl", "--tables", "order.jsonl"],
    ],
    ids=" ".join,
)
def test_missing_file_names_the_one_that_is_like_it(
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "orders.jsonl").write_text(f"{ROW}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert entrance.main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("No such file or directory; did you mean 'orders.jsonl'?")


@pytest.mark.usefixtures("alone")
def test_package_alone_lists_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert entrance.main(["formats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(cdcwire.FORMAT_NAMES)


@pytest.mark.usefixtures("alone")
def test_help_of_the_package_alone_names_the_package_with_other_verbs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert entrance.main(["verify"]) == 2
    assert "invalid choice: 'verify'" in capsys.readouterr().err
    assert entrance.main(["--help"]) == 0
    assert "cdcwire-conformance adds verbs" in capsys.readouterr().out


def test_package_alone_names_the_package_that_reads_topics(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    monkeypatch.setattr(entrance, "entry_points", lambda **_: ())
    assert entrance.main(["identify", "kafka://user:secret@broker:9092/orders"]) == 2
    assert capsys.readouterr().err == (
        "cdcwire identify: identify on kafka: needs the package cdcwire-conformance: "
        "pip install cdcwire-conformance\n"
    )
