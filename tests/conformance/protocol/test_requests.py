"""What the runner sends."""

from __future__ import annotations

import json

from cdcwire_conformance.corpus import load_cases
from cdcwire_conformance.protocol.requests import (
    START_LINE,
    STOP_LINE,
    Request,
    decode_request,
    encode_request,
)


def test_line_is_one_line_of_ascii() -> None:
    line = Request("decode", "craft", {"tables": ["\u2028\n\u0085 é \ud800"]}).line(7)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert json.loads(line)["tables"] == ["\u2028\n\u0085 é \ud800"]


def test_line_has_its_number() -> None:
    assert json.loads(Request("encode", "craft", {}).line(7)) == {
        "cmd": "encode",
        "seq": 7,
        "format": "craft",
    }


def test_start_and_stop_are_lines_of_json() -> None:
    assert json.loads(START_LINE) == {"cmd": "start", "protocol": 1}
    assert json.loads(STOP_LINE) == {"cmd": "stop"}


def test_decode_request_tells_no_tables_where_the_bytes_say_the_types() -> None:
    case = next(case for case in load_cases(["craft"]) if case.tables)
    assert "tables" not in decode_request(case).body
    assert encode_request(case).body["tables"] == case.tables


def test_request_members_that_are_not_needed_are_missing() -> None:
    case = next(case for case in load_cases(["craft"]) if not case.options and not case.blobs)
    assert set(decode_request(case).body) == {"messages"}
