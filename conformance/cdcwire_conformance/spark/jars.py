"""Spark's connector for Kafka, which PySpark does not bring: fetched once, named by ``spark.jars``.

A session needs it from its start. ``spark_session(conf={"spark.jars": kafka_jars()})`` has it, and
``cdcwire compare`` does the same by itself. Where Spark is set up by others, as on a cluster, they
give their own: by ``spark.jars``, ``spark.jars.packages``, or among the jars of the installation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from cdcwire_conformance.maven import Artifact, FetchError, cache_folder, fetch_all
from cdcwire_conformance.spark.session import SparkUnavailable

# The connector serves all of Spark 4.1. Before 4.1.3 a stream that was killed between a batch and
# its commit failed once at its next start (SPARK-55271).
SPARK_VERSION = "4.1.3"
KAFKA_CONNECTOR = (
    Artifact(
        "org.apache.spark",
        "spark-sql-kafka-0-10_2.13",
        SPARK_VERSION,
        "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
    ),
    # Not every repository has a later one; its interface has not changed.
    Artifact(
        "org.apache.spark",
        "spark-token-provider-kafka-0-10_2.13",
        "4.0.0",
        "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
    ),
    Artifact(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.1",
        "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
    ),
    Artifact(
        "org.apache.commons",
        "commons-pool2",
        "2.12.1",
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    ),
)
HOW_TO_HAVE_IT = (
    'start the session with {"spark.jars": kafka_jars()}, or give spark.jars or '
    f"spark.jars.packages with {KAFKA_CONNECTOR[0]}"
)

_GIVEN_BY = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")


def kafka_jars() -> str:
    """Return the connector's files as ``spark.jars`` has them; they are fetched the first time.

    Raises: SparkUnavailable where they can't be had.
    """
    folder = cache_folder() / f"spark-{SPARK_VERSION}-kafka"
    try:
        found = fetch_all(KAFKA_CONNECTOR, folder)
    except FetchError as error:
        raise SparkUnavailable(
            f"Spark's connector for Kafka is missing: {error}; or give your own by --conf "
            "spark.jars=FILE,FILE"
        ) from error
    return ",".join(str(file.absolute()) for file in found)


def with_kafka_jars(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a session's settings with the connector, unless somebody gives it already.

    Raises: SparkUnavailable as ``kafka_jars`` does.
    """
    if is_submitted() or has_own_connector() or any(name in settings for name in _GIVEN_BY):
        return dict(settings)
    return {**settings, "spark.jars": kafka_jars()}


def is_submitted() -> bool:
    """Return whether ``spark-submit`` has started Java, so that its jars are chosen already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def has_own_connector() -> bool:
    """Return whether the installation of Spark has a connector for Kafka among its jars."""
    home = os.environ.get("SPARK_HOME")
    spec = None if home else find_spec("pyspark")
    folders = [home] if home else list((spec and spec.submodule_search_locations) or ())
    pattern = "jars/spark-sql-kafka-0-10_*.jar"
    return any(found for folder in folders for found in Path(folder).glob(pattern))
