"""Errors for missing extras: the command that they name works in any installation."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from cdcwire.extras import MissingExtraError, load_extra, requirements_of

_REQUIRED = {
    "cdcwire": [
        'pyarrow>=18; extra == "compare"',
        "jinja2<4,>=3.1; extra == 'html'",
        "numpy<3,>=1.26; extra == 'compare'",
        "tomli<3,>=2; (python_version < '3.11') and extra == 'toml'",
        "urllib3<3,>=2.2",
    ]
}


def _requires(package: str) -> list[str]:
    if package not in _REQUIRED:
        raise PackageNotFoundError(package)
    return _REQUIRED[package]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("html", "'jinja2<4,>=3.1'"),
        ("compare", "'pyarrow>=18' 'numpy<3,>=1.26'"),
        ("toml", "'tomli<3,>=2'"),
        ("comp", "'.[comp]' in a checkout of cdcwire"),
    ],
)
def test_requirements_of_an_extra_are_those_of_the_installed_package(
    monkeypatch: pytest.MonkeyPatch, extra: str, expected: str
) -> None:
    monkeypatch.setattr("importlib.metadata.requires", _requires)
    assert requirements_of(extra) == expected


def test_requirements_without_an_installed_package_are_the_extra_of_a_checkout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.metadata.requires", _requires)
    monkeypatch.delitem(_REQUIRED, "cdcwire")
    with pytest.raises(
        MissingExtraError,
        match=r"^a page needs the package no_such \(extra html\): pip install '\.\[html\]'",
    ):
        load_extra("no_such", "html", "a page")
