"""A file or folder that the user may not read is one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if not hasattr(os, "seteuid"):
    pytest.skip("this system has no rights to give up", allow_module_level=True)

CANNOT = 77
NOBODY = 65534
# Root may read everything, so the child gives its rights up. It runs the command on something
# readable first: a user without rights may not read the modules that a command imports late.
CHILD = f"""
import io, os, sys
from contextlib import redirect_stderr, redirect_stdout
from cdcwire_conformance.cli import main

def run(path):
    try:
        return main([path if word == "PATH" else word for word in sys.argv[3:]])
    except SystemExit as end:
        return end.code

with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
    run(sys.argv[1])
if os.geteuid() == 0:
    try:
        os.setegid({NOBODY})
        os.seteuid({NOBODY})
    except OSError:
        sys.exit({CANNOT})
sys.exit(run(sys.argv[2]))
"""


def check_one_line(readable: Path, unreadable: Path, *command: str) -> None:
    arguments = [sys.executable, "-c", CHILD, str(readable), str(unreadable), *command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == CANNOT:
        pytest.skip("root can't give up its rights here")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert str(unreadable) in done.stderr
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["decode", "maxwell-json", "PATH"],
        ["explain", "maxwell-json", "PATH"],
        ["identify", "PATH"],
        ["encode", "maxwell-json", "PATH"],
        ["decode", "maxwell-json", "--tables", "PATH", "README"],
        ["verify", "maxwell-json", "--expected-failures", "PATH", "--", "true"],
    ],
    ids=lambda command: " ".join(command[:1] + [word for word in command if word[:2] == "--"]),
)
def test_unreadable_file_is_one_line(command: list[str], tmp_path: Path) -> None:
    readable, unreadable = tmp_path / "readable", tmp_path / "unreadable"
    for file in (readable, unreadable):
        file.write_bytes(b"[]")
    unreadable.chmod(0)
    check_one_line(readable, unreadable, *command)


def test_unreadable_folder_is_one_line(tmp_path: Path) -> None:
    readable, unreadable = tmp_path / "readable", tmp_path / "unreadable"
    readable.mkdir()
    unreadable.mkdir(mode=0)
    check_one_line(readable, unreadable, "storage", "check", "csv", "PATH")
