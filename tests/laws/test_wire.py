"""The wire layers lose nothing: encode(decode(b)) == b for canonical bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats import avro, canal_json, craft, csv, open_protocol
from cdcwire.formats.craft import proposal as craft_proposal
from cdcwire.registry import get_format
from cdcwire_generators.comparing import texts_of
from cdcwire_generators.domain import domain_of, fullest_options, source_domain_of
from cdcwire_generators.formats.avro.renderings import avro_renderings, schema_renderings
from cdcwire_generators.formats.craft.messages import craft_messages, craft_renderings
from cdcwire_generators.formats.craft.proposal.messages import proposal_messages
from cdcwire_generators.formats.open_protocol.messages import open_messages, open_renderings
from cdcwire_generators.messages import decoded, encoded
from cdcwire_generators.strategies import (
    KEY_SHAPES,
    change_streams,
    json_renderings,
    option_settings,
    row_changes,
)


@given(message=craft_messages())
def test_craft_canonical_bytes_come_back_byte_for_byte(message: craft.Message) -> None:
    """encode(decode(b)) == b, with undefined flag bits, unknown type codes and every float."""
    canonical = craft.encode(message)
    assert craft.encode(craft.decode(canonical)) == canonical


@given(data=st.data(), message=craft_messages())
def test_craft_every_rendering_means_the_same(data: st.DataObject, message: craft.Message) -> None:
    """decode(r) == decode(encode(m)) for every form r that the format allows for m."""
    rendering = data.draw(craft_renderings(message))
    assert craft.encode(craft.decode(rendering)) == craft.encode(message)


@given(message=proposal_messages())
def test_proposal_canonical_bytes_come_back_byte_for_byte(message: craft_proposal.Message) -> None:
    canonical = craft_proposal.encode(message)
    assert craft_proposal.encode(craft_proposal.decode(canonical)) == canonical


@given(message=proposal_messages(with_unknown=True))
def test_proposal_unknown_bits_come_back_byte_for_byte(message: craft_proposal.Message) -> None:
    """What a later version added is kept, so that nothing is lost in silence."""
    written = craft_proposal.encode(message)
    assert craft_proposal.encode(craft_proposal.decode(written)) == written


@pytest.mark.parametrize("dialect", ["tiflow", "ticdc"])
@given(data=st.data())
def test_open_protocol_canonical_bytes_come_back_byte_for_byte(
    dialect: Literal["tiflow", "ticdc"], data: st.DataObject
) -> None:
    """encode(decode(b)) == b for both producers."""
    message, context = data.draw(open_messages(dialect=dialect)), Context({"dialect": dialect})
    key, value = open_protocol.encode(message, context=context)
    again = open_protocol.decode(value, key=key)
    assert open_protocol.encode(again, context=context) == (key, value)


@given(data=st.data(), message=open_messages())
def test_open_protocol_every_rendering_means_the_same(
    data: st.DataObject, message: open_protocol.Message
) -> None:
    """decode(r) == decode(encode(m)) for every form r that a decoder takes for m."""
    key, value = data.draw(open_renderings(message))
    found = open_protocol.decode(value, key=key)
    assert open_protocol.encode(found) == open_protocol.encode(message)


@pytest.mark.parametrize("name", ["craft", "craft-proposal", "open-protocol"])
@given(data=st.data())
def test_encoded_events_are_canonical(name: str, data: st.DataObject) -> None:
    """What the model layer encodes is what the wire layer would write again."""
    stream = data.draw(change_streams())
    for message in encoded(stream.events, get_format(name)):
        assert isinstance(message, KafkaMessage)
        assert message.value is not None
        if name == "craft":
            assert craft.encode(craft.decode(message.value)) == message.value
        elif name == "craft-proposal":
            assert craft_proposal.encode(craft_proposal.decode(message.value)) == message.value
        else:
            pair = open_protocol.encode(open_protocol.decode(message.value, key=message.key))
            assert pair == (message.key, message.value)


@given(data=st.data())
def test_csv_files_come_back_byte_for_byte(data: st.DataObject) -> None:
    """encode(decode(b)) == b under every setting, with and without the names of the columns."""
    through = get_format("csv")
    options = data.draw(option_settings(through))
    settings = csv.read_settings(options)
    change = data.draw(row_changes(domain=source_domain_of(through)))
    image = change.after or change.before
    assert image is not None
    try:
        files = encoded([change], through, options)
    except EncodeError:
        return  # no integer key to make a handle of
    for file in files:
        assert isinstance(file, StoredFile)
        for names in (None, image.names):
            try:
                found = csv.decode(file.value, context=Context(options), columns=names)
            except DecodeError:
                # A name that contains the terminator looks like the end of the header line.
                assert names is None
                assert settings.output_field_header
                continue
            assert csv.encode(found, context=Context(options)) == file.value


@given(data=st.data())
def test_canal_json_messages_come_back_byte_for_byte(data: st.DataObject) -> None:
    """encode(decode(b)) == b for messages of both producers."""
    through = get_format("canal-json")
    dialect: Literal["ticdc", "canal"] = data.draw(st.sampled_from(("ticdc", "canal")))
    options = data.draw(option_settings(through, names=_OF_MESSAGES))
    options = {**options, "dialect": dialect, "enable-tidb-extension": True}
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    for message in encoded(stream.events, through, options):
        assert message.value is not None
        found = canal_json.decode(message.value)
        assert found is not None
        assert canal_json.encode(found, context=Context({"dialect": dialect})) == message.value


@given(data=st.data())
def test_canal_json_every_rendering_means_the_same(data: st.DataObject) -> None:
    """decode(r) == decode(b) for members in any order, with white space and other escapes."""
    through = get_format("canal-json")
    options = fullest_options(through)
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    for message in encoded(stream.events, through, options):
        assert isinstance(message, KafkaMessage)
        assert message.value is not None
        rendering = data.draw(json_renderings(message.value))
        found = decoded([KafkaMessage(None, rendering)], through, options)
        assert texts_of(found) == texts_of(decoded([message], through, options))


@given(data=st.data())
def test_avro_messages_come_back_byte_for_byte(data: st.DataObject) -> None:
    """encode(decode(b)) == b under every setting, for names and keys of every shape."""
    through = get_format("avro")
    options = data.draw(option_settings(through))
    domain = replace(domain_of(through), key_shapes=KEY_SHAPES, has_field_names=False)
    change = data.draw(row_changes(domain=domain))
    try:
        messages = encoded([change], through, options)
    except EncodeError:
        return  # a delete without key, names that become one
    context = through.prepared(messages, Context(options))
    for message in messages:
        if isinstance(message, KafkaMessage):
            found = avro.decode(message.value, key=message.key, context=context)
            assert avro.encode(found) == (message.key, message.value)


@given(data=st.data())
def test_avro_schema_texts_come_back_as_they_were_written(data: st.DataObject) -> None:
    """schema_text(parse_schema(text)) == text, and other texts of it say the same."""
    through = get_format("avro")
    options = data.draw(option_settings(through))
    change = data.draw(row_changes(ops=("insert",), domain=source_domain_of(through)))
    try:
        messages = encoded([change], through, options)
    except EncodeError:
        return  # a DECIMAL or a commit_ts that is too large
    for text in through.prepared(messages, NO_CONTEXT).schemas.values():
        assert avro.schema_text(avro.parse_schema(text)) == text
        rendering = data.draw(schema_renderings(text))
        assert avro.schema_text(avro.parse_schema(rendering)) == text


@given(data=st.data())
def test_avro_every_rendering_means_the_same(data: st.DataObject) -> None:
    """decode(r) == decode(b) for every form r of a record that a reader takes."""
    through = get_format("avro")
    options = fullest_options(through)
    stream = data.draw(change_streams(domain=domain_of(through), with_schema_changes=False))
    messages = encoded(stream.events, through, options)
    schemas = through.prepared(messages, NO_CONTEXT).schemas
    for message in messages:
        if not isinstance(message, KafkaMessage) or message.key is None:
            continue
        key, value = (
            raw and data.draw(avro_renderings(raw, schemas[str(int.from_bytes(raw[1:5], "big"))]))
            for raw in (message.key, message.value)
        )
        context = Context(options, schemas=schemas)
        found = list(through.to_events(KafkaMessage(key, value), context=context))
        assert texts_of(found) == texts_of(through.to_events(message, context=context))


_OF_MESSAGES = (
    "only-output-updated-columns",
    "content-compatible",
    "delete-only-output-handle-key-columns",
    "sent-time",
)
