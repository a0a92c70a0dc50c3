"""Avro through a real broker and a real registry, and what happens when the registry fails.

tests/scenarios/test_registry.py shows, case by case, which schemas the registry accepts.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import read_messages, write_messages
from cdcwire.model.events import RowChange
from cdcwire.schema_registry import (
    ConfluentRegistry,
    RegistryError,
    RetryPolicy,
    Schemas,
    open_schemas,
)
from cdcwire_conformance.cli import main
from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios.containers import RegistryContainer, ToxiproxyContainer
from cdcwire_evidence.scenarios.feeds import (
    carried_by_avro,
    changes_of,
    context_of,
    make_altered_changes,
    make_changes,
    messages_of,
)
from cdcwire_evidence.scenarios.http_proxy import proxy_to
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName, Registry, make_authority
from cdcwire_evidence.scenarios.topics import consume, make_topic, produce

ROWS = 300
HASTY = RetryPolicy(connect=2.0, answer=5.0, first_wait=0.1, tries=3)
EXTENSION = ("--option", "enable-tidb-extension=true")
CHAIN = """\
CREATE TABLE parcels (id BIGINT PRIMARY KEY, note VARCHAR(20));
ALTER TABLE parcels ADD total DECIMAL(10,2);
ALTER TABLE parcels DROP note;
"""
REFUSED = "ALTER TABLE parcels ADD parts INT NOT NULL;"


def confluents_client(url: str, **settings: str) -> Any:
    """Confluent's own client for registries, to be used by ``with``."""
    from confluent_kafka.schema_registry import SchemaRegistryClient

    return SchemaRegistryClient({"url": url, **settings})


def confluents_reader(client: Any, topic: str, schema: str | None = None) -> Callable[..., Any]:
    """Confluent's own reader of keys and values. ``schema``: of the reader."""
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import SerializationContext

    reader = AvroDeserializer(client, schema)
    return lambda data, part: reader(data, SerializationContext(topic, part))


def all_of(kafka: Kafka, topic: str) -> dict[int, list[KafkaMessage]]:
    """The content of a topic, by partition."""
    found: dict[int, list[KafkaMessage]] = {}
    for each in consume(kafka, topic):
        found.setdefault(each.partition, []).append(each.message)
    return found


def as_confluent_reads(change: RowChange) -> tuple[object, object]:
    """Key and value of a change of the table of orders."""
    image = change.before if change.op == "delete" else change.after
    assert image is not None
    key = {"id": image.values[0]}
    if change.op == "delete":
        return key, None
    values = {  # a number from 2^63 on is sent as one below zero
        name: value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value
        for name, value in zip(image.names, image.values, strict=True)
    }
    commit_ts = change.position.commit_ts
    assert commit_ts is not None
    extension = {
        "_tidb_op": {"insert": "c", "update": "u"}[change.op],
        "_tidb_commit_ts": commit_ts,
        "_tidb_commit_physical_time": commit_ts >> 18,
    }
    return key, {**values, **extension}


def test_rows_of_a_topic_are_read_by_their_schemas_numbers(
    kafka: Kafka, registry: Registry, new_name: NewName
) -> None:
    with recorded(
        "registry/topic",
        "Avro with a registry, through a topic",
        "A producer registers its schemas and sends rows to three partitions. A reader that has "
        "the registry's address alone reads the same changes, once, in order; Confluent's own "
        "reader reads the same values. Each asks once for each schema.",
    ) as result:
        partitions, topic = make_changes(ROWS, 3), new_name("avro")
        make_topic(kafka, topic, len(partitions))
        with proxy_to(registry) as proxy:
            source = ConfluentRegistry(proxy.service.url)
            for partition, rows_of_partition in enumerate(partitions):
                assert (
                    produce(kafka, topic, messages_of(rows_of_partition, topic, source), partition)
                    == []
                )
            assert [method for method, _ in proxy.requests] == ["POST", "POST"]
            proxy.requests.clear()
            found = all_of(kafka, topic)
            context = context_of(open_schemas(proxy.service.url))
            got = {
                partition: [
                    change for each in found[partition] for change in changes_of(each, context)
                ]
                for partition in found
            }
            assert [method for method, _ in proxy.requests] == ["GET", "GET"]
        result.counts = count(
            dict(
                enumerate(
                    [carried_by_avro(each) for each in rows_of_partition]
                    for rows_of_partition in partitions
                )
            ),
            got,
        )
        assert result.counts.is_exact
        with confluents_client(registry.url) as client:
            read = confluents_reader(client, topic)
            for partition, rows_of_partition in enumerate(partitions):
                theirs = [(read(x.key, "key"), read(x.value, "value")) for x in found[partition]]
                assert theirs == [as_confluent_reads(change) for change in rows_of_partition]
        result.figures = {"changes": ROWS, "read by Confluent's reader": ROWS}


