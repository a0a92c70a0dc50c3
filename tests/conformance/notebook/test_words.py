"""Arguments of ``compare`` become the options of the command line by their names."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from cdcwire.console.problems import UsageError
from cdcwire_conformance.cli import compare as command
from cdcwire_conformance.notebook.shown import OptionParser, OptionValue, parsed


def arguments(**options: OptionValue) -> argparse.Namespace:
    parser = OptionParser(prog="compare")
    command.add_arguments(parser)
    return parsed(parser, ("craft:file:-a", "-b"), options)


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"mode": "final"}, "mode", "final"),
        ({"limit": 3}, "limit", 3),
        ({"exact": True}, "exact", True),
        ({"exact": False}, "exact", False),
        ({"exact": None}, "exact", False),
        ({"from_": "2024-04-13T09:20:00Z"}, "start", "2024-04-13T09:20:00Z"),
        ({"to": 1040}, "end", "1040"),
        ({"min_rows": 7}, "min_rows", 7),
        ({"exclude": "shop.logs"}, "exclude", ["shop.logs"]),
        ({"exclude": ["shop.logs", "-x"]}, "exclude", ["shop.logs", "-x"]),
        ({"exclude": []}, "exclude", []),
        ({"precision": {"made": "ms"}}, "precision", ["made=ms"]),
        ({"left_option": {"enable": True, "n": 3}}, "left_option", ["enable=true", "n=3"]),
        ({"map_table": {"a.b": "c.d"}}, "map_table", ["a.b=c.d"]),
        ({"conf": {"spark.driver.memory": "4g"}}, "conf", ["spark.driver.memory=4g"]),
        ({"columns": ["id", "total"]}, "columns", "id,total"),
        ({"columns": "id,total"}, "columns", "id,total"),
        ({"ddl": Path("shop.sql")}, "context_ddl", "shop.sql"),
        ({"json": "--all"}, "json", "--all"),
    ],
)
def test_an_argument_is_the_option_of_its_name(
    options: dict[str, OptionValue], name: str, value: object
) -> None:
    assert getattr(arguments(**options), name) == value


def test_places_may_begin_with_a_dash() -> None:
    found = arguments()
    assert (found.left, found.right) == ("craft:file:-a", "-b")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ignore_columns": "a"}, "compare has no option ignore_columns"),
        ({"help": True}, "compare has no option help"),
        ({"exact": "yes"}, "exact is True or False"),
        ({"mode": ["final"]}, "mode is one value"),
        ({"mode": True}, "mode is one value"),
        ({"exclude": 3}, "exclude is a text, a list of texts, or a dict"),
    ],
)
def test_a_wrong_argument_is_a_type_error(options: dict[str, OptionValue], text: str) -> None:
    with pytest.raises(TypeError) as caught:
        arguments(**options)
    assert str(caught.value) == text


def test_a_wrong_value_is_an_error_and_does_not_end_the_process(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(UsageError, match="invalid choice: 'last'"):
        arguments(mode="last")
    assert capsys.readouterr() == ("", "")
