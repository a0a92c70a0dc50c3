"""The labels of Debezium's Enum and EnumSet, which escape a comma of a label."""

from __future__ import annotations

import pytest

from cdcwire.connect import types
from cdcwire.connect.labels import write_labels
from cdcwire.connect.logical import image_of, kind_of
from cdcwire.connect.schema import Field, Schema
from cdcwire.model.kinds import EnumType, SetType


@pytest.mark.parametrize(
    ("allowed", "labels"),
    [
        ("a,b", ("a", "b")),
        (r"a\,b,c'd,,ü", ("a,b", "c'd", "", "ü")),
        (r"a\\,b", ("a\\", "b")),
        (r"e\f,g\,", ("e\\f", "g,")),
        ("x,y,", ("x", "y", "")),
    ],
)
def test_comma_of_a_label_does_not_end_it(allowed: str, labels: tuple[str, ...]) -> None:
    parameters = (("allowed", allowed),)
    for name, kind in ((types.ENUM, EnumType), (types.ENUM_SET, SetType)):
        schema = Schema("string", name=name, version=1, parameters=parameters)
        assert kind_of(schema) == kind(labels, "label")
    assert write_labels(labels) == allowed


def test_backslash_of_a_label_may_be_escaped() -> None:
    """MariaDB's connector escapes it, PostgreSQL's does not."""
    for allowed in (r"e\\f", r"e\f"):
        schema = Schema("string", name=types.ENUM, version=1, parameters=(("allowed", allowed),))
        assert kind_of(schema) == EnumType(("e\\f",), "label")


@pytest.mark.parametrize("value", [r"a\,b", "a,b"])  # of the log, and of a snapshot
def test_label_with_a_comma_is_the_same_from_log_and_snapshot(value: str) -> None:
    enum = Schema("string", name=types.ENUM, version=1, parameters=(("allowed", r"a\,b,c"),))
    image = image_of(Schema("struct", fields=(Field("v", enum),)), (value,), "")
    assert image["v"] == "a,b"


def test_backslash_of_a_label_of_a_set_is_the_same_from_log_and_snapshot() -> None:
    allowed = (("allowed", "a\\\\b,c"),)
    schema = Schema("string", name=types.ENUM_SET, version=1, parameters=allowed)
    for sent in ("a\\\\b,c", "a\\b,c"):
        image = image_of(Schema("struct", fields=(Field("v", schema),)), (sent,), "")
        assert image["v"] == "a\\b,c"
