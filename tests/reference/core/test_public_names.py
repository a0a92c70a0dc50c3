"""The names that ``cdcwire`` offers at its top."""

from __future__ import annotations

from importlib import import_module

import pytest

import cdcwire
from cdcwire.registry import FORMAT_NAMES, get_format, package_of


@pytest.mark.parametrize("name", cdcwire.__all__)
def test_public_name_can_be_imported(name: str) -> None:
    assert getattr(cdcwire, name) is not None


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_format_is_a_package_at_the_top(name: str) -> None:
    package = getattr(cdcwire, name.replace("-", "_"))
    assert package is import_module(f"cdcwire.formats.{package_of(name)}")
    assert get_format(name).name == name


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'krafft'"):
        cdcwire.krafft  # noqa: B018
