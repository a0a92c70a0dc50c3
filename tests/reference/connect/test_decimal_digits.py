"""The sum of the digits that scales and exponents add to decimals is bounded."""

from __future__ import annotations

from functools import partial

import pytest

from cdcwire.connect.envelope import parse
from cdcwire.connect.fast import EnvelopeDecoder
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.registry import FORMAT_NAMES, get_format

DECIMAL = (
    '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,'
    '"parameters":{"scale":"%d"}}'
)
VARIABLE = (
    '{"type":"struct","fields":[{"type":"int32","field":"scale"},{"type":"bytes","field":"value"}],'
    '"name":"io.debezium.data.VariableScaleDecimal","version":1}'
)
WITH_LIMIT = [
    name
    for name in FORMAT_NAMES
    if any(option.name == "max-decimal-digits" for option in get_format(name).options)
    and get_format(name).schemas is None  # Avro's decimals have no exponent
]


def array_of(items: str, *values: str) -> bytes:
    """Return an envelope whose payload has an array of decimals."""
    schema = f'{{"type":"struct","fields":[{{"type":"array","items":{items},"field":"v"}}]}}'
    return f'{{"schema":{schema},"payload":{{"v":[{",".join(values)}]}}}}'.encode()


@pytest.mark.parametrize(
    ("items", "value", "digits"),
    [
        (DECIMAL % 100, '"AQ=="', 100),
        (DECIMAL % -100, '"AA=="', 100),
        (DECIMAL % 0, "1E+100", 100),
        (DECIMAL % 100, "1E-100", 200),  # of the exponent and of the scale
        (VARIABLE, '{"scale":100,"value":"AQ=="}', 100),
        (VARIABLE, '{"scale":-100,"value":"AQ=="}', 100),
    ],
)
def test_sum_of_added_digits_is_bounded(items: str, value: str, digits: int) -> None:
    data = array_of(items, *[value] * 10)
    assert parse(data, max_decimal_digits=10 * digits).envelope == EnvelopeDecoder().decode(data)
    with pytest.raises(DecodeError, match="more than 999 digits") as caught:
        parse(data, max_decimal_digits=999)
    place = 9 if digits == 100 else 4
    assert caught.value.clause == "connect: limits"
    assert caught.value.path == ("payload", "v", place)
    assert caught.value.offset == data.index(value.encode()) + place * (len(value) + 1)


@pytest.mark.parametrize(
    ("items", "value"),
    [
        (DECIMAL % 64, '"AQ=="'),
        (DECIMAL % -64, '"AQ=="'),
        (DECIMAL % 0, "1E+64"),
        (VARIABLE, '{"scale":64,"value":"AQ=="}'),
    ],
)
def test_small_scales_are_not_counted(items: str, value: str) -> None:
    found = parse(array_of(items, *[value] * 10), max_decimal_digits=0).envelope
    assert len(found.payload[0]) == 10


@pytest.mark.parametrize(
    ("items", "few", "many"),
    [
        (DECIMAL % 20000, '"AQ=="', '"AQ=="'),
        (VARIABLE, '{"scale":2,"value":"AQ=="}', '{"scale":20000,"value":"AQ=="}'),
    ],
)
def test_fast_decoder_counts_the_same(items: str, few: str, many: str) -> None:
    fast = EnvelopeDecoder()
    for _ in range(3):
        fast.decode(array_of(items, few))
    fitting, over = array_of(items, *[many] * 50), array_of(items, *[many] * 51)
    assert fast.decode(fitting) == parse(fitting).envelope
    with pytest.raises(DecodeError, match="the option max-decimal-digits allows more") as caught:
        fast.decode(over)
    with pytest.raises(DecodeError) as plain:
        parse(over)
    assert str(caught.value) == str(plain.value)


@pytest.mark.parametrize("name", WITH_LIMIT)
def test_option_bounds_the_digits_with_the_same_error_everywhere(name: str) -> None:
    message = KafkaMessage(None, array_of(DECIMAL % 0, "1E+100"))
    if name == "maxwell-json":
        row = b'{"database":"d","table":"t","type":"insert","ts":1,"data":{"v":1E-100}}'
        message = KafkaMessage(None, row)
    format_, context = get_format(name), Context({"max-decimal-digits": 99})
    errors = [format_.explain(message, context=context).error]
    for decode in (partial(format_.to_events, context=context), format_.decoder(context)):
        with pytest.raises(DecodeError) as caught:
            list(decode(message))
        errors.append(caught.value)
    assert len(set(map(str, errors))) == 1
    assert errors[0] is not None
    assert errors[0].clause.endswith(": limits")
    assert "more than 99 digits" in errors[0].problem
