"""The corpus catches every known-wrong decoder, in each format whose suite lists it."""

from __future__ import annotations

from functools import cache
from itertools import chain, groupby, islice, zip_longest
from operator import attrgetter

import pytest

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.known_wrong import KnownWrong
from cdcwire_conformance.known_wrong.decoder import right
from cdcwire_conformance.run.catch import catching_case, catching_cases
from cdcwire_conformance.suite import get_suite

PAIRS = [
    pytest.param(known_wrong, format_name, id=f"{known_wrong.name}-{format_name}")
    for format_name in FORMAT_NAMES
    for known_wrong in get_suite(format_name).known_wrong
]


@cache
def cases_of(format_name: str) -> tuple[Case, ...]:
    """Return the cases of a format, one of each group in turn: most faults show in one group."""
    groups = groupby(load_cases([format_name]), key=attrgetter("group"))
    turns = zip_longest(*(list(cases) for _, cases in groups))
    return tuple(filter(None, chain.from_iterable(turns)))


@pytest.mark.parametrize(("known_wrong", "format_name"), PAIRS)
def test_known_wrong_decoder_is_caught_by_two_cases(
    known_wrong: KnownWrong, format_name: str
) -> None:
    """A fault that one case alone shows is lost if a reader may decline that case."""
    caught = list(islice(catching_cases(known_wrong, format_name, cases_of(format_name)), 2))
    assert len(caught) == 2, caught


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_right_decoder_gets_through(format_name: str) -> None:
    """Without this a corpus that fails everything would catch all of them too."""
    not_wrong = KnownWrong("right", "none", right)
    assert catching_case(not_wrong, format_name, cases_of(format_name)) is None


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_names_are_unique_in_a_format(format_name: str) -> None:
    names = [known_wrong.name for known_wrong in get_suite(format_name).known_wrong]
    assert len(set(names)) == len(names)
