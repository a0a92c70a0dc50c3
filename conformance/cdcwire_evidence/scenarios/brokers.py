"""Three brokers, each a container that can be killed, in one cluster."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.containers import Container, wait_for_kafka
from cdcwire_evidence.scenarios.services import Kafka
from cdcwire_evidence.scenarios.topics import FeedTimeoutError

_HOST = "127.0.0.1"
_SECONDS = 180.0


class Broker(Container):
    """A broker that is a controller too. It uses the network of this machine, on loopback."""

    def __init__(self, image: str, number: int, voters: Mapping[int, int]) -> None:
        super().__init__(image, ())
        self.has_own_network = False
        self.number = number
        own = f"PLAINTEXT://{_HOST}:{free_port()}"
        self.service = Kafka(own.partition("//")[2])
        given = {
            "NODE_ID": str(number),
            "PROCESS_ROLES": "broker,controller",
            "LISTENERS": f"{own},CONTROLLER://{_HOST}:{voters[number]}",
            "ADVERTISED_LISTENERS": own,
            "LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "INTER_BROKER_LISTENER_NAME": "PLAINTEXT",
            "CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "CONTROLLER_QUORUM_VOTERS": ",".join(
                f"{each}@{_HOST}:{port}" for each, port in voters.items()
            ),
            "OFFSETS_TOPIC_REPLICATION_FACTOR": "3",
            "OFFSETS_TOPIC_NUM_PARTITIONS": "1",
            "TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "3",
            "TRANSACTION_STATE_LOG_MIN_ISR": "2",
            "TRANSACTION_STATE_LOG_NUM_PARTITIONS": "1",
            "GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
            "AUTO_CREATE_TOPICS_ENABLE": "false",
            "LOG_DIRS": "/tmp/kraft-combined-logs",
        }
        self.environment = {f"KAFKA_{name}": value for name, value in given.items()}


@dataclass(frozen=True, slots=True)
class Partition:
    """The brokers of a partition: its leader, -1 for none, and those with all its messages."""

    leader: int
    in_sync: frozenset[int]


class BrokerCluster:
    """The brokers 1 to 3."""

    def __init__(self, image: str) -> None:
        voters = {number: free_port() for number in (1, 2, 3)}
        self.image = image
        self.brokers = {number: Broker(image, number, voters) for number in voters}
        self.service = Kafka(",".join(each.service.bootstrap for each in self.brokers.values()))

    def make_topic(self, name: str, replicas: Sequence[int], settings: Mapping[str, str]) -> None:
        """Create a topic of one partition on these brokers; the first leads it."""
        admin = load_requirement("confluent_kafka.admin", "Kafka")
        client = admin.AdminClient({"bootstrap.servers": self.service.bootstrap, "log_level": 0})
        assigned = [list(replicas)]
        topic = admin.NewTopic(name, 1, replica_assignment=assigned, config=dict(settings))
        client.create_topics([topic])[name].result(timeout=60)
        self.wait_for(name, replicas[0], replicas)

    def partition(self, topic: str) -> Partition:
        """Return the state of a topic's partition as the brokers report it."""
        admin = load_requirement("confluent_kafka.admin", "Kafka")
        errors = load_requirement("confluent_kafka", "Kafka")
        client = admin.AdminClient({"bootstrap.servers": self.service.bootstrap, "log_level": 0})
        try:
            found = client.list_topics(topic, timeout=10).topics[topic].partitions.get(0)
        except errors.KafkaException:
            found = None
        if found is None:
            return Partition(-1, frozenset())
        return Partition(found.leader, frozenset(found.isrs))

    def wait_for(self, topic: str, leader: int | None, in_sync: Sequence[int]) -> Partition:
        """Wait until this broker leads and these are in sync. ``leader``: None for any of these.

        Raises: FeedTimeoutError.
        """
        end = time.monotonic() + _SECONDS
        while True:
            found = self.partition(topic)
            is_led = found.leader == leader or (leader is None and found.leader in in_sync)
            if is_led and found.in_sync == set(in_sync):
                return found
            if time.monotonic() > end:
                raise FeedTimeoutError(f"{topic}: {found} after {_SECONDS:g} s")
            time.sleep(0.2)


@contextlib.contextmanager
def running_brokers(image: str, logs: Path, name: str) -> Iterator[BrokerCluster]:
    """Start three brokers and wait for them; at the end keep their logs and remove them.

    Raises: NotRunError.
    """
    cluster = BrokerCluster(image)
    with contextlib.ExitStack() as stack:
        for number, broker in cluster.brokers.items():
            stack.callback(broker.stop)
            stack.callback(broker.keep_log, logs / f"{name}-{number}.log")
            broker.start()
        for broker in cluster.brokers.values():
            wait_for_kafka(broker.service, image, 2 * _SECONDS)
        yield cluster
