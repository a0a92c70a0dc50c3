"""Batches that are read again: the same from memory and from a file, in any mixture."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow as pa

from cdcwire_conformance.__main__ import main
from cdcwire_conformance.compare.embedded import kept_rows
from cdcwire_conformance.compare.embedded.kept_rows import KeptBatches, Room

BATCHES = [
    pa.record_batch({"n": pa.array([number] * 8, pa.int64()), "s": ["x", None] * 4})
    for number in range(5)
]
SIZE = BATCHES[0].nbytes


@pytest.mark.parametrize("in_memory", range(6))
def test_batches_come_again_in_their_order(
    in_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Room(in_memory * SIZE) as room:
        kept = KeptBatches(room, BATCHES)
        assert len(room.files) == (in_memory < len(BATCHES))
        for _ in range(3):
            assert list(kept) == BATCHES
        assert kept.schema == BATCHES[0].schema
        assert list(tmp_path.iterdir()) == []
    assert all(file.closed for file in room.files)


def test_memory_is_shared_by_all_tables() -> None:
    with Room(3 * SIZE) as room:
        first, second = KeptBatches(room, BATCHES[:2]), KeptBatches(room, BATCHES[2:])
        assert room.left == 0
        assert [*first, *second] == BATCHES


def test_without_batches_there_is_no_schema() -> None:
    kept = KeptBatches(Room())
    assert kept.schema is None
    assert list(kept) == []


def test_verdict_does_not_depend_on_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, format_name in ((1, "craft"), (1, "canal-json"), (2, "canal-json")):
        target = tmp_path / f"{format_name}-{seed}"
        words = ["generate", format_name, "--rows", "300", "--seed", str(seed), "--to", str(target)]
        assert main(words) == 0
    capsys.readouterr()
    left = f"craft:file:{tmp_path / 'craft-1'}"
    for seed, code in ((1, 0), (2, 1)):
        right = f"canal-json:file:{tmp_path / f'canal-json-{seed}'}"
        found = []
        for most in (1 << 30, 0):
            monkeypatch.setattr(kept_rows, "MAX_BYTES", most)
            found.append((main(["compare", left, right]), capsys.readouterr().out))
        assert found[0] == found[1]
        assert found[0][0] == code
