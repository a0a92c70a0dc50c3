"""The examples in the docstrings of the public API work as shown."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "cdcwire.core.errors",
    "cdcwire.format",
    "cdcwire.core.message",
    "cdcwire.kafka",
    "cdcwire.registry",
    "cdcwire.formats.craft.format",
    "cdcwire.formats.craft.wire",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_work(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
