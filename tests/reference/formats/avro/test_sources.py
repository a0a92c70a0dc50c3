"""Sources of schemas: ids that are given, ids that are found again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.avro import FORMAT, KnownSchemas, MemorySource
from cdcwire.model.events import RowChange

TEXT = (
    '{"type":"record","name":"t","namespace":"default.s","fields":[{"name":"id",'
    '"type":{"type":"int","connect.parameters":{"tidb_type":"INT"}}}]}'
)
UUID = "6a1d3b8c-8f1a-4b63-9d0e-0f5a7a1c2b3d"


class Counted(Mapping[str, str]):
    """A mapping that notes what it is asked for, and can't list what it has."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> str:
        self.asked.append(name)
        if name != "7":
            raise KeyError(name)
        return TEXT

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("a registry does not list its schemas")

    def __len__(self) -> int:
        return 1


def test_decoding_asks_for_the_ids_of_the_message_only() -> None:
    schemas = Counted()
    message = KafkaMessage(b"\0\0\0\0\x07\x02", b"\0\0\0\0\x07\x04")
    (event,) = FORMAT.to_events(message, context=Context(schemas=schemas))
    assert isinstance(event, RowChange)
    assert set(schemas.asked) == {"7"}


def test_explaining_asks_for_the_ids_of_the_message_only() -> None:
    schemas = Counted()
    message = KafkaMessage(None, b"\0\0\0\0\x08\x04")
    assert FORMAT.explain(message, context=Context(schemas=schemas)).error is not None
    assert schemas.asked == ["8"]


@pytest.mark.parametrize("name", [UUID, UUID.upper()])
def test_uuid_is_found_in_either_case(name: str) -> None:
    assert KnownSchemas({name: TEXT}).get(UUID) == TEXT
    assert MemorySource({name: TEXT}, "glue").get(UUID) == TEXT


def test_known_schemas_take_no_new_one() -> None:
    with pytest.raises(EncodeError) as caught:
        KnownSchemas({}).register("t-value", TEXT)
    assert caught.value.clause == "avro: registry"


def test_new_texts_take_the_free_numbers() -> None:
    source = MemorySource({"2": TEXT})
    texts = [TEXT.replace('"t"', f'"{name}"') for name in "uv"]
    assert [source.register("s", text) for text in texts] == [1, 3]
    assert source.register("other", TEXT.replace(",", " , ")) == 2
