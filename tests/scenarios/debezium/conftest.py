"""A real Debezium on a real PostgreSQL: recorded once, for all tests here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdcwire_evidence.debezium.engine import Sent
from cdcwire_evidence.debezium.recording import SETTINGS, Recording, Setting, record
from cdcwire_evidence.registry.apicurio import UnavailableError

PROJECT = Path(__file__).parents[3] / "adapters" / "debezium"


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """All that was sent, by all engines."""
    try:
        return record(PROJECT, tmp_path_factory.mktemp("debezium"))
    except UnavailableError as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            raise
        pytest.skip(str(error))


@pytest.fixture(params=list(SETTINGS))
def name(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    return str(request.param)


@pytest.fixture
def setting(name: str) -> Setting:
    return SETTINGS[name]


@pytest.fixture
def sent(recording: Recording, name: str) -> Sequence[Sent]:
    """What one engine sent."""
    return recording.sent[name]
