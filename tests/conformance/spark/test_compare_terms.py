"""What two formats and their options leave to be compared."""

from __future__ import annotations

import pytest

from cdcwire.core.options import OptionValue
from cdcwire.registry import get_format

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire_conformance.compare.rules import ComparisonRules, Side, Terms, terms_of


def terms(left: str, right: str, **right_options: OptionValue) -> Terms:
    options = {name.replace("_", "-"): value for name, value in right_options.items()}
    return terms_of(Side(get_format(left), {}), Side(get_format(right), options))


@pytest.mark.parametrize("right", ["craft", "craft-proposal", "open-protocol"])
def test_formats_of_ticdc_share_everything(right: str) -> None:
    found = terms("craft", right)
    assert (found.rules, found.left_out) == (ComparisonRules(fields=("partition",)), ())


def test_updates_without_old_values_look_like_inserts() -> None:
    found = terms("craft", "open-protocol", output_old_value=False)
    assert found.rules.folds_ops
    assert not found.rules.has_old_values
    assert [name for name, _ in found.left_out] == [
        "before images of updates",
        "insert against update",
    ]


def test_deletes_of_key_columns_are_compared_by_these() -> None:
    found = terms("craft", "craft-proposal", delete_only_output_handle_key_columns=True)
    assert found.rules.deleted_columns == "key"
    assert [name for name, _ in found.left_out] == ["columns of deletes beyond the key"]


def test_changed_columns_only_are_filled_in() -> None:
    found = terms("craft", "open-protocol", only_output_updated_columns=True)
    assert found.rules.fills_unchanged
    assert [name for name, _ in found.left_out] == ["updates that change nothing against inserts"]


def test_updates_that_change_nothing_are_not_found_without_old_values() -> None:
    # Open Protocol writes them like inserts, and Avro does not tell that they change nothing.
    changed = {"only-output-updated-columns": True}
    avro = Side(get_format("avro"), {"enable-tidb-extension": True})
    found = terms_of(avro, Side(get_format("open-protocol"), changed))
    assert found.rules.folds_ops
    names = [name for name, _ in found.left_out]
    assert "insert against update" in names
    assert "updates that change nothing against inserts" not in names
    # Canal-JSON tells the op.
    found = terms_of(avro, Side(get_format("canal-json"), {**changed, **avro.options}))
    assert not found.rules.folds_ops
    assert "updates that change nothing against inserts" not in [name for name, _ in found.left_out]


def test_topics_of_datahub_share_everything_and_compare_halves() -> None:
    found = terms("datahub-tuple", "datahub-blob")
    assert found.rules == ComparisonRules("sequence_id", fields=("commit_ms",), in_halves=True)
    assert found.left_out == ()


def test_connect_formats_share_the_log_position() -> None:
    found = terms("cdl-json", "debezium-json")
    # Each table's rows show which columns its deletes have.
    assert found.rules == ComparisonRules("lsn", fields=("tx_id", "commit_ms"))
    assert found.left_out == ()
    assert terms("cdl-json", "debezium-json", replica_identity="full").rules == found.rules


def test_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown option 'nonsense'"):
        terms("craft", "craft", delete_only_output_handle_key_columns=False, nonsense=1)
