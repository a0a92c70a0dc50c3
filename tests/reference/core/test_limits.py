"""Bounds on decompressed bytes and JSON values, with the same error from every decoder."""

from __future__ import annotations

import time
import tracemalloc
import zlib
from functools import partial

import pytest

from cdcwire.compressions import known_compressions
from cdcwire.core import limits
from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import MAX_JSON_VALUES, SizeLimitError, check_json_values
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import JsonRules, read_json, read_json_value
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import FORMAT_NAMES, get_format

RULES = JsonRules("text", "string", "limits")
WITH_LIMIT = [
    name
    for name in FORMAT_NAMES
    if any(option.name == "max-decompressed-bytes" for option in get_format(name).options)
]
SMALL = 1000
TABLES = (Table("t", "s", columns=(Column("id", IntType(64), "BIGINT"),), key=("id",)),)


def test_json_may_have_a_million_values() -> None:
    text = b"[" + b"0," * (MAX_JSON_VALUES - 2) + b"0"
    check_json_values(text + b"]", 0, len(text) + 1, "limits")
    with pytest.raises(DecodeError, match="more than 1000000 values"):
        check_json_values(text + b",0]", 0, len(text) + 3, "limits")


@pytest.fixture
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow 1000 values: reading a million takes seconds."""
    monkeypatch.setattr(limits, "MAX_JSON_VALUES", SMALL)
    monkeypatch.setattr(limits, "MAX_FAST_JSON_BYTES", 2 * SMALL - 2)


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("read", [read_json, read_json_value])
def test_json_with_too_many_values_is_rejected_where_the_first_is_too_many(read: object) -> None:
    text = b"[" + b"0," * (SMALL - 2) + b"0"
    assert callable(read)
    read(text + b"]", RULES)
    with pytest.raises(DecodeError, match=f"more than {SMALL} values") as caught:
        read(text + b",0]", RULES)
    assert (caught.value.offset, caught.value.clause) == (len(text), "limits")


@pytest.mark.usefixtures("_small_limit")
def test_separators_inside_strings_are_not_counted() -> None:
    text = b'["' + b',[\\"' * SMALL + b'"]'
    assert read_json(text, RULES).end == len(text)


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("end", [b"", b"\\"])
def test_string_without_an_end_is_read_once(end: bytes) -> None:
    """Each escaped quote would begin a string that is looked for up to the end of the text."""
    text = b'["' + b'\\"' * 20_000 + end
    began = time.process_time()
    check_json_values(text, 0, len(text), "limits")
    assert time.process_time() - began < 1  # 0.01 s; with a search from each quote minutes


@pytest.mark.parametrize("end", [b'"]', b""])
def test_escapes_take_no_memory_in_the_count(end: bytes) -> None:
    text = b'["' + b'\\"' * MAX_JSON_VALUES + end
    tracemalloc.start()
    try:
        check_json_values(text, 0, len(text), "limits")
        assert tracemalloc.get_traced_memory()[1] < 8_000_000  # 120 MB with a place for each escape
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("_small_limit")
def test_values_after_the_first_are_not_counted() -> None:
    text = b"[0]" * SMALL
    assert read_json_value(text, RULES).end == 3


@pytest.mark.parametrize("name", WITH_LIMIT)
@pytest.mark.parametrize("kind", ["given", "unbounded"])
def test_decompressed_bytes_are_bounded_by_the_option(name: str, kind: str) -> None:
    """Decoding, the fast decoder and explaining give the same error, whatever the functions."""
    value = zlib.compress(b" " * (SMALL + 1))
    options: dict[str, str | int | bool] = {"max-decompressed-bytes": SMALL}
    functions = Compression(zlib.compress, zlib.decompress)
    if any(option.name == "content-encoding" for option in get_format(name).options):
        options |= {"content-encoding": "deflate", "encoding": "json"}
    elif kind == "given":
        functions = known_compressions().get("lz4") or pytest.skip("needs cramjam")
        value = functions.compress(b" " * (SMALL + 1))
    if "content-encoding" not in options:
        options["large-message-handle-compression"] = "lz4"
    message = KafkaMessage(None, value)
    if name == "open-protocol":
        key = b'{"ts":1,"scm":"s","tbl":"t","t":1}'
        message = KafkaMessage(
            (1).to_bytes(8, "big") + len(key).to_bytes(8, "big") + key,
            len(value).to_bytes(8, "big") + value,
        )
    tables = TABLES if get_format(name).needs_tables else ()
    context = Context(options, tables, compressions={"lz4": functions})
    format_ = get_format(name)
    errors = [format_.explain(message, context=context).error]
    fast = format_.decoder(context)
    for decode in (partial(format_.to_events, context=context), fast):
        with pytest.raises(DecodeError) as caught:
            list(decode(message))
        errors.append(caught.value)
    assert len(set(map(str, errors))) == 1
    assert errors[0] is not None
    assert errors[0].clause.endswith(": limits")
    assert str(SMALL) in errors[0].problem


@pytest.mark.parametrize("name", ["lz4", "lz4-block", "snappy"])
def test_installed_compressions_stop_at_the_limit(name: str) -> None:
    found = known_compressions().get(name) or pytest.skip("needs cramjam")
    assert found.decompress_within is not None
    packed = found.compress(b"a" * 5_000_000)
    assert found.decompress_within(packed, 5_000_000) == b"a" * 5_000_000
    with pytest.raises(SizeLimitError):
        found.decompress_within(packed, 4_999_999)
    with pytest.raises(ValueError, match=r"."):
        found.decompress_within(packed[:10], 5_000_000)


@pytest.mark.parametrize("kind", ["growing", "unbounded"])
def test_decompressed_items_of_one_message_share_the_limit(kind: str) -> None:
    """The limit is one of a message: otherwise each of its items may have as many bytes."""
    row = b'{"u":{"id":{"t":8,"h":true,"f":11,"v":1}}' + b" " * (SMALL // 2) + b"}"
    functions = Compression(zlib.compress, zlib.decompress)
    if kind == "growing":
        functions = known_compressions().get("lz4") or pytest.skip("needs cramjam")
    key, value = b'{"ts":1,"scm":"s","tbl":"t","t":1}', functions.compress(row)
    codec = get_format("open-protocol")

    def context(limit: int) -> Context:
        options: dict[str, str | int | bool] = {
            "large-message-handle-compression": "lz4",
            "max-decompressed-bytes": limit,
        }
        return Context(options, compressions={"lz4": functions})

    message = KafkaMessage(
        (1).to_bytes(8, "big") + 2 * (len(key).to_bytes(8, "big") + key),
        2 * (len(value).to_bytes(8, "big") + value),
    )
    assert len(list(codec.to_events(message, context=context(2 * len(row))))) == 2
    too_small = context(2 * len(row) - 1)
    with pytest.raises(DecodeError, match=f"more than {2 * len(row) - 1} bytes") as decoded:
        list(codec.to_events(message, context=too_small))
    explained = codec.explain(message, context=too_small).error
    assert explained is not None
    assert (explained.offset, explained.problem) == (decoded.value.offset, decoded.value.problem)