def test_schema_changes_while_the_feed_runs(
    kafka: Kafka, registry: Registry, new_name: NewName
) -> None:
    with recorded(
        "registry/evolution",
        "a table is altered while its Avro feed runs",
        "Two changes of the table are accepted, and Confluent's reader reads all rows by the "
        "newest schema, as BACKWARD promises. A third is refused: the feed stops with one line "
        "before the row, and nothing of it is in the topic.",
    ) as result:
        topic = new_name("evolution")
        make_topic(kafka, topic)
        changes = make_altered_changes(CHAIN + REFUSED, 50)
        good = changes[:150]
        stops: list[RegistryError] = []
        sent = until_it_stops(messages_of(changes, topic, ConfluentRegistry(registry.url)), stops)
        assert produce(kafka, topic, sent) == []
        (stop,) = stops
        assert stop.status == 409
        assert "run `cdcwire avro evolve` to find the DDL that caused it" in str(stop)
        assert "\n" not in str(stop)
        messages = all_of(kafka, topic)[0]
        context = context_of(open_schemas(registry.url))
        got = [change for each in messages for change in changes_of(each, context)]
        result.counts = count({0: [carried_by_avro(each) for each in good]}, {0: got})
        assert result.counts.is_exact
        with confluents_client(registry.url) as client:
            assert client.get_versions(f"{topic}-value") == [1, 2, 3]
            newest = client.get_latest_version(f"{topic}-value").schema.schema_str
            read = confluents_reader(client, topic, newest)
            values = [read(each.value, "value") for each in messages]
        assert [(value["id"], value["total"]) for value in values] == [
            (number, None if number < 50 else total_of(change))
            for number, change in enumerate(good)
        ]
        result.figures = {"versions": 3, "refused": 1}


def total_of(change: RowChange) -> object:
    assert change.after is not None
    return dict(zip(change.after.names, change.after.values, strict=True))["total"]


def until_it_stops(
    messages: Iterator[KafkaMessage], stops: list[RegistryError]
) -> Iterator[KafkaMessage]:
    """Yield messages until the registry fails; then its error is in ``stops``."""
    try:
        yield from messages
    except RegistryError as error:
        stops.append(error)


def test_unknown_id_is_named_with_its_offset(
    kafka: Kafka, registry: Registry, new_name: NewName
) -> None:
    with recorded(
        "registry/unknown-id",
        "a number that the registry does not know",
        "Among good messages stands one with a number of no schema. It is named with its offset "
        "and byte, its neighbours are read, and the registry is asked for it each time it comes.",
    ) as result:
        (changes,), topic = make_changes(20), new_name("unknown")
        make_topic(kafka, topic)
        messages = list(messages_of(changes, topic, ConfluentRegistry(registry.url)))
        messages[7:7] = [with_unknown_id(messages[7])] * 2
        assert produce(kafka, topic, messages) == []
        with proxy_to(registry) as proxy:
            context = context_of(open_schemas(proxy.service.url))
            got, bad = [], {}
            for each in consume(kafka, topic):
                try:
                    got += changes_of(each.message, context)
                except DecodeError as error:
                    bad[each.offset] = error
            assert len(proxy.requests) == 2 + 2
        result.counts = count({0: [carried_by_avro(each) for each in changes]}, {0: got})
        result.figures = {"unknown": len(bad)}
        assert result.counts.is_exact
        assert {offset: (error.offset, error.clause) for offset, error in bad.items()} == {
            7: (1, "avro: registry"),
            8: (1, "avro: registry"),
        }
        assert "schema id 2147483647 is not known" in str(bad[7])


