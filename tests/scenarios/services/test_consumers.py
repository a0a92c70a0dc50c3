"""The consumers of the page "In a Kafka consumer", and those with deserializers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import cdcwire
from cdcwire.core.message import KafkaMessage
from cdcwire.kafka import ValueDeserializer
from cdcwire.schema_registry import ConfluentRegistry, open_schemas
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.containers import RegistryContainer
from cdcwire_evidence.scenarios.feeds import (
    OPTIONS,
    carried_by_avro,
    make_changes,
    make_feed,
    messages_of,
)
from cdcwire_evidence.scenarios.ledger import ScenarioResult, count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import make_topic, produce

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "kafka-consumer.md"
FORMAT = "maxwell-json"
ROWS = 50
FROZEN_SECONDS = 3.0
BROKEN = KafkaMessage(b"k", b'{"database":')
TOMBSTONE = KafkaMessage(b"k", None)

pytestmark = [
    pytest.mark.quick,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:importlib.resources"),
    pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning"),
]


class Enough(Exception):
    """Ends an example, which would wait for more changes."""


class Printed(list[object]):
    """Takes what an example prints, until it has all changes."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def __call__(self, change: object) -> None:
        self.append(change)
        if len(self) == self.wanted:
            raise Enough


def example(library: str, kafka: Kafka, topic: str) -> str:
    """Return the example of the page that is introduced by the name of a library."""
    after = PAGE.read_text(encoding="utf-8").partition(f"\nWith {library}")[2]
    code = after.partition("```python\n")[2].partition("```")[0]
    assert "localhost:9092" in code
    assert '"orders"' in code
    return code.replace("localhost:9092", kafka.bootstrap).replace('"orders"', f'"{topic}"')


def run_loop(names: dict[str, Any], code: str) -> None:
    with pytest.raises(Enough):
        exec(code, names)
    names["consumer"].close()


def run_asyncio(names: dict[str, Any], code: str) -> None:
    exec(code, names)
    with pytest.raises(Enough):
        asyncio.run(names["consume"]())


def run_faststream(names: dict[str, Any], code: str) -> None:
    async def run() -> None:
        await names["broker"].start()
        while len(printed) < printed.wanted:
            await asyncio.sleep(0.05)
        await names["broker"].stop()

    printed = names["print"]
    names["print"] = printed.append
    exec(code, names)
    asyncio.run(asyncio.wait_for(run(), 180))


EXAMPLES: dict[str, tuple[str, Callable[[dict[str, Any], str], None]]] = {
    "confluent-kafka": ("confluent_kafka", run_loop),
    "kafka-python": ("kafka", run_loop),
    "aiokafka": ("aiokafka", run_asyncio),
    "FastStream": ("faststream.kafka", run_faststream),
}


@pytest.mark.parametrize("library", list(EXAMPLES))
def test_example_of_the_page_gives_every_change(
    kafka: Kafka, new_name: NewName, library: str
) -> None:
    with recorded(
        f"consumers/page-{library}",
        f"the example of the page for {library}",
        "The code of the page reads a topic. It prints every change once, in order.",
    ) as result:
        module, run = EXAMPLES[library]
        load_requirement(module, library)
        feed, topic = make_feed(FORMAT, ROWS), new_name("page")
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages) == []
        decoder = cdcwire.Decoder(FORMAT, rows=dict)
        wanted = list(decoder.iter(feed.messages))
        printed = Printed(len(wanted))
        run({"decoder": decoder, "print": printed}, example(library, kafka, topic))
        compare(result, wanted, printed)


def compare(result: ScenarioResult, wanted: list[Any], got: list[Any]) -> None:
    result.counts = count({0: list(map(repr, wanted))}, {0: list(map(repr, got))})
    assert got == wanted
    assert result.counts.is_exact


def confluent_reader(kafka: Kafka, topic: str, deserialize: object) -> Any:
    client = load_requirement("confluent_kafka", "Kafka")
    settings = {"bootstrap.servers": kafka.bootstrap, "group.id": topic, "log_level": 0}
    settings["auto.offset.reset"] = "earliest"
    reader = client.DeserializingConsumer({**settings, "value.deserializer": deserialize})
    reader.subscribe([topic])
    return reader


def by_confluent(kafka: Kafka, topic: str, deserialize: object, records: int) -> list[Any]:
    with closing(confluent_reader(kafka, topic, deserialize)) as reader:
        return [reader.poll(60).value() for _ in range(records)]


def by_kafka_python(kafka: Kafka, topic: str, deserialize: object, records: int) -> list[Any]:
    client = load_requirement("kafka", "kafka-python")
    settings = {"bootstrap_servers": kafka.bootstrap, "auto_offset_reset": "earliest"}
    reader = client.KafkaConsumer(topic, value_deserializer=deserialize, **settings)
    with closing(reader):
        return [record.value for record in islice(reader, records)]


