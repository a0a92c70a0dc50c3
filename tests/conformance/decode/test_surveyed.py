"""The facts about a share of a feed, which go to the process that joins the shares."""

from __future__ import annotations

import json
import pickle

import pytest

from cdcwire.arrow.batches import MessagePlace
from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.message import KafkaMessage
from cdcwire.registry import get_format
from cdcwire_conformance.decode.reading import Located
from cdcwire_conformance.decode.surveying import Survey


def test_share_without_rows_is_sent() -> None:
    format_ = get_format("debezium-json")
    survey = Survey(format_, NO_CONTEXT, None, "stop", look_into_text=False, has_lines=False)
    place = MessagePlace("t", 0, 0, None, None)
    found = survey.found([(place, KafkaMessage(b'{"id":1}', None))])
    assert found.extent.messages == 1
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("cut", range(1, 4))
def test_key_of_another_form_is_found_in_whatever_share_it_is(cut: int) -> None:
    """All keys of a share may lack a column that those of the other share have."""
    format_ = get_format("debezium-json")
    source = {
        "version": "3.6.1.Final", "connector": "mysql", "name": "p", "ts_ms": 1,
        "snapshot": "false", "db": "s", "table": "t", "server_id": 1, "file": "b.1", "pos": 1,
        "row": 0,
    }  # fmt: skip
    located: list[Located] = []
    for n in range(4):
        row = {"id": n, "sub": n}
        value = {"before": None, "after": row, "source": source, "op": "c", "ts_ms": 1}
        key = row if n < 2 else {"id": n}
        message = KafkaMessage(json.dumps(key).encode(), json.dumps(value).encode())
        located.append((MessagePlace("t", 0, n, None, None), message))
    survey = Survey(format_, NO_CONTEXT, None, "stop", look_into_text=False, has_lines=False)
    whole = survey.found(located).keys.with_forms()
    shares = survey.found(located[:cut]).joined(survey.found(located[cut:]))
    assert shares.keys.with_forms() == whole
    assert whole.contradicting == 1
    (first,) = whole.first
    assert (first.place.offset, first.column, first.in_key, first.in_row) == (
        2,
        "sub",
        "absent",
        "2",
    )
