"""Prefixes to look at: made once, copied where a test changes them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.stores import LocalStore, Store, open_store
from cdcwire.model.events import Event
from cdcwire_conformance.sources.storage.writing import PrefixWriter, WriterSettings, write_prefix
from cdcwire_generators.workloads import evolving_workload

ROWS = 320
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True, "output-old-value": True},
    "canal-json": {"enable-tidb-extension": True, "content-compatible": True},
}

Change = Callable[[Path], None]


@pytest.fixture(scope="session")
def changes() -> list[Event]:
    return list(evolving_workload(ROWS, 7))


@pytest.fixture
def memory(memory_url: str) -> Store:
    return open_store(memory_url)


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory, changes: list[Event]) -> dict[str, Path]:
    """A good prefix in each format. Nobody changes these."""
    made = {}
    for name, options in OPTIONS.items():
        made[name] = tmp_path_factory.mktemp("good") / name
        settings = WriterSettings(transaction_atomicity="table", flush_interval_ms=200)
        write_prefix(
            PrefixWriter(LocalStore(made[name]), name, Context(options), settings), changes
        )
    return made


@pytest.fixture(params=["csv", "canal-json"])
def format_name(request: pytest.FixtureRequest) -> str:
    name = request.param
    assert isinstance(name, str)
    return name


@pytest.fixture
def prefix(good: dict[str, Path], format_name: str, tmp_path: Path) -> Path:
    """A copy of a good prefix, to be spoilt."""
    folder = tmp_path / "prefix"
    shutil.copytree(good[format_name], folder)
    return folder