def by_aiokafka(kafka: Kafka, topic: str, deserialize: object, records: int) -> list[Any]:
    client = load_requirement("aiokafka", "aiokafka")
    settings = {"bootstrap_servers": kafka.bootstrap, "auto_offset_reset": "earliest"}

    async def read() -> list[Any]:
        reader = client.AIOKafkaConsumer(topic, value_deserializer=deserialize, **settings)
        async with reader:
            return [(await reader.getone()).value for _ in range(records)]

    return asyncio.run(read())


CLIENTS = {
    "confluent-kafka": by_confluent,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}


@pytest.mark.parametrize("name", list(CLIENTS))
def test_deserializer_gives_every_change(kafka: Kafka, new_name: NewName, name: str) -> None:
    with recorded(
        f"consumers/deserializer-{name}",
        f"a deserializer in a consumer of {name}",
        "The values of the records are lists of changes. A broken record gives an empty list, and "
        "the records after it come.",
    ) as result:
        feed, topic = make_feed(FORMAT, ROWS), new_name("deserializer")
        messages = [*feed.messages[:20], BROKEN, TOMBSTONE, *feed.messages[20:]]
        make_topic(kafka, topic)
        assert produce(kafka, topic, messages) == []
        decoder = cdcwire.Decoder(FORMAT, rows=dict, on_error="skip")
        wanted = [
            decoder.decode(KafkaMessage(None, each.value, has_key=False)) for each in messages
        ]
        got = CLIENTS[name](kafka, topic, ValueDeserializer(decoder), len(wanted))
        assert got[20] == []
        compare(result, wanted, got)


def test_confluent_goes_on_after_a_record_that_its_deserializer_refuses(
    kafka: Kafka, new_name: NewName
) -> None:
    errors = load_requirement("confluent_kafka.error", "Kafka")
    topic = new_name("deserializer")
    make_topic(kafka, topic)
    assert produce(kafka, topic, [BROKEN, TOMBSTONE]) == []
    deserialize = ValueDeserializer(cdcwire.Decoder(FORMAT))
    with closing(confluent_reader(kafka, topic, deserialize)) as reader:
        with pytest.raises(errors.ValueDeserializationError) as caught:
            reader.poll(60)
        assert isinstance(caught.value.exception, cdcwire.DecodeError)
        assert reader.poll(60).value() == deserialize(None)


async def first_changes(
    kafka: Kafka, topic: str, decoder: cdcwire.Decoder[Any], wanted: int
) -> list[Any]:
    """Read a topic with aiokafka, up to some changes."""
    client = load_requirement("aiokafka", "aiokafka")
    settings = {"bootstrap_servers": kafka.bootstrap, "auto_offset_reset": "earliest"}
    found: list[Any] = []
    async with client.AIOKafkaConsumer(topic, **settings) as reader:
        async for change in decoder.aiter(reader):
            found.append(change)
            if len(found) == wanted:
                break
    return found


def test_other_tasks_go_on_while_a_registry_is_frozen(
    kafka: Kafka, own_registry: RegistryContainer, new_name: NewName
) -> None:
    with recorded(
        "consumers/frozen-registry",
        "an asyncio consumer of Avro, and a registry that freezes",
        "The registry does not answer when the consumer needs the first schemas. Another task "
        "goes on meanwhile. When the registry answers, the consumer gets every change.",
    ) as result:
        (sent,), topic = make_changes(ROWS), new_name("frozen")
        make_topic(kafka, topic)
        url = own_registry.service.url
        assert produce(kafka, topic, messages_of(sent, topic, ConfluentRegistry(url))) == []
        decoder = cdcwire.Decoder("avro", options=OPTIONS, schemas=open_schemas(url))

        async def read_and_beat() -> tuple[list[Any], float]:
            reading = asyncio.create_task(first_changes(kafka, topic, decoder, len(sent)))
            beats = [monotonic()]
            while beats[-1] - beats[0] < FROZEN_SECONDS:
                await asyncio.sleep(0.01)
                beats.append(monotonic())
            assert not reading.done()
            await asyncio.to_thread(own_registry.resume)
            got = await asyncio.wait_for(reading, 180)
            return got, max(after - before for before, after in pairwise(beats))

        own_registry.pause()
        got, longest = asyncio.run(read_and_beat())
        result.figures = {"longest pause of the other task, seconds": round(longest, 2)}
        compare(result, list(map(carried_by_avro, sent)), list(map(carried_by_avro, got)))
        assert longest < FROZEN_SECONDS / 2
