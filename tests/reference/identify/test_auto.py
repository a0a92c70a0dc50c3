"""``auto`` in place of a format: in ``decode``, ``explain`` and ``compare``."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cdcwire_conformance.cli import compare as compare_command
from cdcwire_conformance.cli import main

CRAFT = "010103010101020a09010005"
CSV_OPTIONS = ("--option=null=NULL", "--option=include-commit-ts=true", "--option=delimiter=;")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _generate(format_name: str, folder: str, *options: str) -> None:
    arguments = [format_name, "--rows", "12", "--seed", "5", "--to", folder, *options]
    assert main(["generate", *arguments]) == 0


@pytest.mark.parametrize(
    ("format_name", "options"),
    [("csv", CSV_OPTIONS), ("avro", ()), ("canal-json", ("--option=enable-tidb-extension=true",))],
)
def test_decode_auto_gives_what_decode_with_the_settings_gives(
    format_name: str, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _generate(format_name, "feed", *options)
    assert main(["decode", format_name, "feed", *options]) == 0
    expected = capsys.readouterr().out
    assert main(["decode", "auto", "feed"]) == 0
    found = capsys.readouterr()
    assert found.out == expected
    assert found.err.startswith(f"cdcwire decode: feed: {format_name} (sure): ")
    assert found.err.count("\n") == 1


def test_decode_auto_keeps_the_options_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    _generate("csv", "feed", *CSV_OPTIONS)
    capsys.readouterr()
    assert main(["decode", "auto", "feed", "--option", "delimiter=,"]) == 1
    assert "byte 3: b';' after the closing quote" in capsys.readouterr().err


def test_standard_input_is_identified_and_then_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb, shown in (("decode", '"kind": "row"'), ("explain", "version")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CRAFT.encode())))
        main([verb, "auto", "-"])
        found = capsys.readouterr()
        assert f"cdcwire {verb}: -: craft (sure): " in found.err
        assert shown in found.out or verb == "decode"


@pytest.mark.parametrize("verb", ["decode", "explain"])
def test_lines_of_messages_in_a_file_of_another_name_are_read(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = '{"database":"d","table":"t","type":"insert","ts":1,"xid":2,"data":{"a":1}}'
    line = f"null\t{value}\n"
    (tmp_path / "dump.txt").write_text(line, encoding="utf-8")
    (tmp_path / "dump.jsonl").write_text(line, encoding="utf-8")
    shown = []
    for format_name in ("auto", "maxwell-json"):
        for name in ("dump.txt", "dump.jsonl"):
            assert main([verb, format_name, str(tmp_path / name)]) == 0
            shown.append(capsys.readouterr().out.replace(name, ""))
    assert len(set(shown)) == 1
    assert shown[0]


def test_an_unclear_format_is_an_error_with_all_candidates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("t.jsonl").write_text('{"key": null, "value": null}\n')
    for verb in ("decode", "explain"):
        assert main([verb, "auto", "t.jsonl"]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"cdcwire {verb}: t.jsonl: the format is not clear: it may be ")
        assert "debezium-json, debezium-avro, canal-json, cdl-json" in error
        assert error.count("\n") == 1


def test_lines_of_values_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    row = '"table":"t","type":"insert","ts":1,"xid":1,"commit":true,"data":{"a":1}'
    Path("dump").write_text(2 * f'{{"database":"d",{row}}}\n')
    assert main(["decode", "auto", "dump"]) == 0
    found = capsys.readouterr()
    assert len(found.out.splitlines()) == 2
    assert "dump: maxwell-json (sure): " in found.err


def test_options_of_auto_are_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", "auto", "feed", "--option", "help"]) == 2
    assert "`cdcwire options FORMAT` lists the options" in capsys.readouterr().err


def test_compare_puts_the_format_and_options_found_in_place_of_auto(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _generate("csv", "left", *CSV_OPTIONS)
    _generate("craft", "right")
    for name in ("left/.feed.json", "right/feed.json"):  # they name the format
        Path(name).unlink()
    asked: list[str] = []

    def parsed(source: str) -> None:
        asked.append(source)
        if len(asked) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(compare_command, "parse_source", parsed)
    main(["compare", "auto:file:left", "auto:file:right"])
    assert asked == ["csv:file:left", "craft:file:right"]
    error = capsys.readouterr().err
    assert "file:left: csv (sure)" in error
    assert "delimiter=;" in error
