"""The sum of the bytes that defaults add to a key, a value or a schema is bounded."""

from __future__ import annotations

import pytest

from cdcwire.connect import values
from cdcwire.connect.envelope import parse
from cdcwire.connect.fast import EnvelopeDecoder
from cdcwire.core.errors import DecodeError

TEXT = '{"type":"string","default":"12345678","field":"t"}'  # 10 bytes with its quotes
ITEM = f'{{"type":"struct","fields":[{TEXT}]}}'
NULL = '{"type":"string","optional":true,"default":"12345678"}'
DECIMAL = (
    '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,'
    '"parameters":{"scale":"94"},"default":"AQ==","field":"t"}'
)


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_DEFAULT_BYTES", 100)


def envelope(field: str, payload: str) -> bytes:
    schema = f'{{"type":"struct","fields":[{field}]}}'
    return f'{{"schema":{schema},"payload":{{{payload}}}}}'.encode()


def array_of(items: str, value: str, count: int) -> bytes:
    field = f'{{"type":"array","items":{items},"field":"v"}}'
    return envelope(field, f'"v":[{",".join([value] * count)}]')


@pytest.mark.parametrize(
    ("items", "value", "used", "last"),
    [
        (ITEM, "{}", 10, ("t",)),
        (NULL, "null", 10, ()),
        (f'{{"type":"struct","fields":[{DECIMAL}]}}', "{}", 1, ("t",)),  # 6 bytes, 94 digits
        (
            f'{{"type":"map","keys":{{"type":"string"}},"values":{ITEM}}}',
            '{"k":{}}',
            10,
            ("k", "t"),
        ),
    ],
)
def test_defaults_of_items_are_bounded(
    items: str, value: str, used: int, last: tuple[str, ...]
) -> None:
    at_limit, over = array_of(items, value, used), array_of(items, value, used + 1)
    assert parse(at_limit, null_is_default=True).envelope.payload is not None
    with pytest.raises(DecodeError, match="defaults add more than 100 bytes") as caught:
        parse(over, null_is_default=True)
    assert caught.value.clause == "connect: limits"
    assert caught.value.path == ("payload", "v", used, *last)
    assert over.rindex(value.encode()) <= caught.value.offset < len(over) - 3


def test_fast_decoder_has_the_same_limit() -> None:
    at_limit, over = array_of(ITEM, "{}", 10), array_of(ITEM, "{}", 11)
    decoder = EnvelopeDecoder()
    for _ in range(3):  # it remembers the schema
        assert decoder.decode(at_limit) == parse(at_limit).envelope
        with pytest.raises(DecodeError, match="defaults add more than 100 bytes"):
            decoder.decode(over)


def test_defaults_inside_defaults_are_bounded() -> None:
    def nested(count: int) -> bytes:
        default = ",".join(["{}"] * count)
        field = f'{{"type":"array","items":{ITEM},"default":[{default}],"field":"v"}}'
        return envelope(field, "")

    assert parse(nested(7)).envelope.payload == ((("12345678",),) * 7,)
    with pytest.raises(DecodeError, match="defaults add more") as caught:
        parse(nested(11))
    assert caught.value.path[:5] == ("schema", "fields", 0, "default", 10)
    # 8 uses inside the schema, then 25 bytes of its own and these 80 again
    with pytest.raises(DecodeError, match="defaults add more") as caught:
        parse(nested(8))
    assert caught.value.path == ("payload", "v")
