"""``python -m cdcwire`` is the command ``cdcwire``."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cdcwire
from cdcwire import __main__ as entrance


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


def test_missing_command_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrance, "entry_points", lambda **_: ())
    with pytest.raises(SystemExit, match="the command is not installed"):
        entrance.main()
