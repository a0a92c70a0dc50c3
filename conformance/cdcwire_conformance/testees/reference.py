"""The reference codecs as a program behind both doors: ``cdcwire testee``.

Also the pattern for a testee in Python. An error that is no rejection is not caught: it ends the
program with its traceback on standard error, as a crash should look.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from typing import BinaryIO

from cdcwire import __version__
from cdcwire.core.format import Format
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire.model.text import Json
from cdcwire_conformance.compressions import known_compressions
from cdcwire_conformance.protocol.requests import PROTOCOL_VERSION
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
    """Answer line by line until stop, or the end of the input. Returns: the exit code."""
    for line in stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            break
        if request["cmd"] == "start":
            document = describe()
        else:
            document = {"seq": request["seq"], **answer(request)}
        stdout.write(json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n")
        stdout.flush()
    return 0


def answer_once(cmd: str, format_name: str, stdin: BinaryIO, stdout: BinaryIO, raw: bool) -> int:
    """Answer the one request on standard input. Returns: 0 accepted, 1 rejected."""
    data = stdin.read()
    if raw:
        import base64

        request = {"messages": [{"key": None, "value": base64.b64encode(data).decode("ascii")}]}
    else:
        request = json.loads(data)
    document = answer({**request, "cmd": cmd, "format": format_name})
    if "seq" in request:
        document = {"seq": request["seq"], **document}
    stdout.write(json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n")
    stdout.flush()
    return REJECTED if "rejected" in document else ACCEPTED


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
