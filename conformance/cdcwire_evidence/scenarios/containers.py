"""The services in containers, on ports of loopback, by testcontainers' core.

The images have their official names (``images/names``); where no container registry answers,
``images/build`` makes stand-ins under these names. Each container has a label by which
``images/engine stop`` finds what a killed run has left behind; its value is the run's own name,
if the environment variable ``CDCWIRE_SCENARIO_RUN`` gives one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.services import Kafka, NotRunError, ObjectStore, Registry

LABEL = "io.cdcwire.scenario"
RUN_VARIABLE = "CDCWIRE_SCENARIO_RUN"
_START_SECONDS = 120.0
_HOST = "127.0.0.1"
_ACCESS_KEY, _SECRET_KEY = "minioadmin", "minioadmin"
_AGAIN_AND_AGAIN = (
    "shell=$(command -v bash || command -v sh); "
    "while :; do $shell /etc/kafka/docker/run; sleep 1; done"
)


class Container:
    """One container with fixed ports of loopback, so that it has them again after a restart."""

    def __init__(
        self,
        image: str,
        ports: tuple[int, ...],
        environment: dict[str, str] | None = None,
        command: list[str] | None = None,
    ) -> None:
        self.image = image
        self.ports = {port: free_port() for port in ports}  # inside: outside
        self.environment = environment or {}
        self.command = command
        self.folders: dict[Path, str] = {}  # outside: inside, where it can only be read
        self.disks: dict[str, int] = {}  # inside: MiB, of a disk in memory that goes with it
        self.has_own_network = True  # else that of this machine, and no ports inside
        self._running: Any = None

    def start(self) -> None:
        """Start it. Raises: NotRunError where there is no engine or no such image."""
        _settle_testcontainers()
        core = load_requirement("testcontainers.core.container", "containers")
        docker = load_requirement("docker.errors", "containers")
        types = load_requirement("docker.types", "containers")
        its_id = secrets.token_hex(8)
        try:
            made = core.DockerContainer(self.image)
            _refuse_missing(made, self.image)
            made.ports = {f"{port}/tcp": (_HOST, outside) for port, outside in self.ports.items()}
            for name, value in self.environment.items():
                made.with_env(name, value)
            if self.command is not None:
                made.with_command(self.command)
            for outside_folder, inside in self.folders.items():
                made.with_volume_mapping(str(outside_folder), inside, "ro")
            made.with_kwargs(
                network_mode=None if self.has_own_network else "host",
                labels={LABEL: os.environ.get(RUN_VARIABLE) or "true", f"{LABEL}.id": its_id},
                mounts=[
                    types.Mount(folder, None, type="tmpfs", tmpfs_size=size << 20)
                    for folder, size in self.disks.items()
                ],
            )
            self._running = made.start()
        except docker.APIError as error:
            _remove_unstarted(its_id)
            reason = str(error.explanation or error).splitlines()[0]
            raise NotRunError(f"no container of {self.image}: {reason}") from None
        except docker.DockerException:
            where = os.environ.get("DOCKER_HOST") or "the usual place"
            raise NotRunError(f"no Docker engine answers at {where}: images/engine start") from None

    def stop(self) -> None:
        """Remove it with all that it holds."""
        if self._running is not None:
            self._running.stop(force=True, delete_volume=True)
            self._running = None

    def kill(self) -> None:
        """End its program by SIGKILL; what it wrote stays."""
        self._wrapped.kill(signal="SIGKILL")
        self._wrapped.wait()

    def restart(self) -> None:
        """Start it again after ``kill``."""
        self._wrapped.start()

    def pause(self) -> None:
        """Stop its clock: it answers nobody, and refuses nobody."""
        self._wrapped.pause()

    def resume(self) -> None:
        """Let it go on after ``pause``."""
        self._wrapped.unpause()

    def run(self, *words: str) -> str:
        """Run a command inside and return what it wrote. Raises: OSError if it fails."""
        code, output = self._wrapped.exec_run(list(words))
        text: str = output.decode("utf-8", "replace")
        if code:
            raise OSError(f"{' '.join(words)}: exit code {code}: {text[-500:]}")
        return text

    def keep_log(self, file: Path) -> None:
        """Write what it has written."""
        if self._running is not None:
            file.write_bytes(self._wrapped.logs())

    @property
    def address_inside(self) -> str:
        """Its address for other containers."""
        self._wrapped.reload()
        found: str = self._wrapped.attrs["NetworkSettings"]["IPAddress"]
        return found

    @property
    def _wrapped(self) -> Any:
        return self._running.get_wrapped_container()


def _settle_testcontainers() -> None:
    # The engine is on this machine, whatever a file of a container says; and what a killed run
    # leaves behind is removed by its label, without one more image.
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
    os.environ.setdefault("TC_HOST", _HOST)


def labelled(label: str) -> list[Any]:
    """Return all containers that have a label, running or not; none where there is no engine."""
    docker = load_requirement("docker", "containers")
    try:
        with contextlib.closing(docker.from_env()) as client:
            return list(client.containers.list(all=True, filters={"label": label}))
    except docker.errors.DockerException:
        return []


def _remove_unstarted(its_id: str) -> None:
    """Remove a container that was made and could not be started, as where its port is taken."""
    for each in labelled(f"{LABEL}.id={its_id}"):
        each.remove(v=True, force=True)


def _refuse_missing(container: Any, image: str) -> None:
    errors = load_requirement("docker.errors", "containers")
    try:
        container.get_docker_client().client.images.get(image)
    except errors.ImageNotFound:
        raise NotRunError(f"there is no image {image}: images/build makes it") from None


class KafkaContainer(Container):
    """One broker in KRaft mode. ``proxied``: HOST:PORT by which it is reached through a proxy.

    ``disk_mib``: its log is on a disk of that size. A broker ends when its disk is full; this one
    is started again then, in the same container, as long as that lives.
    """

    INSIDE = 9092
    _BEHIND_PROXY = 9095
    LOG = "/tmp/kraft-combined-logs"

    def __init__(
        self,
        image: str,
        proxied: str | None = None,
        settings: dict[str, str] | None = None,
        disk_mib: int | None = None,
    ) -> None:
        super().__init__(image, (self.INSIDE,))
        if disk_mib is not None:
            self.command = ["sh", "-c", _AGAIN_AND_AGAIN]
            self.disks = {self.LOG: disk_mib}
        reached = f"{_HOST}:{self.ports[self.INSIDE]}"
        self.service = Kafka(reached)
        listeners = ["PLAINTEXT://:9092", "BROKER://:9093", "CONTROLLER://:9094"]
        advertised = [f"PLAINTEXT://{reached}", "BROKER://localhost:9093"]
        names = ["PLAINTEXT", "BROKER", "CONTROLLER"]
        if proxied is not None:
            listeners.append(f"PROXIED://:{self._BEHIND_PROXY}")
            advertised.append(f"PROXIED://{proxied}")
            names.append("PROXIED")
        given = {
            "NODE_ID": "1",
            "PROCESS_ROLES": "broker,controller",
            "LISTENERS": ",".join(listeners),
            "ADVERTISED_LISTENERS": ",".join(advertised),
            "LISTENER_SECURITY_PROTOCOL_MAP": ",".join(f"{name}:PLAINTEXT" for name in names),
            "INTER_BROKER_LISTENER_NAME": "BROKER",
            "CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "CONTROLLER_QUORUM_VOTERS": "1@localhost:9094",
            "OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
            "OFFSETS_TOPIC_NUM_PARTITIONS": "1",
            "TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
            "TRANSACTION_STATE_LOG_MIN_ISR": "1",
            "TRANSACTION_STATE_LOG_NUM_PARTITIONS": "1",
            "GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
            "AUTO_CREATE_TOPICS_ENABLE": "false",
            "LOG_DIRS": self.LOG,
        }
        given.update(settings or {})
        self.environment = {f"KAFKA_{name}": value for name, value in given.items()}

    def wait(self) -> None:
        """Wait until it answers. Raises: NotRunError."""
        wait_for_kafka(self.service, self.image)

    @property
    def behind_proxy(self) -> str:
        """HOST:PORT by which the proxy's container reaches it now."""
        return f"{self.address_inside}:{self._BEHIND_PROXY}"


