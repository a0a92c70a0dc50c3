"""``cdcwire avro``: schemas and topics of an Avro feed, looked at before it runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from cdcwire.console.problems import DEFAULT_SCHEMA, UsageError, parse_option_arguments
from cdcwire.console.visible import visible
from cdcwire.core.options import OptionError
from cdcwire.ddl import read_chain, read_chain_file, read_ddl_file
from cdcwire.formats.avro.names import (
    TopicRule,
    TopicRuleError,
    collisions_of_rule,
    parse_topic_rule,
    subject_of,
)
from cdcwire.formats.avro.settings import Settings, read_settings
from cdcwire_conformance.formats.avro.evolve import SchemaVerdict, Step, evolve

NAME = "avro"
HELP = "check whether DDL would stop an Avro feed, and check topic rules"
DESCRIPTION = """\
Check the schemas and topics of a TiCDC Avro feed before it runs.

evolve: for a chain of DDL, show each statement's effect on the schemas of keys and values, and the
answer of a registry under BACKWARD.

topics: show whether Avro takes a topic expression, its topics and subjects for tables, and the
tables that would share one.

Exit code: 0 all is accepted, 1 something is refused, 2 could not run.
"""
EXAMPLES = """\
examples:
  cdcwire avro evolve --ddl shop.sql
  cdcwire avro evolve --ddl shop.sql --option avro-decimal-handling-mode=string --schemas
  cdcwire avro topics '{schema}_{table}' --table shop.orders --table shop_orders.old
"""
_EVOLVE = """\
Read CREATE TABLE and the statements after it, and report the effect of each on the feed. FILE is
a text of SQL: the tables as they are (SHOW CREATE TABLE), then the planned DDL; - is standard
input. No registry is contacted: its rules are simulated, as Apicurio Registry 3.0.9 and Confluent's
registry have them. Each statement is judged by itself: after a refused schema the next one is
compared with that schema, though it is not a version.
"""
EVOLVE_EXAMPLES = """\
example:
  $ cdcwire avro evolve --ddl shop.sql --database shop
  shop.orders
    line 1: CREATE TABLE orders (id INT PRIMARY KEY)
      key    shop_orders-key: version 1
      value  shop_orders-value: version 1
    line 2: ALTER TABLE orders ADD n INT NOT NULL
      key    the same
      value  REFUSED, the feed stops at the next row
             + {"name":"n","type":{"type":"int","connect.parameters":{"tidb_type":"INT"}}}
             n: a new field without default: rows written before have no value for it
             instead: make the column nullable, or NOT NULL with a constant DEFAULT
  1 of 2 statements would stop the feed
"""
_TOPICS = """\
Check a topic expression of a dispatch rule. Level strict, the default, requires {schema} and
{table} in it, as TiCDC's documentation does; level shipped accepts one without any, as TiCDC does.
Tables that share a subject register their schemas in turn, and the feed stops under BACKWARD.
"""
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of ``cdcwire avro`` and their arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    evolving = _verb(verbs, "evolve", _run_evolve, "what a chain of DDL does to the feed", _EVOLVE)
    evolving.epilog = EVOLVE_EXAMPLES
    evolving.add_argument(
        "--ddl", required=True, metavar="FILE", help="the statements; - for input"
    )
    evolving.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the sink: avro-decimal-handling-mode=string, topic={schema}.{table}",
    )
    evolving.add_argument(
        "--database",
        default=DEFAULT_SCHEMA,
        metavar="NAME",
        help=f"of tables whose statement names none (default: {DEFAULT_SCHEMA})",
    )
    _add_default_topic(evolving)
    evolving.add_argument(
        "--decimals",
        choices=("registry", "specification"),
        default="registry",
        help="how to judge a changed precision or scale: registries accept it, Avro does not "
        "(default: registry)",
    )
    evolving.add_argument("--schemas", action="store_true", help="print the whole schema texts too")
    evolving.add_argument("--json", action="store_true", help="a JSON object for each step")
    checking = _verb(verbs, "topics", _run_topics, "check a topic expression", _TOPICS)
    checking.add_argument(
        "expression", metavar="EXPRESSION", help="such as {schema}_{table}, quoted for the shell"
    )
    checking.add_argument(
        "--table", action="append", default=[], metavar="SCHEMA.TABLE", help="may be given again"
    )
    checking.add_argument("--ddl", metavar="FILE", help="the tables of these CREATE TABLE")
    checking.add_argument(
        "--level",
        choices=("strict", "shipped"),
        default="strict",
        help="strict requires {schema} and {table}; shipped is what TiCDC accepts "
        "(default: strict)",
    )
    _add_default_topic(checking)


def _add_default_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--default-topic",
        default="",
        metavar="TOPIC",
        help="the topic of the sink URI, for an empty expression",
    )


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    handler: Callable[[argparse.Namespace], int],
    help: str,
    description: str,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        name,
        help=help,
        description=description,
    )
    parser.set_defaults(handler=handler)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen verb. Returns its exit code."""
    handler: Callable[[argparse.Namespace], int] = arguments.handler
    return handler(arguments)


