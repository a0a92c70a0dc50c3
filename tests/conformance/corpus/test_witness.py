"""The recorded confirmations of golden cases."""

from __future__ import annotations

from cdcwire_conformance.corpus.witness import Witness


def test_run_of_one_format_keeps_the_witness_of_the_others() -> None:
    earlier = Witness("w", "1", "js", {"csv/a": "1", "craft/a": "2"}, {"csv/b": "3"})
    now = Witness("w", "2", "js", {"csv/c": "4"}, {})
    assert now.with_other_formats(earlier, ["csv"]) == Witness(
        "w", "2", "js", {"craft/a": "2", "csv/c": "4"}, {}
    )