class MinioContainer(Container):
    """One MinIO that keeps its objects inside the container, or on a disk of ``disk_mib``."""

    def __init__(self, image: str, disk_mib: int | None = None) -> None:
        super().__init__(image, (9000,), command=["server", "/data", "--address", ":9000"])
        self.disks = {} if disk_mib is None else {"/data": disk_mib}
        self.environment = {"MINIO_ROOT_USER": _ACCESS_KEY, "MINIO_ROOT_PASSWORD": _SECRET_KEY}
        endpoint = f"http://{_HOST}:{self.ports[9000]}"
        self.service = ObjectStore(endpoint, _ACCESS_KEY, _SECRET_KEY)

    def wait(self) -> None:
        """Wait until it is ready. Raises: NotRunError."""
        url = f"{self.service.endpoint}/minio/health/ready"
        _wait_for(lambda: _status(url) == 200, self.image)
        # It says that it is ready before it takes requests.
        _wait_for(lambda: _lists_buckets(self.service), self.image)


class RegistryContainer(Container):
    """One Apicurio Registry, which speaks Confluent's interface too.

    ``remembers``: its data survives ``kill`` and ``restart``; else it is in
    memory only. ``certificate``: a folder with ``server.pem`` and ``server.key``, by which it
    answers over HTTPS too, as ``localhost``.
    """

    OPEN, SECURE = 8080, 8443
    _CERTIFICATE = "/certificate"

    def __init__(
        self, image: str, *, remembers: bool = False, certificate: Path | None = None
    ) -> None:
        super().__init__(image, (self.OPEN,) if certificate is None else (self.OPEN, self.SECURE))
        root = "/apis/ccompat/v7"
        self.service = Registry(f"http://{_HOST}:{self.ports[self.OPEN]}{root}")
        self.secure: Registry | None = None
        self.environment = {"JAVA_TOOL_OPTIONS": "-Xmx400m -XX:TieredStopAtLevel=1"}
        if remembers:
            url = "jdbc:h2:file:/tmp/registry;WRITE_DELAY=0"
            self.environment["APICURIO_DATASOURCE_URL"] = url
        if certificate is not None:
            self.secure = Registry(f"https://localhost:{self.ports[self.SECURE]}{root}")
            self.folders[certificate] = self._CERTIFICATE
            name = "QUARKUS_HTTP_SSL_CERTIFICATE"
            self.environment[f"{name}_FILES"] = f"{self._CERTIFICATE}/server.pem"
            self.environment[f"{name}_KEY_FILES"] = f"{self._CERTIFICATE}/server.key"

    def wait(self) -> None:
        """Wait until it answers. Raises: NotRunError."""
        _wait_for(lambda: _status(f"{self.service.url}/subjects") == 200, self.image)


