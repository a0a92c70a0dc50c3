"""``cdcwire corpus export``: lines, schemas, sums, and targets that can't be written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.export import ExportError, archive, case_line, export_corpus
from cdcwire_conformance.export.lines import exported_value
from cdcwire_conformance.judge import rules_of
from cdcwire_conformance.judge.values import ValueRules, compare_values
from cdcwire_conformance.run.selection import tasks_of


def _export(golden: Path, target: Path) -> Path:
    export_corpus(target, ["craft"], root=golden)
    return target


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("ascii").splitlines()]


def test_same_corpus_gives_same_archive(golden: Path, tmp_path: Path) -> None:
    first, second = (_export(golden, tmp_path / f"{name}.zip") for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_folder_has_the_files_of_the_archive(golden: Path, tmp_path: Path) -> None:
    folder = _export(golden, tmp_path / "folder")
    with ZipFile(_export(golden, tmp_path / "a.zip")) as archive_file:
        for name in archive_file.namelist():
            assert (folder / name).read_bytes() == archive_file.read(name)
        found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
        assert found <= {*archive_file.namelist()}


def test_sums_are_those_of_all_other_files(golden: Path, tmp_path: Path) -> None:
    folder = _export(golden, tmp_path / "folder")
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    sums = {name: found for found, _, name in (line.partition("  ") for line in lines)}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files - {"SHA256SUMS"} == set(sums)
    for name, found in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == found


def test_every_question_is_a_line(golden: Path, tmp_path: Path) -> None:
    folder = _export(golden, tmp_path / "folder")
    stored = _lines(folder / "cases" / "craft.jsonl")
    assert [line["id"] for line in stored] == [
        "craft/events/resolved",
        "craft/events/resolved@encode",
        "craft/events/version-2",
    ]
    assert stored[0]["request"] == {
        "cmd": "decode",
        "format": "craft",
        "messages": [{"key": None, "value": "AQEDAQEBAgoJAQAF"}],
    }
    assert stored[1]["messages"] == stored[0]["request"]["messages"]
    assert stored[1]["bytes_fixed"] is True
    assert stored[2]["error"] == {
        "message": 0, "offset": 0, "path": ["version"], "clause": "craft: version",
    }  # fmt: skip
    derived = {line["id"]: line for line in _lines(folder / "derived" / "craft.jsonl")}
    cut = derived["craft/events/resolved@cut:3"]
    assert (cut["expect"], cut["level"]) == ("reject", "must")
    assert cut["request"]["messages"] == [{"key": None, "value": "AQED"}]
    assert cut["error"]["offset"] == 3
    assert cut["error"]["clause"] == cut["clause"][0]


def test_lines_have_the_form_of_the_schemas(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    export_corpus(folder, ["cdl-json", "datahub-tuple"], derived=False)
    schemas = [json.loads(file.read_text()) for file in (folder / "schemas").iterdir()]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    by_id = {schema["$id"]: schema for schema in schemas}
    manifest = json.loads((folder / "manifest.json").read_text())
    Draft202012Validator(by_id["manifest.schema.json"]).validate(manifest)
    check = Draft202012Validator(by_id["case-line.schema.json"], registry=registry)
    for name, facts in manifest["formats"].items():
        lines = _lines(folder / "cases" / f"{name}.jsonl")
        assert len(lines) == facts["lines"]["stored"] > 0
        for line in lines:
            check.validate(line)


@pytest.mark.parametrize("spoilt", [{"level": "shall"}, {"events": None}, {"surplus": 1}])
def test_schema_refuses_other_lines(golden: Path, tmp_path: Path, spoilt: Any) -> None:
    folder = _export(golden, tmp_path / "folder")
    line = _lines(folder / "cases" / "craft.jsonl")[0]
    schemas = [json.loads(file.read_text()) for file in (folder / "schemas").iterdir()]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    check = Draft202012Validator(
        next(each for each in schemas if each["$id"] == "case-line.schema.json"), registry=registry
    )
    assert check.is_valid(line)
    assert not check.is_valid({**line, **spoilt})


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (
            {"type": "timestamp", "value": "2024-02-29 12:00:00.5", "zone": "+00:00"},
            [
                {"value": "2024-02-29T12:00:00.5Z", "zone": "+00:00"},
                {"value": "1709208000500", "unit": "ms"},
                {"value": "1709208000500000", "unit": "us"},
                {"value": "1709208000500000000", "unit": "ns"},
            ],
        ),
        ({"type": "date", "value": "0000-00-00"}, None),
        ({"type": "date", "value": "1970-01-03"}, {"value": "2", "unit": "d"}),
        ({"type": "time", "value": "-00:00:00.5"}, {"value": "-500", "unit": "ms"}),
        ({"type": "datetime", "value": "1", "unit": "ms"}, {"value": "1970-01-01 00:00:00.001"}),
        ({"type": "enum(a,b)", "index": "2"}, {"label": "b"}),
        ({"type": "set(a,b)", "label": "b,a"}, {"index": "3"}),
        ({"type": "int32", "value": "1"}, None),
    ],
)
def test_values_have_their_other_forms(value: Any, same: Any) -> None:
    found = exported_value(value, ValueRules()).get("same")
    if isinstance(same, Mapping):
        assert same in found
    else:
        assert found == same


def test_values_within_arrays_say_their_type() -> None:
    value = {"type": "array<date>", "items": ["1970-01-03", None]}
    first, second = exported_value(value, ValueRules())["items"]
    assert (first["type"], first["value"], second) == ("date", "1970-01-03", None)


def test_judge_accepts_every_other_form() -> None:
    for name in ("avro", "debezium-json"):
        rules = rules_of(get_format(name)).values
        for case in load_cases([name]):
            for value, exported in _values(case.events or []):
                for form in exported_value(exported, rules).get("same", ()):
                    assert not list(compare_values(value, form, (), rules)), (case.id, form)


def _values(events: list[Any]) -> list[tuple[Any, Any]]:
    rows = [event.get(side) for event in events for side in ("before", "after")]
    values = [value for row in rows if row for value in row.values()]
    return [(value, value) for value in values if isinstance(value, Mapping) and "type" in value]


def test_request_is_that_of_the_runner() -> None:
    for case in load_cases(["avro"], "avro/document/*"):
        for task in tasks_of(case):
            asked = task.request.document(1)
            del asked["seq"]
            assert case_line(task)["request"] == asked


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("golden", "already exists"),
        ("golden/VERSION", "already exists"),
        ("missing/corpus.zip", "No such file or directory"),
        ("missing/folder", "No such file or directory"),
        ("golden/VERSION/corpus.zip", "Not a directory"),
        ("corpus.tar.gz", "an archive is a .zip file"),
    ],
)
def test_bad_target_is_one_line(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, problem: str
) -> None:
    target = tmp_path / name
    assert main(["corpus", "export", str(target), "craft", "--root", str(golden)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert problem in error
    assert str(target.name) in error


def test_failed_export_leaves_nothing(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(line: Any) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "json_line", fail)
    before = sorted(tmp_path.iterdir())
    for name in ("corpus.zip", "folder"):
        with pytest.raises(ExportError, match="No space left"):
            _export(golden, tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before


def test_command_counts_lines(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["corpus", "export", str(tmp_path / "x.zip"), "--no-derived", "--root", str(golden)]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.out == f"3 stored and 0 derived lines in {tmp_path / 'x.zip'}\n"
    assert captured.err == ""


@pytest.mark.parametrize("name", ["e.zip", "e"])
def test_export_leaves_what_it_did_not_make(golden: Path, tmp_path: Path, name: str) -> None:
    keep = tmp_path / f"{name}.unfinished" / "x"
    keep.mkdir(parents=True)
    export_corpus(tmp_path / name, ["csv"], root=golden, derived=False)
    assert keep.is_dir()
    assert {each.name for each in tmp_path.iterdir()} >= {name, f"{name}.unfinished"}
