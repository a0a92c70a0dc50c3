"""A local replacement for the DataHub service, for the SDKs' put and get requests.

It also answers the requests that the SDKs send before and around them. It has one project and one
topic of one shard, and uses them for any name. Put requests are kept unchanged; a get request
returns the answer that was set before. Signatures are not checked. The service listens on
127.0.0.1 only, and uses one thread per connection.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from cdcwire.core.errors import DecodeError
from cdcwire.datahub.body import DEFAULT_SETTINGS, open_content
from cdcwire.datahub.fields import Field
from cdcwire.datahub.frame import write_frame

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_PUTS = 200  # kept at a time; more are refused
PATIENCE = 20.0  # seconds for a connection that says nothing
SHARD = "0"
_NOTHING_FAILED = b"\x08\x00"  # protobuf: failed_count 0


@dataclass(frozen=True, slots=True)
class Put:
    """What came in a put request. ``headers``: names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class _State:
    """The topic, the answer to a get and what was put. ``lock``: all is shared with a thread."""

    fields: Sequence[Field] | None = None
    versions: Sequence[int] = (0,)
    answer: tuple[bytes, Mapping[str, str]] = (b"", MappingProxyType({}))
    puts: list[Put] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Service:
    """The service, running from ``with`` to its end. ``endpoint``: where SDKs find it."""

    def __init__(self) -> None:
        self._state = _State()
        handler = type("_BoundHandler", (_Handler,), {"state": self._state})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def endpoint(self) -> str:
        """The URL at which SDKs reach the service."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)

    def set_topic(self, fields: Sequence[Field] | None, versions: Sequence[int] = (0,)) -> None:
        """Say what the topic is. ``fields``: of a Tuple topic; None is a Blob topic.

        ``versions``: the numbers under which its schema is registered.
        """
        with self._state.lock:
            self._state.versions = tuple(versions)
            self._state.fields = None if fields is None else tuple(fields)

    def set_answer(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Say what the next gets are answered with."""
        with self._state.lock:
            self._state.answer = (body, dict(headers))

    def take_puts(self) -> list[Put]:
        """Return what was put since this was called last."""
        with self._state.lock:
            found, self._state.puts = self._state.puts, []
            return found

    def take_calls(self) -> list[str]:
        """Return the names of the calls since this was asked last, in their order."""
        with self._state.lock:
            found, self._state.calls = self._state.calls, []
            return found


def schema_text(fields: Sequence[Field]) -> str:
    """Return the schema of a topic as the service says it: JSON in a text."""
    listed: list[dict[str, Any]] = []
    for each in fields:
        listed.append({"name": each.name, "type": each.type.lower()})
        if not each.nullable:
            listed[-1]["notnull"] = True
    return json.dumps({"fields": listed})


