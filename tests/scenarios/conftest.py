"""Scenarios: tests against real programs. They run where ``CDCWIRE_SCENARIOS`` asks for them.

``1``: what can't run here is skipped with its reason; ``required``: it is an error. Without the
variable all are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire.extras import MissingExtraError
from cdcwire_evidence.registry.apicurio import Apicurio, UnavailableError, running

WANTED = os.environ.get("CDCWIRE_SCENARIOS", "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if WANTED:
        return
    here = f"{Path(__file__).parent}{os.sep}"
    skip = pytest.mark.skip(reason="a scenario: CDCWIRE_SCENARIOS=1 runs it")
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def apicurio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apicurio]:
    """One Apicurio Registry for all scenarios, on a free port."""
    try:
        with running(tmp_path_factory.mktemp("apicurio")) as registry:
            yield registry
    except (UnavailableError, MissingExtraError) as error:
        if WANTED == "required":
            raise
        pytest.skip(str(error))
