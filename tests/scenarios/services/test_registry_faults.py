"""Registries that lose a schema or give its number to another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import RowChange
from cdcwire.registry import get_format
from cdcwire.schema_registry import ConfluentRegistry, open_schemas
from cdcwire_conformance.cli import main
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.containers import RegistryContainer, running
from cdcwire_evidence.scenarios.feeds import (
    carried_by_avro,
    changes_of,
    context_of,
    make_altered_changes,
    make_changes,
    messages_of,
)
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import NewName, Registry

ROWS = 50
EXTENSION = ("--option", "enable-tidb-extension=true")


@pytest.fixture
def forgetful_registry(
    logs: Path, image_of: Callable[[str], str], request: pytest.FixtureRequest
) -> Iterator[RegistryContainer]:
    """A registry in memory, which knows nothing after a restart."""
    container = RegistryContainer(image_of("REGISTRY_IMAGE"))
    with running(container, logs / f"{request.node.name}.log"):
        yield container


def delete(url: str) -> int:
    """Send a DELETE and return the status of its answer."""
    urllib3 = load_requirement("urllib3", "a registry")
    with urllib3.PoolManager(retries=False, timeout=30.0) as pool:
        found: int = pool.request("DELETE", url).status
        return found


def value_id(message: KafkaMessage) -> int:
    assert message.value is not None
    return int.from_bytes(message.value[1:5], "big")


def read_all(messages: list[KafkaMessage], url: str) -> tuple[list[object], dict[int, DecodeError]]:
    """The changes that a new reader gets, and what it can't read by the number of the message."""
    context = context_of(open_schemas(url))
    got: list[object] = []
    bad: dict[int, DecodeError] = {}
    for number, message in enumerate(messages):
        try:
            got += changes_of(message, context)
        except DecodeError as error:
            bad[number] = error
    return got, bad


def test_deleted_schema_is_read_until_it_is_gone(
    registry: Registry, new_name: NewName, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recorded(
        "registry/schema-deleted",
        "a schema is deleted, then deleted for good",
        "The schema of a feed's values is deleted: its number still leads to it, and a new reader "
        "gets every change. Then it is deleted for good: a new reader names each message that has "
        "that number, with its byte, and reads the others; a reader that knows the schema goes on. "
        "The command ends with one line, at the first of these messages.",
    ) as result:
        (changes,), topic = make_changes(ROWS), new_name("deleted")
        messages = list(messages_of(changes, topic, ConfluentRegistry(registry.url)))
        wanted = [carried_by_avro(each) for each in changes]
        with_value = [number for number, each in enumerate(messages) if each.value is not None]
        assert 0 < len(with_value) < len(messages)  # deletes have a key only
        file = tmp_path / "feed.jsonl"
        write_messages(str(file), messages)
        decode = ["decode", "avro", str(file), "--schema", registry.url, *EXTENSION]
        knowing = context_of(open_schemas(registry.url))
        known = [change for each in messages[:10] for change in changes_of(each, knowing)]

        url = f"{registry.url}/subjects/{topic}-value/versions/1"
        assert delete(url) == 200
        after_soft, bad = read_all(messages, registry.url)
        assert bad == {}
        assert main(decode) == 0
        assert capsys.readouterr().out.count("\n") == ROWS

        assert delete(f"{url}?permanent=true") == 200
        after_hard, bad = read_all(messages, registry.url)
        number = value_id(messages[with_value[0]])
        assert list(bad) == with_value
        assert {(error.offset, error.clause) for error in bad.values()} == {(1, "avro: registry")}
        assert all(f"schema id {number} is not known" in str(each) for each in bad.values())
        assert main(decode) == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert f"schema id {number} is not known" in said

        known += [change for each in messages[10:] for change in changes_of(each, knowing)]
        keys_only = [each for at, each in enumerate(wanted) if at not in with_value]
        result.counts = count(
            {"soft": wanted, "hard": keys_only, "known": wanted},
            {"soft": after_soft, "hard": after_hard, "known": known},
        )
        result.figures = {"named": len(bad), "said": said.strip().rpartition("/")[2]}
        assert result.counts.is_exact


def test_number_that_is_used_again_gives_no_other_values(
    forgetful_registry: RegistryContainer, new_name: NewName
) -> None:
    with recorded(
        "registry/id-used-again",
        "a registry that was lost gives its numbers to other schemas",
        "The registry forgets everything and numbers the schemas of another table from 1 again. A "
        "reader that knew the first schemas reads the whole feed by them. A new reader takes the "
        "other table's schemas: it names each message with a value, and the byte that does not "
        "fit. Messages with a key only fit both tables: they are read as changes of the other "
        "one, by its name. So no change of the first table is invented.",
    ) as result:
        url = forgetful_registry.service.url
        (changes,), topic = make_changes(ROWS), new_name("again")
        messages = list(messages_of(changes, topic, ConfluentRegistry(url)))
        knowing = context_of(open_schemas(url))
        first = [change for each in messages[:10] for change in changes_of(each, knowing)]
        forgetful_registry.kill()
        forgetful_registry.restart()
        forgetful_registry.wait()
        ddl = "CREATE TABLE parcels (id BIGINT PRIMARY KEY, note VARCHAR(20));"
        others = make_altered_changes(ddl, 5)
        other = list(messages_of(others, new_name("parcels"), ConfluentRegistry(url)))
        assert value_id(other[0]) == value_id(messages[0])
        first += [change for each in messages[10:] for change in changes_of(each, knowing)]
        wanted = [carried_by_avro(each) for each in changes]
        result.counts = count({0: wanted}, {0: first})
        assert result.counts.is_exact

        with_value = [number for number, each in enumerate(messages) if each.value is not None]
        _, bad = read_all(messages, url)
        context, read_as = context_of(open_schemas(url)), set[object]()
        for number, message in enumerate(messages):
            if number not in bad:
                (event,) = get_format("avro").to_events(message, context=context)
                assert isinstance(event, RowChange)
                read_as.add((event.table.name, event.op))
        assert list(bad) == with_value
        assert all(error.offset is not None and error.path for error in bad.values())
        assert read_as == {("parcels", "delete")}
        assert read_all(other, url) == ([carried_by_avro(each) for each in others], {})
        result.figures = {"named": len(bad), "first": str(bad[with_value[0]])}