def with_unknown_id(message: KafkaMessage) -> KafkaMessage:
    assert message.value is not None
    return KafkaMessage(message.key, b"\x00\x7f\xff\xff\xff" + message.value[5:])


def feed_file(folder: Path, source: ConfluentRegistry) -> Path:
    """Fifty messages in a file, their schemas in a registry."""
    file = folder / "feed.jsonl"
    (changes,) = make_changes(50)
    write_messages(str(file), messages_of(changes, "file", source))
    return file


def test_registry_that_is_not_there_at_the_start(registry: Registry, tmp_path: Path) -> None:
    with recorded(
        "registry/down-at-the-start",
        "the registry is not there when a reader starts",
        "Where nobody answers, the reader tries six times and ends with one line. Where the "
        "registry comes while it tries, it reads everything.",
    ) as result:
        file = feed_file(tmp_path, ConfluentRegistry(registry.url))

        def start(url: str) -> subprocess.Popen[str]:
            words = [sys.executable, "-m", "cdcwire_conformance", "decode", "avro", str(file)]
            return subprocess.Popen(
                [*words, "--schema", url, *EXTENSION],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )

        begin = time.monotonic()
        nobody = f"http://127.0.0.1:{free_port()}"
        with proxy_to(registry, is_open=False) as proxy:
            lost, waiting = start(nobody), start(proxy.service.url)
            while not proxy.requests:
                assert waiting.poll() is None
                assert time.monotonic() < begin + 60
                time.sleep(0.1)
            proxy.is_open = True
            out, err = waiting.communicate(timeout=120)
            assert (waiting.returncode, err) == (0, "")
            assert out.count("\n") == 50
            assert len(proxy.requests) == 3  # the first was cut
        out, err = lost.communicate(timeout=120)
        assert (lost.returncode, out) == (2, "")
        assert err == (
            f"cdcwire decode: {nobody}/schemas/ids/{first_id(file)}: no answer: Connection refused "
            "(tried 6 times); see whether the registry runs there, and try again\n"
        )
        result.figures = {"seconds until it gave up": round(time.monotonic() - begin)}


def first_id(file: Path) -> int:
    """The number of the first key's schema."""
    _, message = next(iter(read_messages(str(file))))
    assert isinstance(message, KafkaMessage)
    assert message.key is not None
    return int.from_bytes(message.key[1:5], "big")


