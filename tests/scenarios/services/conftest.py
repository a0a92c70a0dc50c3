"""The services of the scenarios: those that the environment names, or containers of our own.

What breaks a service has one of its own, and is not run against one that is given.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdcwire_conformance.extras import MissingExtraError
from cdcwire_conformance.scenarios.containers import (
    KafkaContainer,
    MinioContainer,
    Service,
    ToxiproxyContainer,
    running,
)
from cdcwire_conformance.scenarios.ledger import RESULTS_VARIABLE
from cdcwire_conformance.scenarios.services import (
    Kafka,
    NotRunError,
    ObjectStore,
    given_kafka,
    given_store,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAMES = Path(__file__).parents[3] / "images" / "names"
_numbers = itertools.count(1)


def pytest_sessionstart() -> None:
    """Forget what an earlier run told."""
    told = os.environ.get(RESULTS_VARIABLE)
    if told:
        Path(told).unlink(missing_ok=True)


def image_of(variable: str) -> str:
    """Return an image's name: as images/names gives it, the environment first."""
    for line in _NAMES.read_text("utf-8").splitlines():
        name, _, value = line.partition("=")
        if name == variable:
            given, _, default = value.removeprefix("${").removesuffix("}").partition(":-")
            return os.environ.get(given) or default
    raise KeyError(variable)


@contextmanager
def _started(service: Service, log: Path) -> Iterator[None]:
    try:
        with running(service, log):
            yield
    except (NotRunError, MissingExtraError) as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            pytest.exit(f"scenarios not run: {error}", returncode=2)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the logs of the services are kept."""
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="session")
def kafka(logs: Path) -> Iterator[Kafka]:
    """A broker for scenarios that break nothing: the one that is given, or one for all of them."""
    given = given_kafka()
    if given is not None:
        yield given
        return
    container = KafkaContainer(image_of("KAFKA_IMAGE"))
    with _started(container, logs / "kafka.log"):
        yield container.service


@pytest.fixture
def own_broker(logs: Path, request: pytest.FixtureRequest) -> Iterator[KafkaContainer]:
    """A broker that the scenario may kill."""
    container = KafkaContainer(image_of("KAFKA_IMAGE"))
    with _started(container, logs / f"{request.node.name}.log"):
        yield container


@pytest.fixture
def proxied_broker(
    logs: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[ToxiproxyContainer, Kafka]]:
    """A proxy, and the broker behind it as it is reached through the proxy."""
    proxy = ToxiproxyContainer(image_of("TOXIPROXY_IMAGE"))
    with _started(proxy, logs / f"{request.node.name}-proxy.log"):
        broker = KafkaContainer(image_of("KAFKA_IMAGE"), proxied=proxy.door)
        with _started(broker, logs / f"{request.node.name}.log"):
            proxy.lead_to(f"{broker.address_inside}:{broker.BEHIND_PROXY}")
            yield proxy, Kafka(proxy.door)


@pytest.fixture(scope="session")
def store(logs: Path) -> Iterator[ObjectStore]:
    """An object store for scenarios that break nothing."""
    given = given_store()
    if given is not None:
        yield given
        return
    container = MinioContainer(image_of("MINIO_IMAGE"))
    with _started(container, logs / "minio.log"):
        yield container.service


@pytest.fixture
def own_store(logs: Path, request: pytest.FixtureRequest) -> Iterator[MinioContainer]:
    """An object store that the scenario may kill."""
    container = MinioContainer(image_of("MINIO_IMAGE"))
    with _started(container, logs / f"{request.node.name}.log"):
        yield container


@pytest.fixture
def new_name() -> Callable[[str], str]:
    """A rule that makes names of topics and buckets that nobody else has."""
    return lambda stem: f"{stem}-{os.getpid()}-{next(_numbers)}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A Spark session of this process, with its connector for Kafka."""
    from cdcwire_conformance.spark import SparkUnavailable, kafka_jars, spark_session

    settings = {"spark.sql.shuffle.partitions": "2"}
    try:
        settings["spark.jars"] = kafka_jars()
        session = spark_session("local[2]", settings, "cdcwire-scenarios")
    except SparkUnavailable as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            pytest.exit(f"scenarios not run: {error}", returncode=2)
        pytest.skip(str(error))
    yield session
    session.stop()
