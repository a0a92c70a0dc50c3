"""``cdcwire options FORMAT`` and ``--option help``."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.registry import FORMAT_NAMES, get_format
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


@pytest.fixture
def resolved(tmp_path: Path) -> str:
    """The name of a file with a message of Craft."""
    file = tmp_path / "resolved.bin"
    file.write_bytes(bytes.fromhex("010103010101020a09010005"))
    return str(file)


@pytest.mark.parametrize("zone", ["", "Asia/Shanghai", "+08:00", "UTC", "-03:30"])
def test_known_time_zone_is_taken(zone: str, resolved: str) -> None:
    assert main(["decode", "craft", "--option", f"time-zone={zone}", resolved]) == 0


@pytest.mark.parametrize("zone", ["No/Where", "../../etc/passwd", "+25", "x" * 5000])
def test_unknown_time_zone_is_one_short_line(
    zone: str, resolved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", "craft", "--option", f"time-zone={zone}", resolved]) == 2
    error = capsys.readouterr().err
    assert "is not a known time zone, such as Asia/Shanghai or +08:00" in error
    assert len(error) < 300


def test_long_arguments_are_not_repeated_whole(
    resolved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x" * 5000
    for words in (
        ["--option", long],
        ["--option", f"{long}=1"],
        ["--option", f"max-batch-size={long}"],
        ["--include", long],
    ):
        assert main(["decode", "craft", *words, resolved]) == 2
        assert 0 < len(capsys.readouterr().err) < 1000
