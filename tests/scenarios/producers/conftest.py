"""One workload on a real MariaDB, captured by Debezium and Maxwell: recorded for all tests here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cdcwire.extras import MissingExtraError
from cdcwire_evidence.debezium.engine import Sent
from cdcwire_evidence.producers.captures import ENGINES, Engine
from cdcwire_evidence.producers.feeds import Recording, recorded
from cdcwire_evidence.registry.apicurio import UnavailableError

PROJECT = Path(__file__).parents[3] / "adapters" / "debezium"


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    """All that was sent, by all producers; the databases run until the last test."""
    try:
        with recorded(PROJECT, tmp_path_factory.mktemp("producers")) as found:
            yield found
    except (UnavailableError, MissingExtraError) as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            raise
        pytest.skip(str(error))


@pytest.fixture(params=list(ENGINES))
def name(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    return str(request.param)


@pytest.fixture
def engine(name: str) -> Engine:
    return ENGINES[name]


@pytest.fixture
def sent(recording: Recording, name: str) -> Sequence[Sent]:
    """What one engine sent."""
    return recording.sent[name]
