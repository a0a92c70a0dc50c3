"""Cases that their author has not finished: nothing else waits for them, and all of it is said."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.case import UnfinishedError
from cdcwire_conformance.corpus.rebuild import rebuild
from cdcwire_conformance.corpus.store import load_case, load_cases, unfinished_cases
from cdcwire_conformance.corpus.unfinished import missing_of, missing_text

RESOLVED = bytes.fromhex("010103010101020a09010005")
EVENT = {"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}
ROW: dict[str, Any] = {
    "kind": "row",
    "op": "insert",
    "table": "t",
    "position": {"commit_ts": {}},
    "before": None,
    "after": {"a": {"type": "int32"}, "b": {}, "c": None, "d": {"type": "int32", "value": "1"}},
}


def write_case(golden: Path, **members: Any) -> None:
    folder = golden / "craft" / "events"
    (folder / "by-hand.bin").write_bytes(RESOLVED)
    (folder / "by-hand.json").write_text(json.dumps(members))


def test_rebuild_derives_all_that_follows_from_the_place(golden: Path) -> None:
    write_case(golden, clause=["craft: resolved events"], origin="derived: by hand", events=[EVENT])
    result = rebuild(golden)
    assert result.written == (
        "craft/events/by-hand.json",
        "craft/events/by-hand.hex",
        "index.json",
    )
    assert not result.unfinished
    case = load_case("craft/events/by-hand", golden)
    assert (case.title, case.level, case.expect) == ("by hand", "should", "accept")
    assert (case.since, case.messages[0].value) == ("0.1.0", RESOLVED)


def test_rebuild_derives_the_messages_of_several_files(golden: Path) -> None:
    write_case(golden, clause=["craft: version"], origin="derived: by hand", error={})
    folder = golden / "craft" / "events"
    (folder / "by-hand.bin").unlink()
    for name in ("by-hand.1.value.bin", "by-hand.0.key.bin", "by-hand.0.value.bin"):
        (folder / name).write_bytes(name.encode())
    rebuild(golden)
    case = load_case("craft/events/by-hand", golden)
    assert [(item.key, item.value) for item in case.files] == [
        ("by-hand.0.key.bin", "by-hand.0.value.bin"),
        (None, "by-hand.1.value.bin"),
    ]
    assert (case.expect, case.error) == ("reject", {"clause": "craft: version"})


def test_everything_that_is_missing_is_said_at_once(golden: Path) -> None:
    write_case(golden)
    (golden / "craft" / "events" / "by-hand.bin").unlink()
    [unfinished] = rebuild(golden).unfinished
    assert unfinished.where == "craft/events/by-hand.json"
    assert (
        unfinished.problem == "the case is not finished; missing: clause, origin, messages, events"
    )


def test_blank_values_are_counted_by_object() -> None:
    document = {"expect": "accept", "events": [ROW]}
    paths = [path for path in missing_of(document) if len(path) > 1]
    assert paths == [
        ("events", 0, "position", "commit_ts"),
        ("events", 0, "after", "a"),
        ("events", 0, "after", "b"),
    ]
    assert missing_text(paths) == (
        "1 blank value in events[0].position, 2 blank values in events[0].after"
    )


def test_other_cases_are_rebuilt_and_an_unfinished_one_stays_as_it_is(golden: Path) -> None:
    write_case(golden, events=[ROW])
    (golden / "craft" / "events" / "resolved.hex").write_text("stale")
    assert rebuild(golden).written == ("craft/events/resolved.hex",)
    assert json.loads((golden / "craft/events/by-hand.json").read_text()) == {"events": [ROW]}
    assert "by-hand" not in (golden / "index.json").read_text()


def test_unfinished_case_is_left_out_and_named(golden: Path) -> None:
    write_case(golden, events=[ROW])
    assert [case.name for case in load_cases(root=golden)] == ["resolved", "version-2"]
    [left_out] = unfinished_cases(["craft"], root=golden)
    assert ("origin",) in left_out.missing
    assert not unfinished_cases(pattern="craft/values", root=golden)
    with pytest.raises(UnfinishedError):
        load_case("craft/events/by-hand", golden)
    assert pickle.loads(pickle.dumps(left_out)).missing == left_out.missing


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["corpus", "list"], 0),
        (["corpus", "rebuild"], 1),
        (["verify", "craft", "--no-derived", "--jobs", "1"], 0),
    ],
    ids=["list", "rebuild", "verify"],
)
def test_verbs_go_on_and_name_the_unfinished_case(
    words: list[str], code: int, golden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_case(golden, origin="derived: by hand")
    assert main([*words, "--root", str(golden)]) == code
    assert "craft/events/by-hand.json: the case is not finished" in capsys.readouterr().err


def test_copy_leaves_out_the_files_of_an_unfinished_case(golden: Path, tmp_path: Path) -> None:
    write_case(golden, origin="derived: by hand")
    target = tmp_path / "copy"
    assert main(["corpus", "copy", str(target), "--root", str(golden)]) == 0
    assert not list(target.rglob("by-hand*"))
    assert (target / "craft/events/resolved.bin").exists()


def test_check_reports_one_problem_per_unfinished_case(
    golden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_case(golden, origin="derived: by hand")
    assert main(["corpus", "check", "--root", str(golden)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "by-hand" in line] == [
        "craft/events/by-hand.json: the case is not finished; missing: id, title, level, expect, "
        "clause, since, messages, events"
    ]
