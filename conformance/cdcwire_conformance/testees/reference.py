"""The reference codecs as a testee: ``cdcwire testee``.

Also the pattern for a testee in Python. An error that is not a rejection is not caught: it ends the
program with its traceback on standard error, as a crash should look.
"""

from __future__ import annotations

import base64
import sys
import traceback
from collections.abc import Mapping
from typing import BinaryIO

from cdcwire import __version__
from cdcwire.compressions import known_compressions
from cdcwire.files.json_messages import json_line
from cdcwire.format import Format
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.protocol.requests import (
    PROTOCOL_VERSION,
    RequestError,
    check_members,
    parse_object,
    parse_request,
)
from cdcwire_conformance.testees.codecs import answer_decode, answer_encode
from cdcwire_conformance.testees.one_shot import ACCEPTED, REJECTED

CRASHED = 70  # not 1, which means rejected


def describe() -> dict[str, Json]:
    """Return the answer to start."""
    return {
        "protocol": PROTOCOL_VERSION,
        "name": "cdcwire",
        "version": __version__,
        "language": "Python",
        "ahead": True,
        "formats": {name: _claim(get_format(name)) for name in FORMAT_NAMES},
    }


def _claim(codec: Format) -> dict[str, Json]:
    can_compress = {"lz4", "snappy"} <= set(known_compressions())
    lacks = [] if can_compress or "compression" not in codec.features else ["compression"]
    return {"encode": True, "without": lacks, "choices": dict(codec.choices)}


def answer(request: Mapping[str, Json]) -> dict[str, Json]:
    """Return the answer to decode or encode, without its number."""
    codec = get_format(request["format"])
    if request["cmd"] == "decode":
        return answer_decode(request, codec.to_events, codec.prepared)
    return answer_encode(request, codec.from_events)


def serve(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Answer line by line until stop, or the end of the input. Returns: the exit code.

    A line that is not a request of the protocol is answered with an error.
    """
    for line in stdin:
        try:
            request = parse_request(line)
            if request["cmd"] == "stop":
                break
            if request["cmd"] == "start":
                document = describe()
            else:
                document = {"seq": request["seq"], **answer(request)}
        except RequestError as error:
            document = error.answer()
        _say(stdout, document)
    return 0


def answer_once(cmd: str, format_name: str, stdin: BinaryIO, stdout: BinaryIO, raw: bool) -> int:
    """Answer the one request on standard input. Returns: 0 accepted, 1 rejected, 70 an error."""
    data = stdin.read()
    try:
        if raw:
            value = base64.b64encode(data).decode("ascii")
            request: dict[str, Json] = {"messages": [{"key": None, "value": value}]}
        else:
            request = parse_object(data)
        request.update(cmd=cmd, format=format_name)
        check_members(request, cmd)
        document = answer(request)
    except RequestError as error:
        _say(stdout, error.answer())
        return CRASHED
    if "seq" in request:
        document = {"seq": request["seq"], **document}
    _say(stdout, document)
    return REJECTED if "rejected" in document else ACCEPTED


def _say(stdout: BinaryIO, document: Json) -> None:
    stdout.write(json_line(document))
    stdout.flush()


def main(argv: list[str]) -> int:
    """Run as ``python -m cdcwire_conformance.testees.reference [decode|encode FORMAT] [--raw]``."""
    raw = "--raw" in argv
    words = [word for word in argv if word != "--raw"]
    try:
        if words:
            return answer_once(words[0], words[1], sys.stdin.buffer, sys.stdout.buffer, raw)
        return serve(sys.stdin.buffer, sys.stdout.buffer)
    except Exception:  # noqa: BLE001  (the edge: a crash shows its traceback and must not exit with 1)
        traceback.print_exc()
        return CRASHED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
