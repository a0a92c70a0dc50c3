"""The arguments of ``compare`` that are checked before Spark starts: windows and rules."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.console.problems import UsageError
from cdcwire.registry import get_format
from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_rules import meaning_from, window_from
from cdcwire_conformance.cli.recorded import schemas_near
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.rules import Window
from cdcwire_conformance.sources.source_urls import parse_source

# 2024-04-13T09:20:00Z is 1,713,000,000 seconds after 1970.
CRAFT = get_format("craft")
MOMENT = 1_713_000_000_000 << 18


def parsed(*words: str) -> CompareArguments:
    parser = ArgumentParser()
    CompareArguments.add_to(parser)
    return parser.parse_args(("left", "right", *words), CompareArguments())


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("1030", 1030),
        (str(MOMENT), MOMENT),
        ("2024-04-13T09:20:00Z", MOMENT),
        ("2024-04-13T11:20:00+02:00", MOMENT),
        ("2024-04-13 09:20:00", MOMENT),
        ("2024-04-13T09:20:00.001Z", MOMENT + (1 << 18)),
        ("2024-04-13", MOMENT - (9 * 3600 + 20 * 60) * 1000 * (1 << 18)),
    ],
)
def test_window_is_a_number_or_a_time(text: str, start: int) -> None:
    assert window_from(parsed("--from", text), "commit_ts") == Window(start, None)
    assert window_from(parsed("--to", text), "commit_ts") == Window(None, start)


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        (
            "1713000000000",
            "commit_ts",
            f"milliseconds in place of a TSO.* write {MOMENT} or 2024-04-13T",
        ),
        ("1713000000", "commit_ts", f"seconds in place of a TSO.* write {MOMENT} or 2024-04-13T"),
        ("yesterday", "commit_ts", "neither a number nor an ISO time"),
        ("2024-04-13", "lsn", "rows pair by lsn, which is a number"),
    ],
)
def test_other_units_and_times_are_refused(text: str, position: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        window_from(parsed("--from", text), position)
    assert window_from(parsed("--from", "1713000000000"), "lsn") == Window(1713000000000)


def test_rules_are_read() -> None:
    found = meaning_from(
        parsed(
            *("--exclude", "shop.log", "--ignore-column", "seen", "--map-table", "a.b=c.d"),
            *("--as-text", "a.b.n", "--precision", "at=ms", "--precision", "a.b.to=s"),
            *("--no-before", "--pair-by", "key"),
        ),
        CRAFT,
        CRAFT,
    )
    assert found == Meaning(
        frozenset({"seen"}),
        frozenset({("shop", "log")}),
        {("a", "b"): ("c", "d")},
        frozenset({"a.b.n"}),
        {"at": 3, "a.b.to": 0},
        pairs_by_key=True,
        has_before=False,
    )
    assert meaning_from(parsed(), CRAFT, CRAFT) == Meaning()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--exclude", "orders"], "--exclude 'orders' is not SCHEMA.TABLE"),
        (["--map-table", "a.b"], "is not LEFT=RIGHT"),
        (["--map-table", "a.b=c"], "is not SCHEMA.TABLE"),
        (["--precision", "at"], "is not COLUMN=s, COLUMN=ms or COLUMN=us"),
        (["--precision", "at=ns"], "is not COLUMN=s, COLUMN=ms or COLUMN=us"),
        (["--min-rows", "0"], "--min-rows is a number from 1"),
        (["--pair-by", "key", "--from", "1"], "need positions that both feeds share"),
    ],
)
def test_mistakes_are_named(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        meaning_from(parsed(*words), CRAFT, CRAFT)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["craft:file:FEED", "craft:file:FEED", "--time-zone", "Mars"],
            "'Mars' is not a time zone",
        ),
        (["craft:file:FEED", "craft:file:FEED", "--follow"], "--follow compares topics only"),
        (
            ["craft:file:FEED", "craft:file:FEED", "--temporal", "native", "--precision", "a=ms"],
            "leave out --temporal native",
        ),
    ],
)
def test_mistakes_are_one_line_with_exit_code_2(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text("")
    assert main(["compare", *(word.replace("FEED", str(tmp_path)) for word in arguments)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("place", ["feed/schemas", "schemas"])
def test_schemas_in_a_feed_or_next_to_it_are_found(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "a.jsonl").write_text("")
    source = parse_source(f"avro:file:{tmp_path / 'feed'}")
    (tmp_path / place).mkdir()
    assert schemas_near("compare", source) is None
    (tmp_path / place / "1.avsc").write_text('"string"')
    assert schemas_near("compare", source) == str(tmp_path / place)
    assert capsys.readouterr().err == (f"cdcwire compare: {source}: --schema {tmp_path / place}\n")
    assert schemas_near("compare", parse_source(f"craft:file:{tmp_path / 'feed'}")) is None
