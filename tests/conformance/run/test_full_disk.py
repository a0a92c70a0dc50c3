"""Full disks: one line, exit code 2, and no file that is half there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cdcwire.files.local_files import whole_file, write_whole
from cdcwire.files.stores import LocalStore, StoreError
from cdcwire_conformance.cli import VERBS, main

resource = pytest.importorskip("resource", reason="limits of file sizes are of POSIX")
FULL = Path("/dev/full")
REPORTS = ("json", "junit", "markdown", "badge", "write-expected-failures")
SMALL = 4096
CLI = "import sys; from cdcwire_conformance.cli import main; sys.exit(main(sys.argv[1:]))"
full_device = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


@contextmanager
def small_files() -> Iterator[None]:
    """Let no file grow beyond 4 KB.

    Python would keep the first 4 KB of a module's bytecode, and no later process could import it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # of the processes that start meanwhile
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("feed")
    assert main(["generate", "maxwell-json", "--rows", "20", "--to", str(folder)]) == 0
    return folder


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["generate", "craft", "--rows", "500", "--to", "out"],
        ["generate", "datahub-blob", "--rows", "500", "--shards", "2", "--to", "out"],
        ["generate", "csv", "--rows", "500", "--to", "out"],
        ["corpus", "export", "out.zip", "cdl-json"],
        ["corpus", "export", "out", "cdl-json"],
        ["corpus", "export", "--package", "npm", "out", "cdl-json"],
        ["corpus", "copy", "out", "debezium-json"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_full_disk_is_one_line_and_leaves_nothing(
    words: list[str], in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_files():
        code = main(words)
    shown = capsys.readouterr()
    assert code == 2
    (line,) = shown.err.splitlines()
    assert line.startswith(f"cdcwire {words[0]}: out")
    assert line.endswith("File too large")
    assert list(in_folder.iterdir()) == []


def test_full_disk_loses_neither_the_text_nor_small_reports(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each report that is too long is named; an older one stays as it was."""
    words = ["verify", "craft", "--case", "craft/values", "--jobs", "1", "--start-timeout", "300"]
    for name in REPORTS:
        words += [f"--{name}", f"report.{name}"]
    Path("report.json").write_bytes(b"old")
    with small_files():
        code = main(words)
    shown = capsys.readouterr()
    assert code == 2
    assert "PASSED: " in shown.out
    lines = [
        f"cdcwire verify: report.{name} cannot be written: File too large"
        for name in ("json", "junit")
    ]
    assert shown.err.splitlines() == lines
    whole = ("markdown", "badge", "write-expected-failures")
    assert {file.name for file in in_folder.iterdir()} == {
        "report.json",
        *(f"report.{name}" for name in whole),
    }
    assert Path("report.json").read_bytes() == b"old"


@full_device
def test_report_on_a_full_device_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "craft", "--case", "craft/tables/table-cut", "--jobs", "1"]
    assert main([*words, *(f"--{name}={FULL}" for name in REPORTS)]) == 2
    shown = capsys.readouterr()
    assert "PASSED: " in shown.out
    problem = f"{FULL} cannot be written: No space left on device"
    assert shown.err == f"cdcwire verify: {problem}\n" * len(REPORTS)
    assert FULL.is_char_device()


def with_ddl(feed: Path) -> Path:
    file = feed.parent / "tables.sql"
    file.write_text("CREATE TABLE t (id int);")
    return file


WRITERS: dict[str, Callable[[Path], list[str]]] = {
    "verify": lambda feed: ["verify", "cdl-json", "--case", "cdl-json/document", "--jobs", "1"],
    "decode": lambda feed: ["decode", "maxwell-json", str(feed)],
    "encode": lambda feed: ["encode", "maxwell-json", str(feed.parent / "events.jsonl")],
    "explain": lambda feed: ["explain", "maxwell-json", str(feed / "messages.jsonl")],
    "identify": lambda feed: ["identify", str(feed)],
    "options": lambda feed: ["options", "csv"],
    "size": lambda feed: ["size", "--workload", "tiny", "--rows", "2", "--jobs", "1"],
    "tables": lambda feed: ["tables", str(with_ddl(feed))],
    "storage": lambda feed: ["storage", "check", "csv", str(feed.parent / "prefix")],
    "corpus": lambda feed: ["corpus", "list", "cdl-json"],
    "new": lambda feed: ["new", "--help"],
    "witness": lambda feed: ["witness", "cdl-json"],
    "completion": lambda feed: ["completion", "bash"],
    "avro": lambda feed: ["avro", "topics", "{schema}_{table}", "--table", "a.b"],
    "formats": lambda feed: ["formats"],
    "--version": lambda feed: ["--version"],
    "--help": lambda feed: ["--help"],
}
# They print nothing, need Spark, run a program of a checkout, or wait for input.
OTHERS = {"generate", "compare", "report", "testee"}


def test_every_verb_is_tried_with_a_full_output() -> None:
    assert set(VERBS) <= set(WRITERS) | OTHERS


@full_device
@pytest.mark.parametrize("verb", WRITERS)
def test_full_standard_output_is_one_line(
    verb: str,
    feed: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = WRITERS[verb](feed)
    if verb == "encode":
        main(["decode", "maxwell-json", str(feed)])
        Path(words[-1]).write_text(capsys.readouterr().out, "utf-8")
    if verb == "storage":
        main(["generate", "csv", "--rows", "5", "--to", words[-1]])
    if verb == "size":
        pytest.importorskip("cramjam", reason="needs the extra size")
    capsys.readouterr()
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code = main(words)
        monkeypatch.undo()
    shown = capsys.readouterr()
    assert code == 2, shown.err
    name = "cdcwire" if verb.startswith("-") else f"cdcwire {verb}"
    assert shown.err == f"{name}: standard output: No space left on device\n"


@full_device
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["options", "--help"], ["options", "craft"]])
def test_full_standard_output_is_not_reported_again_at_the_end(
    words: list[str], unbuffered: str
) -> None:
    """The interpreter tries to write what is left when it ends."""
    python_path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": python_path, "PYTHONUNBUFFERED": unbuffered}
    with FULL.open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-c", CLI, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr == b"cdcwire options: standard output: No space left on device\n"


@full_device
def test_full_standard_error_does_not_change_the_exit_code() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with FULL.open("wb") as full:
        command = [sys.executable, "-c", CLI, "options", "unknown-format"]
        assert subprocess.run(command, stderr=full, env=environment, check=False).returncode == 2


def test_store_keeps_the_file_that_it_cannot_replace(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("a/metadata", b"old")
    with small_files(), pytest.raises(StoreError, match="metadata: can't be written: File too"):
        store.put("a/metadata", b"x" * 2 * SMALL)
    assert store.read("a/metadata") == b"old"
    assert [each.path for each in store.list()] == ["a/metadata"]


def test_whole_file_keeps_links_and_permissions(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 2


def test_whole_file_writes_into_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "pipe", b"text")
        assert os.read(reader, 9) == b"text"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_whole_file_names_the_file_in_its_errors(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "report"
    with pytest.raises(FileNotFoundError) as caught, whole_file(file):
        raise AssertionError
    assert caught.value.filename == str(file)


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the output")
@pytest.mark.parametrize("verb", VERBS)
def test_closed_output_is_one_line(verb: str, in_folder: Path) -> None:
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", CLI, verb, "craft", "x"]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    problem = "standard output is closed; to discard it, redirect it to /dev/null"
    assert (ended.returncode, ended.stderr) == (2, f"cdcwire {verb}: {problem}\n")
    assert list(in_folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the output")
@pytest.mark.parametrize(
    ("words", "code"), [(["options", "csv"], 0), (["decode", "craft", "x"], 2)]
)
def test_closed_standard_error_changes_nothing_else(
    words: list[str], code: int, in_folder: Path
) -> None:
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", CLI, *words]
    ended = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=False)
    assert ended.returncode == code
    assert (b"options of csv" in ended.stdout) == (code == 0)