class ToxiproxyContainer(Container):
    """A proxy that slows and cuts connections to a service in another container."""

    _CONTROL, _DOOR = 8474, 8666

    def __init__(self, image: str) -> None:
        super().__init__(image, (self._CONTROL, self._DOOR))
        self.door = f"{_HOST}:{self.ports[self._DOOR]}"

    def wait(self) -> None:
        """Wait until it takes requests. Raises: NotRunError."""
        _wait_for(lambda: _status(f"{self._url}/proxies") == 200, self.image)

    def lead_to(self, upstream: str) -> None:
        """Make its door the way to HOST:PORT, as containers reach it, and no other any more."""
        way = {"name": "way", "listen": f"0.0.0.0:{self._DOOR}", "upstream": upstream}
        self._tell("POST", "/populate", [{**way, "enabled": True}])

    def add(self, kind: str, stream: str = "downstream", **attributes: int) -> None:
        """Add a toxic, such as latency or reset_peer, under its kind's name."""
        toxic = {"name": f"{kind}-{stream}", "type": kind, "stream": stream}
        self._tell("POST", "/proxies/way/toxics", {**toxic, "attributes": attributes})

    def remove(self, kind: str, stream: str = "downstream") -> None:
        """Remove a toxic."""
        self._tell("DELETE", f"/proxies/way/toxics/{kind}-{stream}", None)

    def open(self, is_open: bool) -> None:
        """Cut all connections and refuse new ones, or take them again."""
        self._tell("POST", "/proxies/way", {"enabled": is_open})

    @property
    def _url(self) -> str:
        return f"http://{_HOST}:{self.ports[self._CONTROL]}"

    def _tell(self, method: str, path: str, body: object) -> None:
        urllib3 = load_requirement("urllib3", "toxiproxy")
        with urllib3.PoolManager(retries=False, timeout=10.0) as pool:
            answer = pool.request(method, self._url + path, json=body)
        if answer.status >= 300:
            raise OSError(f"toxiproxy answers {answer.status} to {method} {path}")


def wait_for_kafka(kafka: Kafka, name: str, seconds: float = _START_SECONDS) -> None:
    """Wait until a broker answers. Raises: NotRunError, which calls it by its name."""
    admin = load_requirement("confluent_kafka.admin", "Kafka")
    errors = load_requirement("confluent_kafka", "Kafka")
    client = admin.AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})

    def answers() -> bool:
        try:
            return bool(client.list_topics(timeout=2).brokers)
        except errors.KafkaException:
            return False

    _wait_for(answers, name, seconds)


def wait_for_store(store: ObjectStore, name: str, seconds: float = _START_SECONDS) -> None:
    """Wait until an object store answers, whatever it says. Raises: NotRunError."""
    _wait_for(lambda: _status(f"{store.endpoint}/") > 0, name, seconds)


def _lists_buckets(store: ObjectStore) -> bool:
    boto3 = load_requirement("boto3", "containers")
    config = load_requirement("botocore.config", "containers")
    errors = load_requirement("botocore.exceptions", "containers")
    client = boto3.client(
        "s3",
        endpoint_url=store.endpoint,
        aws_access_key_id=store.access_key,
        aws_secret_access_key=store.secret_key,
        region_name="us-east-1",
        config=config.Config(retries={"max_attempts": 0}),
    )
    try:
        client.list_buckets()
    except (errors.BotoCoreError, errors.ClientError):
        return False
    return True


def _status(url: str) -> int:
    urllib3 = load_requirement("urllib3", "containers")
    errors = load_requirement("urllib3.exceptions", "containers")
    try:
        with urllib3.PoolManager(retries=False, timeout=2.0) as pool:
            found: int = pool.request("GET", url).status
            return found
    except errors.HTTPError:
        return 0


def _wait_for(is_ready: Callable[[], bool], name: str, seconds: float = _START_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > end:
            raise NotRunError(f"{name} does not answer within {seconds:g} s")
        time.sleep(0.2)


Service: TypeAlias = "KafkaContainer | MinioContainer | RegistryContainer | ToxiproxyContainer"


@contextlib.contextmanager
def running(container: Service, log: Path) -> Iterator[None]:
    """Start a container and wait for it; at the end keep its log and remove it."""
    try:
        container.start()
        container.wait()
        yield
    finally:
        container.keep_log(log)
        container.stop()