def test_registry_killed_in_the_middle_of_a_feed(
    kafka: Kafka, own_registry: RegistryContainer, new_name: NewName
) -> None:
    changes, topic = make_altered_changes(CHAIN, 100), new_name("killed")
    make_topic(kafka, topic)
    url = own_registry.service.url
    with recorded(
        "registry/killed-writing",
        "registry killed while an Avro feed is written",
        "The registry is ended by SIGKILL. The producer goes on with the schemas that it knows; at "
        "the first row behind an ALTER it fails with one line after three tries. When the registry "
        "is back, with what it knew, the producer goes on at that row.",
    ) as result:
        sent: list[KafkaMessage] = []
        stops: list[RegistryError] = []

        def kill_at(number: int, messages: Iterator[KafkaMessage]) -> Iterator[KafkaMessage]:
            for message in messages:
                sent.append(message)
                yield message
                if len(sent) == number:
                    own_registry.kill()

        source = ConfluentRegistry(url, HASTY)
        first = until_it_stops(messages_of(changes, topic, source), stops)
        assert produce(kafka, topic, kill_at(40, first)) == []
        assert len(sent) == 100
        (stop,) = stops
        assert str(stop).startswith(f"{url}/subjects/{topic}-value/versions: no answer: ")
        assert "(tried 3 times)" in str(stop)
        assert source.requests == 2 + 3
        own_registry.restart()
        own_registry.wait()
        again = messages_of(changes[len(sent) :], topic, source)
        assert produce(kafka, topic, again) == []
        messages = all_of(kafka, topic)[0]
        context = context_of(open_schemas(url))
        got = [change for each in messages for change in changes_of(each, context)]
        result.counts = count({0: [carried_by_avro(each) for each in changes]}, {0: got})
        assert result.counts.is_exact
    with recorded(
        "registry/killed-reading",
        "registry killed while an Avro feed is read",
        "The registry is ended by SIGKILL while a reader knows the first schemas. It reads all "
        "rows of these; at the first row of another it fails with one line after three tries, each "
        "time that it is asked. When the registry is back, the same reader goes on at that row.",
    ) as result:
        asked = ConfluentRegistry(url, HASTY)
        context = context_of(Schemas(asked))
        got, at = [], 0
        failures: list[tuple[int, str]] = []
        while at < len(messages):
            try:
                got += changes_of(messages[at], context)
            except RegistryError as error:
                failures.append((at, str(error)))
                if len(failures) == 2:
                    own_registry.restart()
                    own_registry.wait()
                continue
            at += 1
            if at == 30:
                own_registry.kill()
        result.counts = count({0: [carried_by_avro(each) for each in changes]}, {0: got})
        result.figures = {"failed": len(failures)}
        assert result.counts.is_exact
        assert [place for place, _ in failures] == [100, 100]
        assert all("(tried 3 times)" in said and "\n" not in said for _, said in failures)
        assert asked.requests == 2 + 2 * 3 + 2  # key and value; two failures; two more values


def test_slow_and_cut_connections_to_the_registry(
    tls_registry: tuple[RegistryContainer, Path], toxiproxy: ToxiproxyContainer, tmp_path: Path
) -> None:
    with recorded(
        "registry/slow",
        "a slow registry, and connections that are cut",
        "Each answer takes a second and a half: the reader waits, and asks once for each schema. "
        "Then answers do not come, are cut in the middle, or end in a reset: each time it fails "
        "with one line after two or three tries. When all is well it goes on with the same reader.",
    ) as result:
        container, _ = tls_registry
        file = feed_file(tmp_path, ConfluentRegistry(container.service.url))
        toxiproxy.lead_to(f"{container.address_inside}:{container.OPEN}")
        path = container.service.url.partition("/apis")[2]
        url = f"http://{toxiproxy.door}/apis{path}"
        messages = [each for _, each in read_messages(str(file)) if isinstance(each, KafkaMessage)]
        toxiproxy.add("latency", latency=1500)
        patient = ConfluentRegistry(url)
        begin = time.monotonic()
        for message in messages:
            changes_of(message, context_of(Schemas(patient)))
        result.figures = {"seconds": round(time.monotonic() - begin, 1)}
        assert time.monotonic() - begin >= 2 * 1.5
        assert patient.requests == 2
        toxiproxy.remove("latency")
        cut = "no answer: (Connection reset by peer|the connection)"
        faults: list[tuple[str, dict[str, int], str, int]] = [
            ("timeout", {"timeout": 0}, "no answer in 1 s", 2),
            ("limit_data", {"bytes": 300}, "no answer: IncompleteRead", 3),
            ("reset_peer", {"timeout": 0}, cut, 3),
        ]
        hasty = ConfluentRegistry(url, RetryPolicy(answer=1.0, first_wait=0.1, tries=3))
        context = context_of(Schemas(hasty))
        for kind, attributes, said, tries in faults:
            before = hasty.requests
            toxiproxy.add(kind, "downstream", **attributes)
            with pytest.raises(RegistryError, match=rf"{said}.* \(tried {tries} times\)"):
                changes_of(messages[0], context)
            toxiproxy.remove(kind)
            assert hasty.requests - before == tries
        assert sum(len(changes_of(message, context)) for message in messages) == len(messages)


