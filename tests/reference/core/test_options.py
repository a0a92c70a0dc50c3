"""Options are declared by the fields of a settings class and parsed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pytest

from cdcwire.core.context import Compression, Context
from cdcwire.core.options import (
    Option,
    OptionError,
    from_context,
    option,
    option_group,
    options_of,
    read_settings,
    utf8,
)
from cdcwire.registry import FORMAT_NAMES, get_format

ZLIB = Compression(bytes, bytes)


@dataclass(frozen=True, slots=True)
class Inner:
    end: bytes = option("end", "\n", "Text after a row.", convert=utf8)
    fixed: int = 1


@dataclass(frozen=True, slots=True)
class Settings:
    mode: Literal["a", "b"] = option("mode", "a", "Mode.")
    rows: int = option("rows", 16, "Rows in one message.")
    zone: str | None = option("zone", "", "Zone.", convert=lambda text: text or None)
    inner: Inner = option_group(Inner, fixed=7)
    compressions: Mapping[str, Compression] = from_context()


def test_options_carry_name_default_help_and_the_values_of_a_literal() -> None:
    assert options_of(Settings) == (
        Option("mode", "a", "Mode.", ("a", "b")),
        Option("rows", 16, "Rows in one message."),
        Option("zone", "", "Zone."),
        Option("end", "\n", "Text after a row."),
    )


def test_settings_are_read_from_options_and_from_a_context() -> None:
    given = {"sink.rows": "3", "zone": "UTC", "end": ";"}
    expected = Settings(rows=3, zone="UTC", inner=Inner(b";", 7))
    assert read_settings(Settings, given) == expected
    context = Context(given, compressions={"x": ZLIB})
    assert read_settings(Settings, context).compressions == {"x": ZLIB}
    assert read_settings(Settings, {}) == Settings() == read_settings(Settings, Context())
    assert Settings().inner.fixed == 7


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"mode": "c"}, r"option mode='c' is not one of 'a', 'b'"),
        ({"rows": "x"}, r"option rows='x' is not a number from 0"),
        ({"end": "\ud800"}, r"option end='\\ud800' is not text in UTF-8"),
        ({"other": 1}, r"unknown option 'other'; known: mode, rows, zone, end"),
    ],
)
def test_error_names_the_option_and_what_it_allows(
    given: dict[str, str | int | bool], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        read_settings(Settings, given)


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_every_option_has_a_sentence_as_help(name: str) -> None:
    found = get_format(name).options
    assert len({each.name for each in found}) == len(found)
    for each in found:
        assert each.help[0].isupper()
        assert each.help.endswith(".")
