"""``compare`` as its users call it, as far as no Spark is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main


@pytest.fixture
def feed(tmp_path: Path) -> str:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "messages.jsonl").write_text("")
    return f"craft:file:{tmp_path / 'feed'}"


def test_without_pyspark_one_line_says_what_to_install(
    feed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(["compare", feed, feed, "--engine", "spark"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("cdcwire compare: ")
    assert "needs the package pyspark (extra spark): pip install '" in err
    assert "'; or compare in this process" in err
    assert err.endswith("--engine embedded\n")


def test_without_pyspark_the_other_engine_is_named_only_if_it_can_compare(
    feed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(["compare", feed, feed, "--temporal", "native"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "needs the package pyspark (extra spark): pip install '" in err


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        (
            "--engine=spark",
            "; or compare in this process, with all rows in memory: --engine embedded",
        ),
        ("--temporal=native", ""),
    ],
    ids=["possible", "impossible"],
)
def test_without_java_the_other_engine_is_named_only_if_it_can_compare(
    feed: str, tmp_path: Path, option: str, hint: str
) -> None:
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"},
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "JAVA_HOME": str(tmp_path / "nowhere"),
    }
    program = "import sys; from cdcwire_conformance.cli import main; sys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", program, "compare", feed, feed, option],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("cdcwire compare: Spark needs Java 17 or newer; ")
    assert ended.stderr.endswith(f"nowhere/bin/java'){hint}\n")


def test_without_pyarrow_one_line_names_the_smaller_extra(
    feed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["compare", feed, feed]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "pip install 'numpy<3,>=1.26' 'pyarrow>=18'" in err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["craft:kafka://broker1:9092/orders"],
            "only Spark reads craft:kafka://broker1:9092/orders",
        ),
        (["craft:s3a://bucket/feed"], "only Spark reads craft:s3a://bucket/feed"),
        (["delta:FEED"], "only Spark reads delta:FEED"),
        (["craft:file:FEED", "--master", "local[1]"], "--master needs Spark"),
        (["craft:file:FEED", "--conf", "a=b"], "--conf needs Spark"),
        (["craft:file:FEED", "--temporal", "native"], "--temporal native compares Spark's types"),
        (
            ["craft:file:FEED", "--differences", "s3a://bucket/d"],
            "only Spark writes to s3a://bucket/d",
        ),
    ],
)
def test_embedded_engine_refuses_what_only_spark_can_do(
    feed: str, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = feed.removeprefix("craft:file:")
    words = [word.replace("FEED", folder) for word in arguments]
    assert main(["compare", feed, *words, "--engine", "embedded"]) == 2
    reason = reason.replace("FEED", folder)
    said = f"cdcwire compare: --engine embedded: {reason}; use --engine spark\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["craft:file:FEED/nowhere", "craft:file:FEED"], "there is no such directory"),
        (["FEED", "craft:file:FEED"], "feed' has no format; write auto:file:"),
        (
            ["craft:file:FEED", "craft:file:FEED", "--option", "x=1"],
            "nor craft has an option 'x'",
        ),
        (["craft:file:FEED", "craft:file:FEED", "--right-option", "x=1"], "unknown option 'x'"),
        (["craft:file:FEED", "craft:file:FEED", "--conf", "x"], "is not KEY=VALUE"),
        (["craft:file:FEED", "craft:file:FEED", "--limit", "-1"], "is a number from 0"),
        (["craft:file:FEED", "craft:file:FEED", "--include", "orders"], "is not SCHEMA.TABLE"),
        (["craft:file:FEED", "craft:file:FEED", "--json", "FEED/no/x"], "cannot be written"),
        (["craft:file:FEED", "craft:file:FEED", "--junit", "FEED"], "cannot be written"),
    ],
)
def test_mistakes_are_reported_in_one_line_before_spark_starts(
    feed: str,
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    folder = feed.removeprefix("craft:file:")
    assert main(["compare", *(word.replace("FEED", folder) for word in arguments)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_help_has_examples_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Exit code 0: the feeds are equal. 1: they differ" in out
    assert "cdcwire compare auto:file:a auto:file:b\n" in out
    assert main(["--help"]) == 0
    assert "compare two feeds" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["messages.jsonl", "link.json", "feed.json"])
def test_report_replaces_no_file_of_a_feed(
    name: str, feed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "feed"
    (folder / "feed.json").write_text('{"feed": 1, "format": "craft", "options": {}}')
    (folder / "link.json").symlink_to("messages.jsonl")
    before = (folder / name).read_bytes()
    assert main(["compare", feed, feed, "--json", str(folder / name)]) == 2
    out, err = capsys.readouterr()
    problem = f"--json: {folder / name} is a file of {feed}; name another file"
    assert (out, err) == ("", f"cdcwire compare: {problem}\n")
    assert (folder / name).read_bytes() == before


def test_report_may_replace_an_older_one_in_the_directory_of_a_feed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="the extra embedded is not installed")
    feed = f"craft:file:{tmp_path}"
    assert main(["generate", "craft", "--rows", "3", "--to", str(tmp_path)]) == 0
    report = tmp_path / "found.json"
    for _ in range(2):
        assert main(["compare", feed, feed, "--engine", "embedded", "--json", str(report)]) == 0
    capsys.readouterr()
    assert report.read_bytes().startswith(b"{")


@pytest.mark.parametrize("second", ["report", "./report", "link", "file:report"])
def test_two_reports_need_two_files(
    second: str,
    feed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("report")
    words = ["--json", "report", "--junit", second]
    assert main(["compare", feed, feed, *words]) == 2
    shown = second.removeprefix("file:")
    problem = f"--junit: {shown} is the file of --json too; name another file"
    assert capsys.readouterr().err == f"cdcwire compare: {problem}\n"
    assert not (tmp_path / "report").exists()