@pytest.fixture
def decode(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, int, str]]:
    """Run ``cdcwire decode`` on a file. Returns: its exit code, its lines, its error."""

    def run(file: Path, url: str, *words: str) -> tuple[int, int, str]:
        code = main(["decode", "avro", str(file), "--schema", url, *EXTENSION, *words])
        out, err = capsys.readouterr()
        return code, out.count("\n"), err

    return run


Decode = Callable[..., "tuple[int, int, str]"]


def test_registry_that_asks_for_a_password(
    registry: Registry, tmp_path: Path, decode: Decode
) -> None:
    with recorded(
        "registry/password",
        "a registry that asks for user and password",
        "In front of the registry stands a proxy of our own that asks for a password, as the "
        "registry has no users without a service more. The right one is let in; a wrong one, none, "
        "and a user without rights each end with one line, at once, and no password is in it.",
    ) as result:
        file = feed_file(tmp_path, ConfluentRegistry(registry.url))
        users = {"reader": "s/ecret@1", "guest": "s/ecret@2"}
        with proxy_to(registry, users, guests=frozenset({"guest"})) as proxy:
            host = proxy.service.url.removeprefix("http://")
            assert decode(file, f"http://reader:s%2Fecret%401@{host}") == (0, 50, "")
            asked = len(proxy.requests)
            advice = "give user and password in the address, before the host: user:password@host"
            refusals = {
                "reader:s%2Fecret%402@": f"it answers 401: no entry; {advice}",
                "": f"it answers 401: no entry; {advice}",
                "guest:s%2Fecret%402@": "it answers 403: no entry; this user may not do that",
            }
            for who, said in refusals.items():
                where = f"{proxy.service.url}/schemas/ids/{first_id(file)}"
                answer = decode(file, f"http://{who}{host}")
                assert answer == (2, 0, f"cdcwire decode: {where}: {said}\n")
            assert len(proxy.requests) - asked == len(refusals)  # none was tried again
            result.figures = {"let in": 1, "refused": len(refusals)}


def test_registry_over_https(
    tls_registry: tuple[RegistryContainer, Path], tmp_path: Path, decode: Decode
) -> None:
    with recorded(
        "registry/tls",
        "a registry over HTTPS with an authority of one's own",
        "The registry shows a certificate for localhost by an authority that only the reader's CA "
        "file knows: it is read, by Confluent's client too. Without the file, with another "
        "authority's, or by another name, the reader ends with one line, at once.",
    ) as result:
        container, ca_file = tls_registry
        assert container.secure is not None
        url = container.secure.url
        file = feed_file(tmp_path, ConfluentRegistry(url, ca_file=str(ca_file)))
        assert decode(file, url, "--ca-file", str(ca_file)) == (0, 50, "")
        with confluents_client(url, **{"ssl.ca.location": str(ca_file)}) as client:
            assert '"name":"orders"' in client.get_schema(first_id(file)).schema_str
        other = make_authority(tmp_path, "other")
        unknown = "; give the certificates of the authority that signed it (--ca-file)"
        refused: list[tuple[str, tuple[str, ...], str]] = [
            (url, (), unknown),
            (url, ("--ca-file", str(other)), unknown),
            (
                url.replace("localhost", "127.0.0.1"),
                ("--ca-file", str(ca_file)),
                "IP address mismatch, certificate is not valid for '127.0.0.1'; give the address "
                "by a name that the certificate has",
            ),
        ]
        for address, words, said in refused:
            code, lines, error = decode(file, address, *words)
            assert (code, lines, error.count("\n")) == (2, 0, 1)
            assert "no trust: " in error
            assert said in error
        result.figures = {"read": 50, "refused": len(refused)}
