"""Spark's connectors for Kafka and S3, which PySpark does not bring: fetched once, by their sums.

A session needs them from its start. ``spark_session(conf={"spark.jars": kafka_jars()})`` has one,
and ``cdcwire compare`` does the same by itself. Where Spark is set up by others, as on a cluster,
they give their own: by ``spark.jars``, ``spark.jars.packages``, or among the installation's jars.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

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

# The S3A file system has to be of the Hadoop that is in PySpark's own jars. It wants the AWS SDK,
# of which these are the parts that it needs; what Spark has itself is left out.
HADOOP_VERSION = "3.4.2"
_AWS_VERSION = "2.29.52"
_AWS_PARTS = """
annotations 8cd8bd8afd7eca5a367f69fd87427f6d9f3e7d359962122da24d71f1963f00cd
apache-client c96494be30ecac6f0ab7a35fdd91a4c77ca8a5daf62f3d9d84644ef0f0524dc6
arns f5a4d1d9b4e4fc63c9bda49bcf1c59d23fd876b276c6b43aaca12969337303a6
auth 4d8143b6198dc7a530c2ccdd813129c132b96736086c0d4fea85480b9bdbc5fe
aws-core eb560c064fbaac7e2e7f4a77ac343d3083bea0d7f6e2c69ba022d3f3e859be90
aws-query-protocol 1b117672963ee5059c45f2aadb110f191b578d108d8f08d7c7a59e6c0b098a8e
aws-xml-protocol daf87b429373ad586d165003b5b1d4fe498c6472eb65ec9a9e2aa7d56f3917dd
checksums bca99ff25c9b917d6be03e5dce78ad5328e7dca485e96024fa8476e4192a800a
checksums-spi 21193b9b648843dcaff493f0dd80abab9ee6871b203b9218120554698d8f7b8a
crt-core 4e1f33de21b688695fec91b977ddfa99e9d376edcbad06a62b0c138c60b37de4
endpoints-spi e54f246c668d70b55cffe0c8fad18d4465e74e22db75139918bd30610093d1e6
http-auth d8aa3bd376aaec7196396e65fe8755f1fdd169e51357f8128ecdc7d23a687450
http-auth-aws 7ae124e81ac0c2860bb61fdde34a388dbe823fef8509dd46a6bec805ada90308
http-auth-aws-eventstream 565a4aacce955c5ffaed551f6faaaa958e9e92b2f8514c8482f664edb2bab576
http-auth-spi 7a2168c5a7baa856d7ae9f9c4f7522d2db9f1361108c38f5b6ece66f249e6a2d
http-client-spi 8ea61ce3b527779fbfe119e0775c4b7cfdf274a979b1e50596a634685a5b6542
identity-spi 85104635abf9e5c044aaf7f8951b63efc2ef82051b5ee303571ee2e1fd8b46d0
json-utils 2652cdb3668311bcff6e643c8612b9fea266423ae1ce33743c84dd7f77904311
metrics-spi 1db2e3da338148ee40a716e1733c9a5b99e9e6daa4db3aa8bd7e718adafa2510
netty-nio-client 07238668c9cf54531ee269fd6e2a1e2650fb75d6774d401f406c2a14f26af654
profiles fef84619d101838ba45f48d0caddb09a85d9ed8bf869095bd7d2064796856cf7
protocol-core 7b32e41a3743b422d2edec1670f60b4c1e512fcd5ab7a53fef20742d6b9104d1
regions 5ee0e26277c679ffa70d83923b0d5f77a53066ecde8610f28be1856947d60eaf
retries ca3752ba31399721980c6398992921ff5aa164e084b4c14484333df58c76a353
retries-spi a4218ea742fc9e07a620629d7a258bfd92b8ea3ef75f1b99193d0898ca3efe99
s3 abaedea7e68063e9c4ab090f80d14b9884c57b50953bfe6e5acaa23025609efa
s3-transfer-manager 0c9e654637247187a7e2494eb7a8799477a772a7d554cd3ae787cd3e3bae3c55
sdk-core ea8e9856569f85075a8a806d0481c4bd848c98b24fd6d706fc0b5883fc4604dc
sts 6495d0457f4e4c3724d8c9c5fe4f6f98c9530a22f92449c4cca5fd03622e4edb
third-party-jackson-core eaece3eb60beb8ec09d8a4f48d5bff4110010b03cc23688bdcf2af2eb075cac6
utils f150a38f2fec14ced2de6459bfe804f647c88baa573b218646ef89b436a29d42
"""
S3A_CONNECTOR = (
    Artifact(
        "org.apache.hadoop",
        "hadoop-aws",
        HADOOP_VERSION,
        "d2d24e6b715b5656b9d238bf13b6682a07e2004dd36aad74a73aeb854319f4d9",
    ),
    Artifact(
        "software.amazon.eventstream",
        "eventstream",
        "1.0.1",
        "0c37d8e696117f02c302191b8110b0d0eb20fa412fce34c3a269ec73c16ce822",
    ),
    Artifact(
        "org.reactivestreams",
        "reactive-streams",
        "1.0.4",
        "f75ca597789b3dac58f61857b9ac2e1034a68fa672db35055a8fb4509e325f28",
    ),
    *(
        Artifact("software.amazon.awssdk", name, _AWS_VERSION, sha256)
        for name, sha256 in map(str.split, _AWS_PARTS.strip().splitlines())
    ),
)

# Iceberg names the Spark that it was built for; Spark 4.1 runs it too.
TABLE_CONNECTORS: Mapping[str, tuple[Artifact, ...]] = {
    "delta": (
        Artifact(
            "io.delta",
            "delta-spark_4.1_2.13",
            "4.1.0",
            "9b05d7a82196ee1f1073733a45a2faae59161e52b86ae918fe6742fad6eaf036",
        ),
        Artifact(
            "io.delta",
            "delta-storage",
            "4.1.0",
            "6d0520ffcc35b582369f92c23fa24e14a5bb935cf6e31ed7f47c5046ae17cb25",
        ),
    ),
    "iceberg": (
        Artifact(
            "org.apache.iceberg",
            "iceberg-spark-runtime-4.0_2.13",
            "1.10.0",
            "0480f1248e0a8b50ae2a730d7ad3e1a727351c362ca63f4a0c35182087a49323",
        ),
    ),
    "mariadb": (
        Artifact(
            "org.mariadb.jdbc",
            "mariadb-java-client",
            "3.5.3",
            "85c4ba2f221d0dfd439c26affbb294f784960763544263c65aba9c2c76858706",
        ),
    ),
    "postgresql": (
        Artifact(
            "org.postgresql",
            "postgresql",
            "42.7.5",
            "69020b3bd20984543e817393f2e6c01a890ef2e37a77dd11d6d8508181d079ab",
        ),
    ),
}

# Delta reads a table only in a session with these.
_TABLE_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
}

_GIVEN_BY = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_OWN_KAFKA = "jars/spark-sql-kafka-0-10_*.jar"
_OWN_S3A = "jars/hadoop-aws-*.jar"


Report: TypeAlias = "Callable[[str], None]"


def _silent(text: str) -> None:
    pass


def kafka_jars(report: Report = _silent) -> str:
    """Return the connector for Kafka as ``spark.jars`` has it; it is fetched the first time.

    ``report`` is called with a line before anything is fetched.
    Raises: SparkUnavailable where it can't be had.
    """
    folder = f"spark-{SPARK_VERSION}-kafka"
    return _fetched(KAFKA_CONNECTOR, folder, "connector for Kafka", report)


def s3a_jars(report: Report = _silent) -> str:
    """Return the file system ``s3a://`` as ``spark.jars`` has it; it is fetched the first time.

    ``report`` is called with a line before anything is fetched. With Kafka:
    ``f"{kafka_jars()},{s3a_jars()}"``.
    Raises: SparkUnavailable where it can't be had, or would not fit Spark's Hadoop.
    """
    for file in _own_jars("jars/hadoop-client-api-*.jar"):
        version = file.stem.removeprefix("hadoop-client-api-")
        if version != HADOOP_VERSION:
            raise SparkUnavailable(
                f"Spark's Hadoop is {version}, and s3a:// is here for {HADOOP_VERSION}: give "
                f"org.apache.hadoop:hadoop-aws:{version} by spark.jars.packages"
            )
    return _fetched(S3A_CONNECTOR, f"hadoop-{HADOOP_VERSION}-s3a", "file system s3a://", report)


def _fetched(artifacts: Iterable[Artifact], folder: str, what: str, report: Report) -> str:
    target = cache_folder() / folder
    artifacts = tuple(artifacts)
    if not all((target / artifact.file).is_file() for artifact in artifacts):
        report(f"fetching Spark's {what} into {target}, once")
    try:
        found = fetch_all(artifacts, target)
    except FetchError as error:
        raise SparkUnavailable(
            f"Spark's {what} is missing: {error}; or give your own by --conf spark.jars=FILE,FILE"
        ) from error
    return ",".join(str(file.absolute()) for file in found)


def with_kafka_jars(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a session's settings with the connector for Kafka, as ``with_connectors`` does."""
    return with_connectors(settings, ["kafka"])


