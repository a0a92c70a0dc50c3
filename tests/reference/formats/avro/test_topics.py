"""Topic rules, substitution, subjects and their collisions."""

from __future__ import annotations

import pytest

from cdcwire.apache_avro.registries import registration
from cdcwire.formats.avro.names import (
    MAX_TOPIC,
    Level,
    RuleKind,
    TopicRule,
    TopicRuleError,
    collisions_of_rule,
    parse_topic_rule,
    subject_of,
)

RULES: dict[str, tuple[RuleKind | None, RuleKind | None]] = {
    "": (None, "default"),
    "topic.a-b_1": (None, "fixed"),
    "{schema}_{table}": ("template", "template"),
    "a.{schema}{table}-z": ("template", "template"),
    "{schema}": (None, None),
    "{table}": (None, None),
    "{table}_{schema}": (None, None),
    "{schema}_{table}_{table}": (None, None),
    "a b{schema}{table}": (None, None),
    "tópic": (None, None),
    "{schema}_{table}\n": (None, None),
}


@pytest.mark.parametrize(("expression", "kinds"), RULES.items(), ids=RULES)
def test_rule_is_taken_as_its_level_says(
    expression: str, kinds: tuple[RuleKind | None, RuleKind | None]
) -> None:
    levels: tuple[Level, ...] = ("strict", "shipped")
    for level, kind in zip(levels, kinds, strict=True):
        if kind is not None:
            assert parse_topic_rule(expression, level).kind == kind
            continue
        with pytest.raises(TopicRuleError) as caught:
            parse_topic_rule(expression, level)
        assert caught.value.clause == "avro: topic rules"
        assert str(caught.value).startswith("invalid topic expression: ")


@pytest.mark.parametrize(
    ("expression", "names", "topic"),
    [
        ("{schema}_{table}", ("a", "b"), "a_b"),
        ("{schema}.{table}", ("a b", "c$é"), "a_b.c__"),
        ("{schema}{table}", ("", "."), "_"),
        ("{schema}{table}", (".", "."), "__"),
        ("{schema}{table}", (".", ".a"), "..a"),
        ("{schema}_{table}", ("a" * 200, "b" * 200), ("a" * 200 + "_" + "b" * 200)[:MAX_TOPIC]),
        ("{schema}_{table}", ("{table}", "x"), "_table__x"),
    ],
)
def test_names_are_substituted(expression: str, names: tuple[str, str], topic: str) -> None:
    assert parse_topic_rule(expression).topic(*names) == topic


def test_rules_without_placeholders_have_one_topic() -> None:
    assert parse_topic_rule("", "shipped").topic("a", "b", "the-default") == "the-default"
    assert TopicRule("all", "fixed").topic("a", "b") == "all"


def test_subject_has_no_dots() -> None:
    assert subject_of("a.b-c", "key") == "a_b-c-key"
    assert subject_of("t", "value") == "t-value"


def test_collisions_are_named() -> None:
    rule = parse_topic_rule("{schema}_{table}")
    tables = [("a_b", "c"), ("a", "b_c"), ("x", "y")]
    assert collisions_of_rule(rule, tables) == {"a_b_c": (("a_b", "c"), ("a", "b_c"))}
    dotted = parse_topic_rule("{schema}.{table}")
    assert collisions_of_rule(dotted, [("a.b", "c"), ("a", "b_c")]) == {
        "a_b_c": (("a.b", "c"), ("a", "b_c"))
    }


def test_registration_escapes_the_subject() -> None:
    found = registration("a b/é-key", '{"a":"<"}')
    assert found.path == "/subjects/a+b%2F%C3%A9-key/versions"
    assert found.body == b'{"schema":"{\\"a\\":\\"\\u003c\\"}"}'