class _Server(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's would look up the host's name
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    """The calls. The action distinguishes a get of records from a put."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    # An answer in one piece and at once: in two, the second would wait for the first one's receipt.
    wbufsize = -1
    disable_nagle_algorithm = True
    state: _State

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        match self._steps():
            case ["projects", _, "topics", _]:
                self._note("get topic")
                self._say(self._topic())
            case ["projects", _, "topics", _, "shards"]:
                self._note("list shards")
                self._say(_SHARDS)
            case _:
                self._refuse(404, "NoSuchResource")

    def do_POST(self) -> None:
        size = self.headers.get("content-length", "")
        if not (size.isascii() and size.isdigit() and int(size) <= MAX_BODY_BYTES):
            self.close_connection = True
            self._refuse(413, "InvalidParameter")
            return
        body = self.rfile.read(int(size))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked, action = _action(body, headers)
        match self._steps():
            case ["projects", _, "topics", _]:
                self._about_schemas(action)
            case ["projects", _, "topics", _, "shards"] if action == "pub":
                self._put(Put(self.path, headers, body))
            case ["projects", _, "topics", _, "shards", _] if action == "pub":
                self._put(Put(self.path, headers, body))
            case ["projects", _, "topics", _, "shards", _] if action == "sub":
                self._note("get records")
                with self.state.lock:
                    answer, more = self.state.answer
                self._send(200, answer, more)
            case ["projects", _, "topics", _, "shards", _] if action == "cursor":
                self._note(f"get cursor {asked.get('Type')}")
                self._say({"Cursor": "30005af19b3800000000000000000000", "Sequence": 0, **_TIMES})
            case _:
                self._refuse(404, "NoSuchResource")

    def _about_schemas(self, action: str) -> None:
        """Answer for the schemas of the topic: it has one, maybe under several numbers."""
        with self.state.lock:
            fields, numbers = self.state.fields, self.state.versions
        text = schema_text(fields or ())
        known = {"CreateTime": 0, "Creator": "cdcwire", "RecordSchema": text}
        versions = [{"VersionId": number, **known} for number in numbers]
        self._note(action)
        match action:
            case "ListSchema":
                page = {"PageNumber": 1, "PageSize": 100, "PageCount": 1}
                self._say({**page, "TotalCount": len(versions), "RecordSchemaList": versions})
            case "GetSchema":
                self._say(versions[-1])
            case "RegisterSchema":
                self._say({"VersionId": numbers[-1]})
            case _:
                self._refuse(404, "NoSuchResource")

    def _put(self, put: Put) -> None:
        self._note("put records")
        with self.state.lock:
            is_full = len(self.state.puts) >= MAX_PUTS
            if not is_full:
                self.state.puts.append(put)
        if is_full:
            self._refuse(429, "LimitExceeded")
        elif "json" in put.headers.get("content-type", ""):
            self._say({"FailedRecordCount": 0, "FailedRecords": []})
        else:
            content_type = {"content-type": put.headers.get("content-type", "")}
            self._send(200, write_frame(_NOTHING_FAILED), content_type)

    def _topic(self) -> dict[str, Any]:
        with self.state.lock:
            fields = self.state.fields
        topic = {"Comment": "", "ShardCount": 1, "Lifecycle": 1, "CreateTime": 0, **_MODIFIED}
        if fields is None:
            return {**topic, "RecordType": "BLOB"}
        return {**topic, "RecordType": "TUPLE", "RecordSchema": schema_text(fields)}

    def _steps(self) -> list[str]:
        return [step for step in urlsplit(self.path).path.split("/") if step]

    def _note(self, call: str) -> None:
        with self.state.lock:
            if len(self.state.calls) < MAX_PUTS:
                self.state.calls.append(call)

    def _refuse(self, status: int, code: str) -> None:
        problem = f"{self.command} {self.path} is not served here"
        raw = json.dumps({"ErrorCode": code, "ErrorMessage": problem}).encode()
        self._send(status, raw, _JSON)

    def _say(self, document: Mapping[str, Any]) -> None:
        self._send(200, json.dumps(document).encode(), _JSON)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.send_header("x-datahub-request-id", "cdcwire")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


_JSON = {"content-type": "application/json"}
_TIMES = {"RecordTime": 0}
_MODIFIED = {"LastModifyTime": 0}
_SHARDS = {
    "Shards": [
        {
            "ShardId": SHARD,
            "State": "ACTIVE",
            "ClosedTime": 0,
            "BeginHashKey": "0" * 32,
            "EndHashKey": "F" * 32,
            "ParentShardIds": [],
            "LeftShardId": "4294967295",
            "RightShardId": "4294967295",
            "Address": "",
        }
    ],
    "Protocol": "http1.1",
    "Interval": 300000,
}


def _action(body: bytes, headers: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """Return what a request in JSON asks, and its action: a header's, or the one in JSON."""
    action = headers.get("x-datahub-request-action")
    if action is not None:
        return {}, action
    try:
        found = json.loads(open_content(body, DEFAULT_SETTINGS, headers))
    except (DecodeError, ValueError):
        return {}, ""
    if not isinstance(found, dict):
        return {}, ""
    return found, str(found.get("Action", ""))
