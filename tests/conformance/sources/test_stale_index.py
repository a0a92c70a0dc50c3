"""A stale index: it names the first of three files, and all rows are below the checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType, Role
from cdcwire.storage import PathLayout, schema_file_of, schema_put
from cdcwire_conformance.cli import main

T = 441349361156227074
ROLES: frozenset[Role] = frozenset({"primary", "handle"})
TABLE = Table("t", "shop", columns=(Column("id", IntType(32), "int(11)", False, roles=ROLES),))
OPTION = ["--option", "include-commit-ts=true"]


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "shop" / "t" / str(T) / "2026-05-09"
    (folder / "meta").mkdir(parents=True)
    for number in (1, 2, 3):
        row = f'"I","t","shop",{T + number},{number}\r\n'
        (folder / f"CDC{number:020d}.csv").write_bytes(row.encode())
    (folder / "meta" / "CDC.index").write_text(f"CDC{1:020d}.csv\n")
    (tmp_path / "metadata").write_text(f'{{"checkpoint-ts":{T + 100}}}')
    put = schema_put(schema_file_of(TABLE, None, T), PathLayout())
    (tmp_path / put.path).parent.mkdir(parents=True)
    (tmp_path / put.path).write_bytes(put.value)
    return tmp_path


def test_every_verb_reads_all_rows_below_the_checkpoint(
    prefix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    assert main(["decode", "csv", str(prefix), *OPTION]) == 0
    decoded = capsys.readouterr()
    events = [json.loads(line) for line in decoded.out.splitlines()]
    assert [each["after"]["id"]["value"] for each in events if each["kind"] == "row"] == [*"123"]
    problem = f"shop/t/{T}/2026-05-09/meta/CDC.index: the index names file 1, but 3 exists"
    assert f"{problem}; all files are read" in decoded.err

    assert main(["storage", "check", "csv", str(prefix), *OPTION]) == 0
    checked = capsys.readouterr().out
    assert "3 rows" in checked
    assert f"note: {problem}" in checked

    assert main(["compare", f"csv:file:{prefix}", f"csv:file:{prefix}", *OPTION]) == 0
    compared = capsys.readouterr().out
    assert "EQUAL: 3 changes" in compared
    assert f"note: left: {problem}; all files are read" in compared
