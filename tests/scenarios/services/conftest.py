"""The services of the scenarios: those that the environment names, or containers of our own.

A scenario that breaks a service starts a private one; it never uses a service that is given. Each
scenario that was not run is reported with its reason.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from cdcwire.extras import MissingExtraError
from cdcwire.schema_registry import ConfluentRegistry, RegistryError
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.containers import (
    LABEL,
    RUN_VARIABLE,
    KafkaContainer,
    MinioContainer,
    RegistryContainer,
    Service,
    ToxiproxyContainer,
    labelled,
    running,
    wait_for_kafka,
    wait_for_store,
)
from cdcwire_evidence.scenarios.everywhere import make_bucket
from cdcwire_evidence.scenarios.ledger import RESULTS_VARIABLE, record_not_run
from cdcwire_evidence.scenarios.services import (
    Kafka,
    NewName,
    NotRunError,
    ObjectStore,
    Registry,
    UseStore,
    given_kafka,
    given_registry,
    given_store,
    make_authority,
    make_certificate,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAMES = Path(__file__).parents[3] / "images" / "names"
_GIVEN_SECONDS = 10.0  # until a service that is given has to answer
_RESULT_SIZE = pytest.StashKey[int]()  # the size of the results before a scenario
_deselected: list[pytest.Item] = []


def pytest_sessionstart() -> None:
    """Forget the report of an earlier run, and choose a name for this run's containers."""
    results = os.environ.get(RESULTS_VARIABLE)
    if results:
        Path(results).unlink(missing_ok=True)
    os.environ.setdefault(RUN_VARIABLE, f"run-{os.getpid()}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that leaves a container running; containers of a killed run count elsewhere."""
    run = os.environ.get(RUN_VARIABLE)
    if not run or not os.environ.get("CDCWIRE_SCENARIOS") or not session.testscollected:
        return
    try:
        left = labelled(f"{LABEL}={run}") if _engine_answers() else []
    except MissingExtraError:  # nothing could start a container then
        return
    if left:
        print(f"\nleft behind: {', '.join(each.name for each in left)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Keep the scenarios that were not asked for; each option has a separate list."""
    _deselected.extend(item for item in items if Path(__file__).parent in item.path.parents)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Report how many scenarios were not asked for."""
    options = {"-m": session.config.option.markexpr, "-k": session.config.option.keyword}
    asked = " ".join(f"{name} {value}" for name, value in options.items() if value)
    if _deselected:
        reason = f"{len(_deselected)} scenarios were not asked for: {asked or 'deselected'}"
        record_not_run("deselected", "scenarios that were not asked for", reason)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember what was reported before this scenario."""
    item.stash[_RESULT_SIZE] = _size_of_results()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report that a scenario was skipped, and why, unless it reported that itself."""
    report = yield
    place = report.longrepr if report.skipped else None  # and reason; an xfail has no tuple
    if isinstance(place, tuple) and item.stash[_RESULT_SIZE] == _size_of_results():
        reason = place[2].removeprefix("Skipped: ")
        name = item.name.removeprefix("test_")
        record_not_run(f"{item.path.stem}/{name}", name.replace("_", " "), reason)
    return report


def _size_of_results() -> int:
    results = Path(os.environ.get(RESULTS_VARIABLE) or os.devnull)
    return results.stat().st_size if results.exists() else 0


def image_of(variable: str) -> str:
    """Return an image's name: as images/names gives it, the environment first."""
    for line in _NAMES.read_text("utf-8").splitlines():
        name, _, value = line.partition("=")
        if name == variable:
            given, _, default = value.removeprefix("${").removesuffix("}").partition(":-")
            return os.environ.get(given) or default
    raise KeyError(variable)


@pytest.fixture(name="image_of", scope="session")
def give_image_of() -> Callable[[str], str]:
    """The rule that gives an image's name, for scenarios that start containers themselves."""
    with _not_run():
        _need_engine("containers")
    return image_of


@contextmanager
def _started(service: Service, log: Path) -> Iterator[None]:
    with _not_run():
        _need_engine(f"a container of {service.image}")
        with running(service, log):
            yield


def _need_engine(what: str) -> None:
    """Leave a scenario out for which there is no engine, where services are given instead.

    Raises: NotRunError where none is given.
    """
    if _engine_answers():
        return
    if any((given_kafka(), given_store(), given_registry())):
        pytest.skip(f"no Docker engine answers, and this needs {what}")
    where = os.environ.get("DOCKER_HOST") or "the usual place"
    raise NotRunError(f"no Docker engine answers at {where}: images/engine start")


def _engine_answers() -> bool:
    docker = load_requirement("docker", "containers")
    where = urlsplit(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    if where.scheme == "unix":  # where nobody answers there, that package leaves a socket open
        with socket.socket(socket.AF_UNIX) as door:
            if door.connect_ex(where.path):
                return False
    try:
        with closing(docker.from_env()) as client:
            return bool(client.ping())
    except docker.errors.DockerException:
        return False


@contextmanager
def _not_run() -> Iterator[None]:
    """Say what can't be had here: it ends the run where scenarios are required."""
    try:
        yield
    except (NotRunError, MissingExtraError, RegistryError) as error:
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
        with _not_run():
            wait_for_kafka(given, f"CDCWIRE_KAFKA, {given.bootstrap},", _GIVEN_SECONDS)
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
) -> Iterator[tuple[ToxiproxyContainer, KafkaContainer]]:
    """A proxy and the broker that clients reach through it. Both may be broken."""
    proxy = ToxiproxyContainer(image_of("TOXIPROXY_IMAGE"))
    with _started(proxy, logs / f"{request.node.name}-proxy.log"):
        broker = KafkaContainer(image_of("KAFKA_IMAGE"), proxied=proxy.door)
        with _started(broker, logs / f"{request.node.name}.log"):
            proxy.lead_to(broker.behind_proxy)
            yield proxy, broker


@pytest.fixture(scope="session")
def store(logs: Path) -> Iterator[ObjectStore]:
    """An object store for scenarios that break nothing."""
    with _not_run():
        given = given_store()
        if given is not None:
            wait_for_store(given, f"CDCWIRE_S3, {given.endpoint},", _GIVEN_SECONDS)
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


@pytest.fixture(scope="session")
def registry(logs: Path) -> Iterator[Registry]:
    """A registry under BACKWARD for scenarios that break nothing."""
    with _not_run():
        given = given_registry()
        level = ConfluentRegistry(given.url).level() if given else "BACKWARD"
        if level != "BACKWARD":
            raise NotRunError(f"CDCWIRE_REGISTRY is under {level}, and not under BACKWARD")
    if given is not None:
        yield given
        return
    container = RegistryContainer(image_of("REGISTRY_IMAGE"))
    with _started(container, logs / "registry.log"):
        ConfluentRegistry(container.service.url).set_level("BACKWARD")
        yield container.service


@pytest.fixture
def own_registry(logs: Path, request: pytest.FixtureRequest) -> Iterator[RegistryContainer]:
    """A registry under BACKWARD that the scenario may kill: it keeps its schemas."""
    container = RegistryContainer(image_of("REGISTRY_IMAGE"), remembers=True)
    with _started(container, logs / f"{request.node.name}.log"):
        ConfluentRegistry(container.service.url).set_level("BACKWARD")
        yield container


@pytest.fixture(scope="session")
def tls_registry(
    logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RegistryContainer, Path]]:
    """A registry over HTTPS, as localhost, and the file of the authority that vouches for it."""
    authority, certificate = (tmp_path_factory.mktemp(name) for name in ("authority", "server"))
    with _not_run():
        ca_file = make_authority(authority)
        make_certificate(ca_file, certificate)
    container = RegistryContainer(image_of("REGISTRY_IMAGE"), certificate=certificate)
    with _started(container, logs / "tls-registry.log"):
        yield container, ca_file


@pytest.fixture
def toxiproxy(logs: Path, request: pytest.FixtureRequest) -> Iterator[ToxiproxyContainer]:
    """A proxy that leads nowhere yet."""
    proxy = ToxiproxyContainer(image_of("TOXIPROXY_IMAGE"))
    with _started(proxy, logs / f"{request.node.name}-proxy.log"):
        yield proxy


@pytest.fixture
def small_broker(logs: Path, request: pytest.FixtureRequest) -> Iterator[KafkaContainer]:
    """A broker whose disk gets full."""
    container = KafkaContainer(image_of("KAFKA_IMAGE"), disk_mib=16)
    with _started(container, logs / f"{request.node.name}.log"):
        yield container


@pytest.fixture
def small_store(logs: Path, request: pytest.FixtureRequest) -> Iterator[MinioContainer]:
    """An object store whose disk gets full."""
    container = MinioContainer(image_of("MINIO_IMAGE"), disk_mib=64)
    with _started(container, logs / f"{request.node.name}.log"):
        yield container


@pytest.fixture
def use_store(monkeypatch: pytest.MonkeyPatch) -> UseStore:
    """A function that lets fsspec and boto3 find a store by the environment."""

    def use(store: ObjectStore) -> None:
        for variable, value in store.environment.items():
            monkeypatch.setenv(variable, value)

    return use


@pytest.fixture
def bucket(store: ObjectStore, use_store: UseStore, new_name: NewName) -> str:
    """The URL of a new bucket, which fsspec and boto3 find by the environment."""
    use_store(store)
    return make_bucket(new_name("feed"))


@pytest.fixture
def new_name() -> NewName:
    """A rule that makes names of topics and buckets that nobody else has, no other run either."""
    return lambda stem: f"{stem}-{secrets.token_hex(4)}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A Spark session of this process, with its connectors for Kafka and S3."""
    from cdcwire_conformance.spark import SparkUnavailable, kafka_jars, s3a_jars, spark_session

    settings = {"spark.sql.shuffle.partitions": "2"}
    try:
        settings["spark.jars"] = f"{kafka_jars()},{s3a_jars()}"
        session = spark_session("local[2]", settings, "cdcwire-scenarios")
    except SparkUnavailable as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            pytest.exit(f"scenarios not run: {error}", returncode=2)
        pytest.skip(str(error))
    yield session
    session.stop()
