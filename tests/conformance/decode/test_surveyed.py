"""The facts about a share of a feed, which go to the process that joins the shares."""

from __future__ import annotations

import pickle

from cdcwire.arrow.batches import MessagePlace
from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.message import KafkaMessage
from cdcwire.registry import get_format
from cdcwire_conformance.decode.surveying import Survey


def test_share_without_rows_is_sent() -> None:
    format_ = get_format("debezium-json")
    survey = Survey(format_, NO_CONTEXT, None, "stop", look_into_text=False, has_lines=False)
    place = MessagePlace("t", 0, 0, None, None)
    found = survey.found([(place, KafkaMessage(b'{"id":1}', None))])
    assert found.extent.messages == 1
    assert pickle.loads(pickle.dumps(found)) == found
