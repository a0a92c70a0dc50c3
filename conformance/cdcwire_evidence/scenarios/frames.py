"""Topics for Spark to read, and what a DataFrame has of each message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cdcwire.core.message import KafkaMessage
from cdcwire_evidence.scenarios.services import Kafka
from cdcwire_evidence.scenarios.topics import make_topic, produce

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def topic_of(kafka: Kafka, topic: str, partitions: Sequence[Sequence[KafkaMessage]]) -> str:
    """Make a topic, send each list of messages to its partition, and return the topic's URL.

    Raises: OSError if the broker refuses a message.
    """
    make_topic(kafka, topic, len(partitions))
    for partition, messages in enumerate(partitions):
        refused = produce(kafka, topic, messages, partition)
        if refused:
            raise OSError(f"{topic}: message {refused[0].number} is refused: {refused[0].reason}")
    return f"kafka://{kafka.bootstrap}/{topic}"


def rows_by_message(frame: DataFrame, place_of: Callable[[Any], Any]) -> dict[Any, list[str]]:
    """Return the rows of a decoded frame, without their source, by the message that had them."""
    found: dict[Any, list[str]] = {}
    for row in frame.collect():
        known = {name: value for name, value in row.asDict().items() if name != "source"}
        found.setdefault(place_of(row["source"]), []).append(repr(known))
    return found
