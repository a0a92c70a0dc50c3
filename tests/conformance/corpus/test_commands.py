"""``cdcwire corpus`` and ``cdcwire explain``, as they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire_conformance.cli import main

RESOLVED = bytes.fromhex("010103010101020a09010005")

Output = pytest.CaptureFixture[str]


def out(capsys: Output, *words: str, code: int = 0) -> str:
    assert main(words) == code
    return capsys.readouterr().out


def test_list_names_cases(golden: Path, capsys: Output) -> None:
    text = out(capsys, "corpus", "list", "--root", str(golden))
    assert text.splitlines() == [
        "craft/events/resolved   must    accept  a resolved event",
        "craft/events/version-2  must    reject  another version",
    ]


def test_list_takes_clause_level_and_format(golden: Path, capsys: Output) -> None:
    root = ("--root", str(golden))
    text = out(capsys, "corpus", "list", "craft", "--clause", "craft: version", "--json", *root)
    assert [json.loads(line)["id"] for line in text.splitlines()] == ["craft/events/version-2"]
    assert not out(capsys, "corpus", "list", "open-protocol", *root)
    assert not out(capsys, "corpus", "list", "--level", "may", *root)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--match", "nosuch"], "no case matches --match 'nosuch'"),
        (
            ["--match", "version-3"],
            "no case matches --match 'version-3'; did you mean 'version-2'?",
        ),
        (["open-protocol", "--match", "craft/*"], "no case matches --match 'craft/*'"),
        (["--clause", "nosuch"], "no such case has the clause 'nosuch'"),
    ],
    ids=["match", "misspelled", "match-of-another-format", "clause"],
)
def test_list_reports_a_filter_that_nothing_fits(
    words: list[str], problem: str, golden: Path, capsys: Output
) -> None:
    assert main(["corpus", "list", *words, "--root", str(golden)]) == 2
    assert capsys.readouterr() == ("", f"cdcwire corpus: {problem}\n")


@pytest.mark.parametrize(
    "words",
    [
        ["corpus", "list"],
        ["corpus", "check"],
        ["corpus", "rebuild"],
        ["corpus", "features", "craft"],
        ["witness"],
        ["verify", "craft"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("kind", ["missing", "file"])
def test_root_that_is_not_a_directory_is_one_line(
    words: list[str], kind: str, tmp_path: Path, capsys: Output
) -> None:
    root = tmp_path / "nope"
    if kind == "file":
        root.touch()
    assert main([*words, "--root", str(root)]) == 2
    problem = f"cdcwire {words[0]}: --root: {root} is not a directory\n"
    assert capsys.readouterr() == ("", problem)


def test_witness_of_an_unknown_format_is_an_error(capsys: Output) -> None:
    assert main(["witness", "nope"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "unknown format 'nope'; known: debezium-json" in shown.err


def test_show_prints_meaning_and_bytes(golden: Path, capsys: Output) -> None:
    text = out(capsys, "corpus", "show", "craft/events/resolved", "--root", str(golden))
    assert "  must: accept; since 0.1.0" in text
    assert '"commit_ts": "1"' in text
    assert "0011    05" in text


def test_show_takes_derived_ids(golden: Path, capsys: Output) -> None:
    text = out(capsys, "corpus", "show", "craft/events/resolved@cut:3", "--root", str(golden))
    assert "a resolved event; value ends after 3 bytes" in text
    assert ">" in text


def test_show_of_unknown_id_is_one_line(golden: Path, capsys: Output) -> None:
    assert main(["corpus", "show", "craft/a/b", "--root", str(golden)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "craft/a/b: there is no such case" in error


def test_show_of_misspelled_id_names_the_nearest(golden: Path, capsys: Output) -> None:
    assert main(["corpus", "show", "craft/events/resovled", "--root", str(golden)]) == 2
    assert "; did you mean 'craft/events/resolved'?\n" in capsys.readouterr().err


def test_copy_is_a_corpus_again(golden: Path, tmp_path: Path, capsys: Output) -> None:
    target = tmp_path / "copy"
    text = out(capsys, "corpus", "copy", str(target), "craft", "--root", str(golden))
    assert text == f"2 cases of craft in {target}\n"
    assert "rebuild" not in out(capsys, "corpus", "rebuild", "--root", str(target))
    assert (target / "index.json").read_bytes() == (golden / "index.json").read_bytes()
    assert (target / "craft/events/resolved.bin").read_bytes() == RESOLVED


def test_copy_over_a_copy_is_refused(golden: Path, tmp_path: Path, capsys: Output) -> None:
    words = ["corpus", "copy", str(tmp_path / "copy"), "--root", str(golden)]
    assert main(words) == 0
    assert main(words) == 2
    assert "copy is not empty; name a new directory" in capsys.readouterr().err


def test_check_and_rebuild_say_what_they_found(golden: Path, capsys: Output) -> None:
    root = ("--root", str(golden))
    (golden / "craft/events/resolved.hex").write_text("")
    text = out(capsys, "corpus", "check", *root, code=1)
    assert "craft/events/resolved.hex: is not up to date" in text
    assert out(capsys, "corpus", "rebuild", *root) == "1 file written, 0 removed\n"


def test_explain_prints_the_annotated_bytes(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "m.bin").write_bytes(RESOLVED)
    text = out(capsys, "explain", "craft", str(tmp_path / "m.bin"))
    assert text.splitlines()[1].startswith("0000    01")


def test_explain_marks_the_error_and_exits_1(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "m.txt").write_text("02 01 03")
    text = out(capsys, "explain", "craft", "--hex", str(tmp_path / "m.txt"), code=1)
    assert "0000 >" in text
    assert "craft: version" in text


def test_explain_of_lines_names_each_message(tmp_path: Path, capsys: Output) -> None:
    file = str(tmp_path / "feed.jsonl")
    write_messages(file, [KafkaMessage(None, RESOLVED), KafkaMessage(None, b"\x02")])
    text = out(capsys, "explain", "craft", file, code=1)
    assert f"message 1 ({file}:2)" in text
    assert "message" not in out(capsys, "explain", "craft", file, "--message", "0")


def test_explain_of_a_message_that_is_not_there_is_one_line(tmp_path: Path, capsys: Output) -> None:
    file = str(tmp_path / "feed.jsonl")
    write_messages(file, [KafkaMessage(None, RESOLVED)])
    assert main(["explain", "craft", file, "--message", "1"]) == 2
    assert "has 1, counted from 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["none.bin"], "none.bin: can't be read"),
        (["none.bin", "--option", "wings"], "is not NAME=VALUE"),
        (["none.bin", "--option", "wings=2"], "unknown option 'wings'"),
    ],
)
def test_explain_that_can_not_run_is_one_line(
    words: list[str], problem: str, capsys: Output
) -> None:
    assert main(["explain", "craft", *words]) == 2
    assert problem in capsys.readouterr().err
