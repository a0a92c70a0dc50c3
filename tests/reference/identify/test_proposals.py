"""Each proposal of ``identify`` decodes as it says once its options are given as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cdcwire.compressions import known_compressions
from cdcwire.console.problems import parse_option_arguments
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.identify import Candidate, Sample, identify_messages
from cdcwire.model.events import Table
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_generators.domain import domain_of
from cdcwire_generators.messages import definitions_for, encoded
from cdcwire_generators.strategies import change_streams
from cdcwire_generators.strategies.samples import option_settings

# Any text may end a line or stand for NULL: identify tries likely ones, and says what it decodes.
WITH_FREE_TEXTS = {"csv"}
BYTES_ALONE = Context(compressions=known_compressions())


def proposals(messages: Sequence[Message], context: Context) -> tuple[Candidate, ...]:
    samples = [Sample(str(number), (each,)) for number, each in enumerate(messages)]
    found = identify_messages(samples, context)
    for candidate in found.candidates:
        assert decoded(candidate, messages, context) == candidate.decoded, candidate
    return () if found.found is None else (found.found,)


def decoded(candidate: Candidate, messages: Sequence[Message], context: Context) -> int:
    """Return how many messages the format decodes with the options of a proposal."""
    format_ = get_format(candidate.format)
    shown = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in candidate.options.items()
    }
    options = parse_option_arguments([f"{name}={value}" for name, value in shown.items()])
    try:
        known = format_.prepared(messages, replace(context, options=options))
    except (DecodeError, OptionError):
        return 0
    count = 0
    for message in messages:
        try:
            list(format_.to_events(message, context=known))
            count += 1
        except (DecodeError, OptionError):
            continue
    return count


@pytest.mark.long
@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_every_proposal_for_the_corpus_decodes_as_it_says(format_name: str) -> None:
    refused = []
    for case in load_cases([format_name]):
        if case.options.get("claim-check-raw-value") is True:
            continue  # the form of a file outside of the message, which no byte of it shows
        if "column-selectors" in case.options:
            continue  # the columns of records, which no byte shows either
        for found in proposals(case.messages, BYTES_ALONE):
            is_whole = found.missing is not None or decodes_with_its_definitions(found, case)
            if case.expect == "accept" and not is_whole:
                refused.append(case.id)
    assert refused == []


def decodes_with_its_definitions(found: Candidate, case: Case) -> bool:
    """Return whether a proposal decodes a case. Some messages need the table that it defines."""
    known = case.context()
    context = replace(BYTES_ALONE, tables=known.tables, blobs=known.blobs)
    return len(case.messages) in (found.decoded, decoded(found, case.messages, context))


@pytest.mark.long
@pytest.mark.parametrize("format_name", FORMAT_NAMES)
@given(data=st.data())
def test_proposals_for_generated_messages_decode_all_of_them(
    format_name: str, data: st.DataObject
) -> None:
    """Settings of all kinds are drawn, dialects among them."""
    format_ = get_format(format_name)
    settings = data.draw(option_settings(format_))
    stream = data.draw(change_streams(domain=domain_of(format_, is_plausible=True)))
    try:
        messages = encoded(stream.events, format_, settings, tables=stream.tables)
    except EncodeError:
        assume(False)
    assume(messages)
    tables: tuple[Table, ...] = ()
    if format_.needs_tables:
        tables = definitions_for(stream.events, format_, settings, stream.tables)
    for found in proposals(messages, replace(BYTES_ALONE, tables=tables)):
        assert found.format == format_name
        if format_name in WITH_FREE_TEXTS and found.sureness != "sure":
            continue
        assert found.missing is not None or found.decoded == len(messages), found