def _run_evolve(arguments: argparse.Namespace) -> int:
    settings, rule = _settings(parse_option_arguments(arguments.option))
    if arguments.ddl == "-":
        statements = read_chain(sys.stdin.read(), arguments.database)
    else:
        statements = read_chain_file(arguments.ddl, arguments.database)
    steps = list(evolve(statements, settings, rule, arguments.default_topic, arguments.decimals))
    if arguments.json:
        for step in steps:
            print(json.dumps(_step_json(step), ensure_ascii=False))
    else:
        for line in _step_lines(steps, arguments.schemas):
            print(visible(line))
    return 1 if any(step.stops for step in steps) else 0


def _settings(options: dict[str, str | int | bool]) -> tuple[Settings, TopicRule]:
    try:
        settings = read_settings(options)
        return settings, parse_topic_rule(settings.topic, "shipped")
    except (OptionError, TopicRuleError) as error:
        raise UsageError(str(error)) from error


def _step_lines(steps: list[Step], has_schemas: bool) -> Iterator[str]:
    previous = ""
    for step in steps:
        if step.table != previous:
            yield step.table
            previous = step.table
        text = " ".join(step.statement.text.split())
        text = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
        yield f"  line {step.statement.line}: {text}"
        if step.note:
            yield f"    {step.note}"
        for verdict in step.verdicts:
            yield from _verdict_lines(verdict, has_schemas)
    count = len({id(step.statement) for step in steps})
    stops = len({id(step.statement) for step in steps if step.stops})
    plural = "s" if count > 1 else ""
    if stops:
        yield f"{stops} of {count} statement{plural} would stop the feed"
    else:
        yield f"{count} statement{plural}, all accepted"


def _verdict_lines(verdict: SchemaVerdict, has_schemas: bool) -> Iterator[str]:
    indent = " " * 11
    match verdict.outcome:
        case "first":
            said = f"{verdict.subject}: version {verdict.version}"
        case "same":
            said = "the same" if not verdict.fields else f"version {verdict.version} again"
        case "accepted":
            said = f"accepted: version {verdict.version}"
        case "refused":
            said = "REFUSED, the feed stops at the next row"
        case "failed":
            said = f"NO SCHEMA, the feed stops at the next row: {verdict.problem}"
    yield f"    {verdict.side:5}  {said}"
    for field in verdict.fields:
        if field.old is not None:
            yield f"{indent}- {field.old}"
        if field.new is not None:
            yield f"{indent}+ {field.new}"
    for change in verdict.changes:
        if verdict.outcome != "refused" or not change.is_accepted:
            yield f"{indent}{'.'.join(map(str, change.path)) or 'record'}: {change.reason}"
    if verdict.advice:
        yield f"{indent}instead: {verdict.advice}"
    if has_schemas and verdict.text is not None and verdict.outcome != "same":
        yield f"{indent}{verdict.text}"


def _step_json(step: Step) -> dict[str, object]:
    return {
        "line": step.statement.line,
        "statement": step.statement.text,
        "table": step.table,
        "stops": step.stops,
        **({"note": step.note} if step.note else {}),
        "verdicts": [
            {
                "side": verdict.side,
                "subject": verdict.subject,
                "outcome": verdict.outcome,
                "version": verdict.version,
                "schema": verdict.text,
                "changes": [
                    {
                        "path": list(change.path),
                        "reason": change.reason,
                        "accepted": change.is_accepted,
                    }
                    for change in verdict.changes
                ],
                **({"advice": verdict.advice} if verdict.advice else {}),
                **({"problem": verdict.problem} if verdict.problem else {}),
            }
            for verdict in step.verdicts
        ],
    }


def _run_topics(arguments: argparse.Namespace) -> int:
    tables = [_table(name) for name in arguments.table]
    if arguments.ddl:
        found = read_ddl_file(Path(arguments.ddl), DEFAULT_SCHEMA)
        tables += [(table.schema or "", table.name or "") for table in found]
    tables = list(dict.fromkeys(tables))
    try:
        rule = parse_topic_rule(arguments.expression, arguments.level)
    except TopicRuleError as error:
        print(visible(str(error)))
        return 1
    for schema, table in tables:
        topic = rule.topic(schema, table, arguments.default_topic)
        subjects = " ".join(subject_of(topic, part) for part in ("key", "value"))
        shown = topic or "(that of the sink URI)"
        print(visible(f"{schema}.{table}  topic {shown}  subjects {subjects}"))
    shared = collisions_of_rule(rule, tables, arguments.default_topic)
    for name, sharing in shared.items():
        names = ", ".join(f"{schema}.{table}" for schema, table in sharing)
        print(visible(f"collision: {names} share the subjects {name}-key and {name}-value"))
    if not shared:
        print(f"{arguments.expression!r} is a {rule.kind} topic rule; no tables collide")
    return 1 if shared else 0


def _table(name: str) -> tuple[str, str]:
    schema, dot, table = name.partition(".")
    if not dot or not table or not schema:
        raise UsageError(f"--table {name!r} is not SCHEMA.TABLE")
    return schema, table
