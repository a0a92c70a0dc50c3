"""The format as the registry offers it: options, claim checks, compression, losses, its page."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

import cdcwire.formats.open_protocol
from cdcwire.core.context import Compression, Context
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats.open_protocol import read_settings
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.mysql.types import column_of
from cdcwire.registry import get_format

FORMAT = get_format("open-protocol")
ROOT = Path(__file__).resolve().parents[4]
ROW = RowChange(
    Table("t", "s", key=("id",)),
    "insert",
    None,
    Image((column_of("id", 3, 11), column_of("note", 252, 65)), (1, b"\x00" * 400)),
    Position(9),
)
OPTIONS: dict[str, str | int | bool] = {
    "max-message-bytes": 400,
    "large-message-handle-option": "claim-check",
    "claim-check-storage-uri": "file:///store",
}


def test_events_go_through_and_come_back() -> None:
    messages = list(FORMAT.from_events([ROW], context=Context()))
    assert [event for m in messages for event in FORMAT.to_events(m, context=Context())] == [ROW]


def test_claim_check_goes_through_the_blobs() -> None:
    stored, sent = FORMAT.from_events([ROW], context=Context(options=OPTIONS))
    assert isinstance(stored, StoredFile)
    blobs = {f"file:///store/{stored.path}": stored.value}
    assert list(FORMAT.to_events(sent, context=Context(options=OPTIONS, blobs=blobs))) == [ROW]


def test_claim_check_among_the_messages_is_found_by_its_name() -> None:
    messages = list(FORMAT.from_events([ROW], context=Context(options=OPTIONS)))
    context = FORMAT.prepared(messages, Context())
    assert [event for m in messages for event in FORMAT.to_events(m, context=context)] == [ROW]


@pytest.mark.parametrize("name", ["lz4", "snappy"])
def test_compression_without_functions_is_a_value_error(name: str) -> None:
    context = Context(options={"large-message-handle-compression": name})
    with pytest.raises(ValueError, match=name):
        list(FORMAT.from_events([ROW], context=context))
    with pytest.raises(ValueError, match=name):
        list(FORMAT.to_events(KafkaMessage(b"", b""), context=context))
    with pytest.raises(ValueError, match=name):
        FORMAT.explain(KafkaMessage(b"", b""), context=context)


def test_compression_is_given_by_the_caller() -> None:
    context = Context(
        options={"large-message-handle-compression": "lz4"},
        compressions={"lz4": Compression(zlib.compress, zlib.decompress)},
    )
    messages = list(FORMAT.from_events([ROW], context=context))
    assert [event for m in messages for event in FORMAT.to_events(m, context=context)] == [ROW]
    assert messages != list(FORMAT.from_events([ROW], context=Context()))


def test_explain_is_the_format_s() -> None:
    (message,) = FORMAT.from_events([ROW], context=Context())
    found = FORMAT.explain(message, context=Context())
    assert found.error is None
    assert found.spans[-1].end == len(message.value or b"")


@pytest.mark.parametrize(
    "options",
    [
        {"dialect": "canal"},
        {"large-message-handle-option": "drop"},
        {"large-message-handle-compression": "zstd"},
        {"max-batch-size": "many"},
        {"output-old-value": "maybe"},
        {"no-such-option": 1},
    ],
    ids=lambda options: next(iter(options)),
)
def test_option_that_is_not_allowed_is_a_value_error(options: dict[str, str | int]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        read_settings(options)


def test_settings_follow_the_options() -> None:
    settings = read_settings(
        {
            "max-message-bytes": "100",
            "sink.open.output-old-value": "false",
            "only-output-updated-columns": True,
            "dialect": "ticdc",
            "time-zone": "UTC",
        }
    )
    assert (settings.max_message_bytes, settings.max_batch_size) == (100, 16)
    assert (settings.output_old_value, settings.only_updated_columns) == (False, True)
    assert (settings.dialect, settings.time_zone) == ("ticdc", "UTC")


def test_page_has_every_clause_that_the_code_names() -> None:
    page = (ROOT / FORMAT.page).read_text(encoding="utf-8")
    headings = set(re.findall(r"^### (open-protocol: .+)$", page, re.MULTILINE))
    folder = Path(cdcwire.formats.open_protocol.__file__).parent
    named = {
        clause
        for module in folder.glob("*.py")
        for clause in re.findall(r'"(open-protocol: [a-z0-9 ]+)"', module.read_text("utf-8"))
    }
    assert named <= headings
