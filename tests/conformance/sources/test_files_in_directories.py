"""Files that a command finds in a directory: no link leads out of it, and no pipe is waited for.

A file that the user names may be a link or a pipe.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire.files.local_files import open_inside
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.files import FolderFiles

if not hasattr(os, "mkfifo"):
    pytest.skip("this system has no named pipes", allow_module_level=True)

CLI = "import sys; from cdcwire_conformance.cli import main; sys.exit(main(sys.argv[1:]))"
LONGEST = 120  # seconds; nothing waits for so long
NO_FILE = "it is not a file, but a pipe, a socket or a device"
OUTSIDE = "it leads out of its directory"


def ended(*words: str) -> tuple[int, str]:
    """Return exit code and errors of a command in its own process, which may wait for ever."""
    done = subprocess.run(
        [sys.executable, "-c", CLI, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=LONGEST,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def as_pipe(file: Path, outside: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def as_link(file: Path, outside: Path) -> None:
    file.rename(outside / file.name)
    file.symlink_to(outside / file.name)


CHANGES = pytest.mark.parametrize(
    ("change", "problem"), [(as_pipe, NO_FILE), (as_link, OUTSIDE)], ids=["pipe", "link"]
)
Change = Callable[[Path, Path], None]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "prefix"
    assert main(["generate", "csv", "--rows", "3", "--to", str(folder)]) == 0
    return folder


@CHANGES
@pytest.mark.parametrize("verb", ["decode", "explain"])
def test_messages_of_a_directory_are_files_in_it(
    verb: str, change: Change, problem: str, tmp_path: Path, outside: Path
) -> None:
    folder = tmp_path / "feed"
    assert main(["generate", "maxwell-json", "--rows", "3", "--to", str(folder)]) == 0
    file = folder / "messages.jsonl"
    change(file, outside)
    code, errors = ended(verb, "maxwell-json", str(folder))
    assert (code, errors) == (2, f"cdcwire {verb}: {file}: can't be read: {problem}\n")


@CHANGES
@pytest.mark.parametrize("words", [["decode", "csv"], ["storage", "check", "csv"]])
def test_checkpoint_of_a_prefix_is_a_file_in_it(
    words: list[str], change: Change, problem: str, prefix: Path, outside: Path
) -> None:
    change(prefix / "metadata", outside)
    code, errors = ended(*words, str(prefix))
    assert code == 2
    assert errors.startswith(f"cdcwire {words[0]}: ")
    assert errors.endswith(f"metadata: can't be read: {problem}\n")
    assert errors.count("\n") == 1


@CHANGES
def test_schema_files_of_explain_are_files_in_the_prefix(
    change: Change, problem: str, prefix: Path, outside: Path
) -> None:
    (data,) = prefix.rglob("CDC*.csv")
    (schema, *_) = [
        each for each in prefix.rglob("meta/*.json") if data.is_relative_to(each.parents[1])
    ]
    change(schema, outside)
    code, errors = ended("explain", "csv", str(data), "--prefix", str(prefix))
    assert code == 2
    assert errors.endswith(f"{schema.name}: can't be read: {problem}\n")
    assert errors.count("\n") == 1


@CHANGES
def test_schemas_of_a_directory_are_files_in_it(
    change: Change, problem: str, tmp_path: Path, outside: Path
) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "1.avsc").write_text('"int"')
    change(folder / "1.avsc", outside)
    value = tmp_path / "value"
    value.write_bytes(b"\0")
    code, errors = ended("decode", "avro", "--schema", str(folder), str(value))
    assert (code, errors) == (
        2,
        f"cdcwire decode: {folder / '1.avsc'}: can't be read: {problem}\n",
    )


def test_pipe_in_a_corpus_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index.json")
    with pytest.raises(OSError, match=NO_FILE):
        FolderFiles(tmp_path).read("index.json")


def test_device_is_not_a_file_of_a_directory() -> None:
    with pytest.raises(OSError, match=NO_FILE):
        open_inside(Path("/dev"), "null")


def test_links_inside_a_directory_are_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kubernetes puts files into a directory in this way."""
    folder = tmp_path / "feed"
    (folder / "..data").mkdir(parents=True)
    (folder / "..data" / "x.jsonl").write_bytes(b'{"value":"AAAA"}\n')
    (folder / "x.jsonl").symlink_to("..data/x.jsonl")
    assert main(["decode", "craft", str(folder)]) == 1
    assert "x.jsonl:1: byte 0: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["given", "given.jsonl"])
def test_named_file_may_be_a_link_or_a_pipe(
    name: str, tmp_path: Path, outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = b'{"value":"AAAA"}\n'
    (outside / "file").write_bytes(line)
    link, pipe = tmp_path / name, tmp_path / f"pipe-{name}"
    link.symlink_to(outside / "file")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[line])
    writer.start()
    for file in (pipe, link):
        assert main(["decode", "craft", str(file)]) == 1
        assert f"{file.name}:1: byte 0: " in capsys.readouterr().err
    writer.join()
