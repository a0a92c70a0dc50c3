"""Every format has the same public functions, with the same signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import get_type_hints

import pytest

import cdcwire
from cdcwire.core.context import NO_CONTEXT
from cdcwire.format import Explain, FromEvents, ToEvents
from cdcwire.registry import FORMAT_NAMES, get_format

KINDS = inspect.Parameter
FUNCTIONS = {"from_events": FromEvents, "explain": Explain}
SUBJECTS = {"from_events": "events", "explain": "message"}


@pytest.fixture(params=FORMAT_NAMES)
def package(request: pytest.FixtureRequest) -> ModuleType:
    found = getattr(cdcwire, request.param.replace("-", "_"))
    assert isinstance(found, ModuleType)
    return found


def shape(function: Callable[..., object]) -> list[tuple[str, object, object]]:
    """Return name, kind and default of each parameter."""
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]


def types(function: Callable[..., object]) -> list[object]:
    """Return the types of the parameters and of the result."""
    hints = get_type_hints(function)
    return list(hints.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_takes_its_subject_and_a_context_by_name(package: ModuleType, name: str) -> None:
    function = getattr(package, name)
    assert shape(function) == [
        (SUBJECTS[name], KINDS.POSITIONAL_OR_KEYWORD, KINDS.empty),
        ("context", KINDS.KEYWORD_ONLY, NO_CONTEXT),
    ]
    assert types(function) == types(FUNCTIONS[name].__call__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_format_has_the_functions_of_its_package(package: ModuleType, name: str) -> None:
    assert getattr(package.FORMAT, name) == getattr(package, name)
    assert get_format(package.FORMAT.name) is package.FORMAT


def test_plain_decoder_takes_a_message_and_a_context_by_name(package: ModuleType) -> None:
    function = package.FORMAT.to_events
    assert (
        shape(function)
        == shape(package.to_events)
        == [
            ("message", KINDS.POSITIONAL_OR_KEYWORD, KINDS.empty),
            ("context", KINDS.KEYWORD_ONLY, NO_CONTEXT),
        ]
    )
    assert types(function) == types(ToEvents.__call__)


def test_decode_takes_the_value_and_the_rest_by_name(package: ModuleType) -> None:
    first, *others = shape(package.decode)
    assert first == ("value", KINDS.POSITIONAL_OR_KEYWORD, KINDS.empty)
    assert ("key", KINDS.KEYWORD_ONLY, None) in others
    assert ("context", KINDS.KEYWORD_ONLY, NO_CONTEXT) in others
    assert all(
        kind is KINDS.KEYWORD_ONLY and default is not KINDS.empty for _, kind, default in others
    )


def test_encode_takes_a_message_and_a_context_by_name(package: ModuleType) -> None:
    if not hasattr(package, "encode"):
        assert package.record_of  # a record takes fields, not bytes
        return
    (_, kind, default), *others = shape(package.encode)
    assert (kind, default) == (KINDS.POSITIONAL_OR_KEYWORD, KINDS.empty)
    assert others == [("context", KINDS.KEYWORD_ONLY, NO_CONTEXT)]
