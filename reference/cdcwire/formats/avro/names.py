"""Names: any text made an Avro name, full names of records, and what they say about a table.

Sanitising goes one way: the original spelling is lost, and two names may become one. Topics and
subjects: rules of dispatch, what becomes of names in them, and who meets whom. Nothing here asks a
registry.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.errors import EncodeError

Level: TypeAlias = Literal["strict", "shipped"]
RuleKind: TypeAlias = Literal["default", "fixed", "template"]
MAX_TOPIC = 249
_FIXED = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_TEMPLATE = re.compile(r"[A-Za-z0-9._-]*\{schema\}[A-Za-z0-9._-]*\{table\}[A-Za-z0-9._-]*")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._-]")
_DOTS = {".": "_", "..": "__"}
CLAUSE = "avro: names"
_FIRST = re.compile(r"[A-Za-z_]")
_NOT_LATER = re.compile(r"[^A-Za-z0-9_]")


class TopicRuleError(ValueError):
    """A topic expression is not one that Avro allows. ``clause`` says which rule."""

    def __init__(self, expression: str, problem: str) -> None:
        super().__init__(expression, problem)
        self.expression = expression
        self.problem = problem
        self.clause = "avro: topic rules"

    def __str__(self) -> str:
        return f"invalid topic expression: {self.expression!r:.200}: {self.problem}"


@dataclass(frozen=True, slots=True)
class TopicRule:
    """A topic expression that was checked. default: the topic of the sink URI."""

    expression: str
    kind: RuleKind

    def topic(self, schema: str, table: str, default_topic: str = "") -> str:
        """Return the topic of a table's messages. Source: avro, "topic substitution"."""
        match self.kind:
            case "default":
                return default_topic
            case "fixed":
                return self.expression
            case "template":
                schema, table = (_NOT_ALLOWED.sub("_", name) for name in (schema, table))
                filled = self.expression.replace("{schema}", schema).replace("{table}", table)
                cut = filled[:MAX_TOPIC]
                return _DOTS.get(cut, cut)


def parse_topic_rule(expression: str, level: Level = "strict") -> TopicRule:
    """Return the rule of a topic expression.

    ``level``: strict demands both placeholders, as the document does; shipped passes a rule
    without any, as the producer does. Raises: TopicRuleError.
    """
    if _TEMPLATE.fullmatch(expression):
        return TopicRule(expression, "template")
    is_plain = not expression or _FIXED.fullmatch(expression)
    if is_plain and level == "shipped":
        return TopicRule(expression, "fixed" if expression else "default")
    problem = "topic rule for Avro must contain {schema} and {table}"
    if not is_plain:
        problem += ", once each and in this order, between letters, digits and . _ -"
    raise TopicRuleError(expression, problem)


def subject_of(topic: str, part: Literal["key", "value"]) -> str:
    """Return the subject of a topic's keys or values: dots in the topic become underscores.

    Source: avro, "subjects".
    """
    return f"{topic.replace('.', '_')}-{part}"


def collisions(topics: Mapping[tuple[str, str], str]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the subjects' names that several tables would share, with these tables.

    ``topics``: the topic of each table (schema, table). The names are without ``-key``, ``-value``.
    Tables that share one register their schemas in turn, each as the next version of the other's.
    """
    tables: dict[str, list[tuple[str, str]]] = {}
    for table, topic in topics.items():
        tables.setdefault(topic.replace(".", "_"), []).append(table)
    return {name: tuple(found) for name, found in tables.items() if len(found) > 1}


def collisions_of_rule(
    rule: TopicRule, tables: Iterable[tuple[str, str]], default_topic: str = ""
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the collisions of tables under one rule."""
    return collisions({table: rule.topic(*table, default_topic) for table in tables})


def sanitize(name: str) -> str:
    """Return ``name`` as an Avro name, character by character.

    Shape: a first character other than a letter or underscore becomes an underscore, and an ASCII
    digit is kept after it. Every later character other than a letter, digit or underscore becomes
    an underscore.
    Source: avro, "names".
    """
    if not name:
        return name
    first, rest = name[0], _NOT_LATER.sub("_", name[1:])
    if _FIRST.match(first):
        return first + rest
    return f"_{first if first in '0123456789' else ''}{rest}"


def namespace_of(changefeed_namespace: str, schema: str | None) -> str:
    """Return the namespace of a table's records. Source: avro, "namespace"."""
    parts = (changefeed_namespace, schema) if schema else (changefeed_namespace,)
    return ".".join(map(sanitize, parts))


def schema_of_namespace(namespace: str) -> str | None:
    """Return the table's schema: the second part of a namespace, None if it has no such part."""
    parts = namespace.split(".")
    return parts[1] if len(parts) > 1 and parts[1] else None


def check_unique(names: Iterable[str], sanitized: Iterable[str]) -> None:
    """Raise EncodeError when two fields of a record would have one name."""
    pairs = list(zip(names, sanitized, strict=True))
    counts = Counter(field for _, field in pairs)
    for _, field in pairs:
        if counts[field] > 1:
            twice = ", ".join(repr(name) for name, other in pairs if other == field)
            raise EncodeError(f"{twice:.200} would all be the field {field!r:.80}", CLAUSE)
