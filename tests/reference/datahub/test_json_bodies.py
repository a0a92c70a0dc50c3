"""Bodies of DataHub in JSON: what is rejected, and what a large one keeps in memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.datahub.body import (
    body_parts,
    read_body,
    write_body,
)
from cdcwire.datahub.fields import (
    Field,
)
from cdcwire.datahub.json_records import LARGE
from cdcwire.datahub.message import Body, Record

FIELDS = (Field("a", "BIGINT"), Field("b", "STRING"), Field("c", "STRING"))


JSON_DAMAGES: dict[str, tuple[str, str, tuple[str | int, ...]]] = {
    "no object": ("[]", "datahub: json", ()),
    "no records": ('{"Action":"pub"}', "datahub: json", ("Records",)),
    "other action": ('{"Action":"sub","Records":[]}', "datahub: json", ("Action",)),
    "record": ('{"Records":[1]}', "datahub: records", ("Records", 0)),
    "no data": ('{"Records":[{}]}', "datahub: records", ("Records", 0, "Data")),
    "data": ('{"Records":[{"Data":"x"}]}', "datahub: records", ("Records", 0, "Data")),
    "two values": ('{"Records":[{"Data":["1","2"]}]}', "datahub: records", ("Records", 0, "Data")),
    "a number": (
        '{"Records":[{"Data":[1,"2",null]}]}',
        "datahub: json",
        ("Records", 0, "Data", "a"),
    ),
    "no BIGINT": (
        '{"Records":[{"Data":["x","2",null]}]}',
        "datahub: integer fields",
        ("Records", 0, "Data", "a"),
    ),
    "attribute": (
        '{"Records":[{"Data":["1","2",null],"Attributes":{"k":1}}]}',
        "datahub: attributes",
        ("Records", 0, "Attributes", "k"),
    ),
    "attributes": (
        '{"Records":[{"Data":["1","2",null],"Attributes":[]}]}',
        "datahub: attributes",
        ("Records", 0, "Attributes"),
    ),
    "sequence": (
        '{"Records":[{"Data":["1","2",null],"Sequence":9223372036854775808}]}',
        "datahub: records",
        ("Records", 0, "Sequence"),
    ),
    "shard": (
        '{"Records":[{"Data":["1","2",null],"ShardId":1}]}',
        "datahub: records",
        ("Records", 0, "ShardId"),
    ),
    "count": ('{"RecordCount":1,"Records":[]}', "datahub: json", ("RecordCount",)),
    "twice": ('{"Records":[],"Records":[]}', "datahub: json", ("Records",)),
}


@pytest.mark.parametrize("spaces", [0, LARGE])
@pytest.mark.parametrize(("text", "clause", "path"), JSON_DAMAGES.values(), ids=JSON_DAMAGES)
def test_json_that_is_damaged_is_rejected(
    text: str, clause: str, path: tuple[str | int, ...], spaces: int
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_body(text.encode() + b" " * spaces, FIELDS)
    assert (caught.value.clause, caught.value.path) == (clause, path)


def test_records_of_a_large_body_in_json_are_not_kept() -> None:
    records = tuple(Record((number, "scooter8", None), (("k", "v"),)) for number in range(4000))
    raw, headers = write_body(Body("json", records), FIELDS)
    assert len(raw) > LARGE
    assert read_body(raw, FIELDS, headers=headers).records() == tuple(
        replace(record, offset=raw.index(f'["{record.data[0]}",'.encode())) for record in records
    )
    tracemalloc.start()
    try:
        assert sum(1 for _ in body_parts(raw, FIELDS, headers=headers)) == 4001
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * len(raw)
