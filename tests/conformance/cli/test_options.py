"""``cdcwire options FORMAT`` and ``--option help``."""

from __future__ import annotations

import pytest

from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli import main


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_every_option_is_listed_with_its_meaning(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["options", name]) == 0
    listed = capsys.readouterr().out.split("\n\n")[1:]
    for option, text in zip(get_format(name).options, listed, strict=True):
        head, meaning, *settings = text.splitlines()
        assert head.startswith(f"  {option.name}    ")
        assert meaning.strip() == option.help
        assert len(settings) == bool(option.settings)
        assert all(each.name in settings[0] for each in option.settings)


def test_allowed_values_and_defaults_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    main(["options", "csv"])
    lines = capsys.readouterr().out.splitlines()
    assert "  binary-encoding-method    one of 'base64', 'hex'; default: base64" in lines
    assert "  include-commit-ts    true or false; default: false" in lines
    assert "  file-size    a number from 0; default: 67108864" in lines
    assert "  terminator    text; default: \\r\\n" in lines
    assert "  time-zone    text; default: empty" in lines


@pytest.mark.parametrize("verb", ["decode", "encode", "explain", "generate"])
def test_option_help_prints_the_same_list(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["options", "avro"])
    listed = capsys.readouterr().out
    assert main([verb, "avro", "--option", "help"]) == 0
    assert capsys.readouterr().out == listed


def test_option_help_without_a_format_names_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--option", "help"]) == 2
    assert "`cdcwire options FORMAT` lists the options" in capsys.readouterr().err
