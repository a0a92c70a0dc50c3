"""The made files: sums, hexdumps, index."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.explanation import Explanation
from cdcwire.core.message import StoredFile
from cdcwire_conformance.corpus import rebuild as rebuild_module
from cdcwire_conformance.corpus.case import CorpusError
from cdcwire_conformance.corpus.rebuild import case_hexdump, rebuild
from cdcwire_conformance.corpus.store import load_case

RESOLVED = bytes.fromhex("010103010101020a09010005")


def test_rebuild_again_changes_nothing(golden: Path) -> None:
    result = rebuild(golden)
    assert not result.written
    assert not result.removed


def test_rebuild_writes_sums_hexdump_and_index(golden: Path) -> None:
    file = golden / "craft" / "events" / "resolved.json"
    document = json.loads(file.read_text())
    assert document["sha256"] == {"resolved.bin": hashlib.sha256(RESOLVED).hexdigest()}
    assert (file.with_suffix(".hex")).read_text().startswith("offset  bytes")
    index = json.loads((golden / "index.json").read_text())
    assert index["corpus"] == "0.1.0"
    assert index["cases"][0]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_rebuild_marks_the_error_of_a_reject_case(golden: Path) -> None:
    lines = (golden / "craft" / "events" / "version-2.hex").read_text().splitlines()
    assert lines[1].startswith("0000 >  02")
    assert "craft: version" in lines[2]


def test_rebuild_puts_members_in_order(golden: Path, edit: Any) -> None:
    edit(note="why")
    assert rebuild(golden).written == ("craft/events/resolved.json", "index.json")
    names = list(json.loads((golden / "craft" / "events" / "resolved.json").read_text()))
    assert names.index("note") < names.index("messages") < names.index("events")


def test_changed_bytes_are_refused_and_nothing_is_written(golden: Path, edit: Any) -> None:
    (golden / "craft" / "events" / "version-2.bin").write_bytes(b"\x03" + RESOLVED[1:])
    edit(note="why")
    before = (golden / "craft" / "events" / "resolved.json").read_bytes()
    with pytest.raises(CorpusError, match=r"version-2\.bin differs from its sum"):
        rebuild(golden)
    assert (golden / "craft" / "events" / "resolved.json").read_bytes() == before


def test_changed_bytes_are_accepted_on_request(golden: Path) -> None:
    (golden / "craft" / "events" / "version-2.bin").write_bytes(b"\x03" + RESOLVED[1:])
    assert set(rebuild(golden, accept_new=True).written) == {
        "craft/events/version-2.json",
        "craft/events/version-2.hex",
        "index.json",
    }


def test_hexdump_of_no_case_is_removed(golden: Path) -> None:
    (golden / "craft" / "events" / "old.hex").write_text("")
    assert rebuild(golden).removed == ("craft/events/old.hex",)


def test_messages_have_a_heading_each(golden: Path, edit: Any) -> None:
    message = {"key": None, "value": "resolved.bin"}
    edit(messages=[message, message])
    rebuild(golden)
    text = (golden / "craft" / "events" / "resolved.hex").read_text()
    assert text.startswith("message 0\n")
    assert "\n\nmessage 1\n" in text


def test_unknown_format_is_an_error(golden: Path) -> None:
    (golden / "craft").rename(golden / "kraft")
    for file in (golden / "kraft" / "events").glob("*.json"):
        file.write_text(file.read_text().replace("craft/events", "kraft/events"))
    with pytest.raises(CorpusError, match="'kraft' is not known"):
        rebuild(golden)


def test_hexdump_names_the_path_of_a_stored_file(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuild_module, "explain_message", lambda case, message: Explanation(()))
    files = tuple(StoredFile(f"a/{number}.bin", b"\x01") for number in range(2))
    case = replace(load_case("craft/events/resolved", golden), messages=files)
    lines = case_hexdump(case).splitlines()
    assert [line for line in lines if "path" in line] == [
        "message 0, path 'a/0.bin'",
        "message 1, path 'a/1.bin'",
    ]
    alone = case_hexdump(replace(case, messages=files[:1]))
    assert alone.startswith("path 'a/0.bin'\noffset")
