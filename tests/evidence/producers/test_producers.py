"""Parts of the scenario with Debezium and Maxwell on MariaDB that need none of these."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cdcwire_evidence.debezium.engine import sent_message
from cdcwire_evidence.producers.captures import DEFAULTS, ENGINES
from cdcwire_evidence.producers.expected import expected_value, same_value
from cdcwire_evidence.producers.feeds import reading_options
from cdcwire_evidence.producers.losses import Difference, Loss

PRECISE = {"bigint.unsigned.handling.mode": "precise"}
ISO = {"time.precision.mode": "isostring"}
CONNECT = {"time.precision.mode": "connect"}


def test_loss_explains_whole_names_only() -> None:
    loss = Loss(".*_text .*", "kinds|zeros", "c_time_6", "time-cut", "a reason")
    difference = Difference("shop.kinds", "c_time_6", "time-cut")
    assert loss.explains("mariadb_text json", difference)
    assert not loss.explains("mariadb json", difference)
    assert not loss.explains("mariadb_text json", Difference("shop.kinds", "c_time_6", "value"))
    assert not loss.explains(
        "mariadb_text json", Difference("shop.kinds_2", "c_time_6", "time-cut")
    )


def test_old_connector_has_other_names_of_settings() -> None:
    old, new = (ENGINES[name].properties("p", 3306, 9) for name in ("mysql_19", "mysql_36"))
    assert old["database.server.name"] == new["topic.prefix"] == "p"
    assert old["database.history"].endswith(".MemoryDatabaseHistory")
    assert new["schema.history.internal"].endswith(".MemorySchemaHistory")
    assert "table.exclude.list" not in old
    text = ENGINES["mysql_19_text"].properties("p", 3306, 9)
    assert text["table.exclude.list"] == "shop.durations"
    assert text["decimal.handling.mode"] == "string"


def test_forms_need_options_for_what_they_do_not_show() -> None:
    assert reading_options("maxwell", "left") == {}
    assert reading_options("mariadb json", "left") == {}
    assert reading_options("mariadb_iso avro", "right")["right_binary"]["c_blob"] == "base64"
    bare = reading_options("mariadb_text bare", "left")["left_option"]
    assert bare["time-precision-mode"] == "connect"
    assert bare["connector"] == "mariadb"


def test_message_that_avro_refuses_is_none() -> None:
    line = b"dG9waWM=\tAQ==\tAg==\tAw==\t-\t!\tBA=="
    found = sent_message(line)
    assert (found.topic, found.message.key, found.message.value) == ("topic", b"\1", b"\2")
    assert (found.bare.key, found.bare.value) == (b"\3", None)
    assert found.avro is None
    whole = sent_message(line.replace(b"!", b"Ag=="))
    assert whole.avro is not None
    assert (whole.avro.key, whole.avro.value) == (b"\2", b"\4")


@pytest.mark.parametrize(
    ("declared", "text", "mode", "wanted"),
    [
        ("tinyint(1)", "9", {}, 9),
        ("bigint unsigned", "18446744073709551615", {}, -1),
        ("bigint unsigned", "18446744073709551615", PRECISE, 18446744073709551615),
        ("float", "0.1", {}, 0.10000000149011612),
        ("decimal(10,2)", "-0.50", {}, "-0.50"),
        ("decimal(5,3) unsigned", "0.50", {"decimal.handling.mode": "double"}, 0.5),
        ("bit(1)", "1", {}, True),
        ("bit(12)", "AAA", {}, 2730),
        ("date", "1969-12-31", {}, -1),
        ("date", "1969-12-31", ISO, "1969-12-31Z"),
        ("time(3)", "-00:00:00.001", {}, -1000),
        ("time(3)", "00:00:01.001", CONNECT, 1001),
        ("datetime(3)", "1970-01-01 00:00:01.5", {}, 1500),
        ("datetime(6)", "1970-01-01 00:00:01.5", {}, 1_500_000),
        ("datetime", "1970-01-01 00:00:01", {"time.precision.mode": "microseconds"}, 1_000_000),
        ("blob", "FBFF", {"binary.handling.mode": "base64-url-safe"}, "-_8="),
        ("timestamp null", None, {}, None),
    ],
)
def test_value_that_a_text_means(
    declared: str, text: str | None, mode: dict[str, str], wanted: object
) -> None:
    found = expected_value(declared, text, {**DEFAULTS, **mode})
    assert found == wanted
    assert type(found) is type(wanted)


def test_times_as_text_are_compared_by_what_they_mean() -> None:
    wanted = expected_value("datetime(3)", "1970-01-01 00:00:01.500", {**DEFAULTS, **ISO})
    assert same_value("datetime(3)", wanted, "1970-01-01T00:00:01.5Z")
    assert not same_value("datetime(3)", wanted, "1970-01-01T00:00:01.6Z")
    assert same_value("decimal(3,2)", "1.50", Decimal("1.50"))
    assert not same_value("decimal(3,2)", "1.50", Decimal("1.5"))
    assert not same_value("int", 1, "1")
    assert not same_value("int", None, 1)
