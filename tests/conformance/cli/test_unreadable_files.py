"""A file or folder that the user may not read is one line and exit code 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

if not hasattr(os, "seteuid"):
    pytest.skip("this system has no rights to give up", allow_module_level=True)

CANNOT = 77
NOBODY = 65534
# The interpreter of the tests may be out of reach of a user without rights.
TESTEE = """\
read request
echo '{"protocol":1,"name":"n","version":"1","language":"sh","formats":{"cdl-json":{}}}'
read request
"""
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


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory that every user may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def check_one_line(
    readable: Path, unreadable: Path, *command: str, problem: str = "Permission denied"
) -> None:
    arguments = [sys.executable, "-c", CHILD, str(readable), str(unreadable), *command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == CANNOT:
        pytest.skip("root can't give up its rights here")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert str(unreadable) in done.stderr
    assert problem in done.stderr


@pytest.mark.long
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


@pytest.mark.parametrize("verb", ["decode", "explain"])
def test_unreadable_folder_of_messages_is_one_line(verb: str, open_folder: Path) -> None:
    readable, unreadable = open_folder / "readable", open_folder / "unreadable"
    readable.mkdir()
    (readable / "messages.jsonl").touch()
    unreadable.mkdir(mode=0)
    problem = f"{unreadable}: can't be read: Permission denied\n"
    check_one_line(readable, unreadable, verb, "craft", "PATH", problem=problem)


def test_unreadable_folder_of_schemas_is_one_line(open_folder: Path) -> None:
    readable, unreadable, value = (open_folder / name for name in ("readable", "not", "value"))
    readable.mkdir()
    unreadable.mkdir(mode=0)
    value.write_bytes(b"\0")
    words = ["decode", "avro", "--schema", "PATH", str(value)]
    problem = f"{unreadable}: can't be read: Permission denied\n"
    check_one_line(readable, unreadable, *words, problem=problem)


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ["verify", "cdl-json", "--no-derived", "--jobs", "1"],
        ["verify", "cdl-json", "--case", "cdl-json/document", "--jobs", "1"],
        ["corpus", "list", "cdl-json"],
        ["corpus", "check"],
        ["corpus", "rebuild"],
        ["corpus", "export", "/dev/null/none"],
        ["witness", "cdl-json"],
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_corpus_that_can_be_read_in_part_is_one_line(command: list[str], open_folder: Path) -> None:
    """Before, the cases of the unreadable directory were left out in silence."""
    readable, unreadable = open_folder / "readable", open_folder / "unreadable"
    for root in (readable, unreadable):
        assert main(["corpus", "copy", str(root), "cdl-json"]) == 0
    group = next(each for each in (unreadable / "cdl-json").iterdir() if each.is_dir())
    group.chmod(0)
    problem = f"{group}: can't be read: Permission denied\n"
    words = [*command, "--root", "PATH"]
    if command[0] == "verify":
        words += ["--", "/bin/sh", "-c", TESTEE]
    check_one_line(readable, unreadable, *words, problem=problem)


def test_unreadable_description_of_a_feed_is_one_line(open_folder: Path) -> None:
    readable, unreadable = open_folder / "readable", open_folder / "unreadable"
    for folder in (readable, unreadable):
        assert main(["generate", "craft", "--rows", "1", "--to", str(folder)]) == 0
    (unreadable / "feed.json").chmod(0)
    words = ["compare", f"auto:file:{unreadable}", f"auto:file:{unreadable}"]
    problem = f"compare: {unreadable / 'feed.json'}: can't be read: Permission denied\n"
    check_one_line(readable, unreadable, *words, problem=problem)