def with_connectors(
    settings: Mapping[str, str],
    schemes: Iterable[str],
    environ: Mapping[str, str] = os.environ,
    report: Report = _silent,
) -> dict[str, str]:
    """Return a session's settings with what sources of these schemes need.

    ``schemes``: ``kafka``, ``s3a``, and names of TABLE_CONNECTORS.
    ``report`` is called with a line before anything is fetched.

    Jars that somebody gives already are not fetched. The bucket's address may be in the
    environment, as AWS's own tools have it; S3A finds the keys in the environment itself. Raises:
    SparkUnavailable as ``kafka_jars`` does.
    """
    schemes = frozenset(schemes)
    found = dict(settings)
    if "s3a" in schemes:
        found = {**_endpoint(environ), **found}
    for name in schemes & _TABLE_SETTINGS.keys():
        found = {**_TABLE_SETTINGS[name], **found}
    if is_submitted() or any(name in settings for name in _GIVEN_BY):
        return found
    jars = []
    if "kafka" in schemes and not has_own_connector():
        jars.append(kafka_jars(report))
    if "s3a" in schemes and not any(_own_jars(_OWN_S3A)):
        jars.append(s3a_jars(report))
    for name in sorted(schemes & TABLE_CONNECTORS.keys()):
        artifacts = TABLE_CONNECTORS[name]
        jars.append(_fetched(artifacts, f"spark-{name}", f"connector for {name}", report))
    return {**found, "spark.jars": ",".join(jars)} if jars else found


def _endpoint(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of S3A that AWS's variables give. Its own settings go before them."""
    found = {}
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        found["spark.hadoop.fs.s3a.endpoint"] = endpoint
        # A host of its own for each bucket is what Amazon has, and few others.
        found["spark.hadoop.fs.s3a.path.style.access"] = "true"
        region = region or "us-east-1"
    if region:
        found["spark.hadoop.fs.s3a.endpoint.region"] = region
    return found


def is_submitted() -> bool:
    """Return whether ``spark-submit`` has started Java, so that its jars are chosen already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def has_own_connector() -> bool:
    """Return whether the installation of Spark has a connector for Kafka among its jars."""
    return any(_own_jars(_OWN_KAFKA))


def _own_jars(pattern: str) -> Iterator[Path]:
    home = os.environ.get("SPARK_HOME")
    spec = None if home else find_spec("pyspark")
    folders = [home] if home else list((spec and spec.submodule_search_locations) or ())
    for folder in folders:
        yield from Path(folder).glob(pattern)
