"""The registry's client against a small server on loopback, which answers as each test says."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import shutil
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("urllib3", reason="the extra registry is not installed")

from urllib3.exceptions import SSLError

from cdcwire import DecodeError, Decoder, RowChange
from cdcwire.core.context import Context, SchemaId
from cdcwire.formats.avro import FORMAT
from cdcwire.schema_registry import (
    MAX_ANSWER_BYTES,
    ConfluentRegistry,
    RegistryError,
    RetryPolicy,
    open_schemas,
    parse_address,
)
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import load_case

TEXT = '{"type":"record","name":"t","namespace":"default.s","fields":[]}'
QUICK = RetryPolicy(connect=5.0, answer=5.0, tries=3)
HASTY = RetryPolicy(connect=5.0, answer=0.2, tries=4)
# On a busy machine the headers of an answer may come later than the time for all of it.
NOT_IN_TIME = r"(no answer|the answer was not whole) in 0\.2 s \(tried 2 times"
Body = bytes | list[int] | dict[str, object]


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """``answers`` are given one after the other, the last one again and again."""

    url: str = ""
    answers: list[tuple[int, Body] | Callable[[BaseHTTPRequestHandler], None]] = field(
        default_factory=list
    )
    requests: list[Request] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def client(self, patience: RetryPolicy = QUICK, user: str = "") -> ConfluentRegistry:
        self.waits: list[float] = []
        url = self.url.replace("://", f"://{user}@") if user else self.url
        return ConfluentRegistry(url, patience, sleep=self.waits.append)

    def requests_when(self, number: int) -> int:
        """Return how many requests came; wait for some, as a client may give up before."""
        for _ in range(1000):
            if len(self.requests) >= number:
                break
            self.is_over.wait(0.03)
        return len(self.requests)

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        """Say nothing until the test is over."""
        self.is_over.wait(30)
        handler.close_connection = True


@contextmanager
def running(certificate: Path | None = None) -> Iterator[Server]:
    """Run a server. ``certificate``: with TLS, by this certificate."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append(Request(self.command, self.path, headers, body))
            place = min(len(server.requests), len(server.answers)) - 1
            answer = server.answers[place]
            if callable(answer):
                answer(self)
                return
            status, content = answer
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = answer

        def log_message(self, format: str, *arguments: object) -> None:
            """Be silent."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that leave are part of the tests."""

    with Quiet(("127.0.0.1", 0), Handler) as httpd:
        server.url = f"http://127.0.0.1:{httpd.server_address[1]}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, certificate.with_suffix(".key"))
            httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
            server.url = f"https://localhost:{httpd.server_address[1]}"
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            httpd.shutdown()
            thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as found:
        yield found


def get_error(server: Server, schema_id: SchemaId = 7, user: str = "") -> RegistryError:
    with pytest.raises(RegistryError) as caught:
        server.client(user=user).get(schema_id)
    assert "\n" not in str(caught.value)
    return caught.value


def register_error(server: Server) -> RegistryError:
    with pytest.raises(RegistryError) as caught:
        server.client().register("t-value", TEXT)
    return caught.value


def test_registering_sends_what_the_producer_sends(server: Server) -> None:
    server.answers = [(200, {"id": 7})]
    assert server.client().register("a b-key", TEXT) == 7
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/subjects/a+b-key/versions")
    assert json.loads(request.body) == {"schema": TEXT}
    assert request.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    assert request.headers["accept"].startswith("application/vnd.schemaregistry.v1+json, ")


def test_schemas_are_asked_for_once(server: Server) -> None:
    server.answers = [(200, {"schema": TEXT})]
    client = server.client()
    assert [client.get(7), client.get(7)] == [TEXT, TEXT]
    assert [each.path for each in server.requests] == ["/schemas/ids/7"]
    assert client.requests == 1


def test_texts_are_registered_once_for_each_subject(server: Server) -> None:
    server.answers = [(200, {"id": 1}), (200, {"id": 1}), (200, {"id": 2})]
    client = server.client()
    assert [client.register("a", TEXT), client.register("a", TEXT)] == [1, 1]
    assert client.register("b", TEXT) == 1
    assert client.register("a", TEXT + " ") == 2
    assert client.requests == len(server.requests) == 3


def test_unknown_id_is_not_an_error_and_is_requested_again(server: Server) -> None:
    server.answers = [(404, {"error_code": 40403, "message": "no"}), (200, {"schema": TEXT})]
    client = server.client()
    assert client.get(7) is None
    assert client.get(7) == TEXT


def test_address_of_something_else_is_an_error(server: Server) -> None:
    server.answers = [(404, b"<html>not here</html>")]
    error = get_error(server)
    assert error.status == 404
    assert "root of the registry's interface" in str(error)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_errors_of_the_server_are_tried_again(server: Server, status: int) -> None:
    server.answers = [(status, b""), (status, b"<html>"), (200, {"schema": TEXT})]
    assert server.client().get(7) == TEXT
    assert len(server.requests) == 3
    assert server.waits == [0.5, 1.0]


def test_tries_have_an_end(server: Server) -> None:
    server.answers = [(500, b"")]
    error = get_error(server)
    assert len(server.requests) == 3
    assert "answers 500 (tried 3 times)" in str(error)
    assert server.url in str(error)


def test_waits_double_up_to_a_limit() -> None:
    patience = RetryPolicy(first_wait=0.5, longest_wait=30.0)
    assert [patience.wait(tries) for tries in (1, 2, 3, 6, 7, 8, 5000)] == [
        *(0.5, 1.0, 2.0, 16.0, 30.0, 30.0, 30.0)
    ]


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "log"),
        (401, "user and password"),
        (403, "user"),
        (409, "compatibility"),
        (422, "schema"),
        (429, "later"),
    ],
)
def test_errors_of_the_client_are_final(server: Server, status: int, advice: str) -> None:
    server.answers = [(status, {"error_code": status * 100, "message": "said\nso"})]
    error = register_error(server)
    assert len(server.requests) == 1
    assert (error.status, error.code) == (status, status * 100)
    assert f"answers {status}: said so; " in str(error)
    assert advice in error.advice


def test_refused_text_is_asked_for_again(server: Server) -> None:
    server.answers = [(409, {"error_code": 409, "message": "no"}), (200, {"id": 3})]
    client = server.client()
    with pytest.raises(RegistryError):
        client.register("a", TEXT)
    assert client.register("a", TEXT) == 3


def test_redirects_are_not_followed(server: Server) -> None:
    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", server.url + "/elsewhere")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.answers = [redirect]
    assert "redirects are not followed" in str(get_error(server))
    assert len(server.requests) == 1


def test_silence_ends_in_time_and_is_tried_again_once(server: Server) -> None:
    server.answers = [server.hang]
    with pytest.raises(RegistryError, match=r"no answer in 0\.2 s \(tried 2 times\)"):
        server.client(HASTY).get(7)
    assert server.requests_when(2) == 2


def test_other_faults_do_not_count_as_silence(server: Server) -> None:
    patient = replace(HASTY, answer=3.0)  # an error that comes late would be silence too
    server.answers = [(500, b""), server.hang, (500, b""), (200, {"schema": TEXT})]
    assert server.client(patient).get(7) == TEXT


@pytest.mark.parametrize("length", [1000, None], ids=["of a length", "up to the end"])
def test_body_that_drips_ends_in_time_and_is_tried_again_once(
    length: int | None, server: Server
) -> None:
    """The HTTP library forgets the socket of a body that ends with its connection."""

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        for _ in range(500):  # 10 s
            if not server.is_over.wait(0.02):
                handler.wfile.write(b" ")  # fails when the client has cut the connection
        handler.close_connection = True
        whole.append(handler)

    whole: list[object] = []
    server.answers = [drip]
    with pytest.raises(RegistryError, match=NOT_IN_TIME):
        server.client(HASTY).get(7)
    assert not whole


@pytest.mark.parametrize(
    ("begin", "piece"),
    [(b"2\r\n{}\r\n0\r\n", b"X-More: 1\r\n"), (b"", b"0")],
    ids=["trailers", "size of a chunk"],
)
def test_chunks_that_drip_end_in_time(server: Server, begin: bytes, piece: bytes) -> None:
    """Reading them, the HTTP library returns only when a line or all trailers have come."""

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(begin)
        for _ in range(500):  # 10 s
            if not server.is_over.wait(0.02):
                handler.wfile.write(piece)
        handler.close_connection = True

    server.answers = [drip]
    with pytest.raises(RegistryError, match=NOT_IN_TIME):
        server.client(HASTY).get(7)


@pytest.mark.parametrize("has_certificate", [False, True], ids=["http", "https"])
def test_headers_that_drip_end_in_time(
    has_certificate: bool, request: pytest.FixtureRequest
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.flush_headers()
        for _ in range(500):  # 10 s
            if not slow.is_over.wait(0.02):
                handler.wfile.write(b"X")
        handler.close_connection = True

    file = request.getfixturevalue("certificate") if has_certificate else None
    with running(file) as slow:
        slow.answers = [drip]
        client = ConfluentRegistry(
            slow.url, HASTY, ca_file=file and str(file), sleep=lambda seconds: None
        )
        with pytest.raises(RegistryError, match=r"no answer in 0\.2 s \(tried 2 times\)"):
            client.get(7)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{", b"\0\1"])
def test_connection_that_is_cut_is_tried_again(server: Server, sent: bytes) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(sent)
        handler.close_connection = True

    server.answers = [cut, (200, {"schema": TEXT})]
    assert server.client().get(7) == TEXT
    assert len(server.requests) == 2


def test_nobody_there_is_one_line(server: Server) -> None:
    with running() as other:
        url = other.url
    with pytest.raises(RegistryError) as caught:
        ConfluentRegistry(url, QUICK, sleep=lambda seconds: None).get(7)
    assert "no answer: Connection refused (tried 3 times)" in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"<html>hello</html>",
        b'{"schema":1}',
        b'{"schema":',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b'{"schema":' + b"9" * 5000 + b"}",
    ],
)
def test_garbage_is_a_final_error(server: Server, body: bytes) -> None:
    server.answers = [(200, body)]
    error = get_error(server)
    assert len(server.requests) == 1
    assert error.status == 200
    assert len(str(error)) < 400


@pytest.mark.parametrize("schema_id", [0, -1, True, "1", None, 1 << 31, 1.0])
def test_odd_ids_are_an_error(server: Server, schema_id: object) -> None:
    server.answers = [(200, {"id": schema_id})]
    assert "without an id from 1" in str(register_error(server))


def flood(handler: BaseHTTPRequestHandler) -> None:
    """Answer until the client has gone."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 40))
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65536)


def test_huge_answers_are_cut_off(server: Server) -> None:
    server.answers = [flood]
    assert f"more than {MAX_ANSWER_BYTES} bytes" in str(get_error(server))
    assert len(server.requests) == 1


@pytest.fixture
def avro_feed(tmp_path: Path) -> str:
    """Return a file with a message that names schema 7."""
    value = base64.b64encode(b"\0\0\0\0\7").decode()
    (tmp_path / "feed.jsonl").write_text(json.dumps({"key": None, "value": value}))
    return str(tmp_path / "feed.jsonl")


def test_limit_of_an_answer_is_an_option(
    server: Server, avro_feed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["decode", "avro", avro_feed, "--schema", server.url, "--max-answer-bytes"]
    server.answers = [(200, {"schema": TEXT + 100 * " "})]
    assert main([*words, "150"]) == 2
    assert "the answer has more than 150 bytes (--max-answer-bytes)" in capsys.readouterr().err
    main([*words, "300"])
    assert "more than" not in capsys.readouterr().err
    assert main([*words, "0"]) == 2
    assert "'0' is not a number from 1" in capsys.readouterr().err


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["get", "register"])
def test_redirect_gets_no_credentials(server: Server, status: int, method: str) -> None:
    """Neither another host nor another scheme is asked, nor the same one again."""
    with running() as other:
        other.answers = [(200, {"schema": TEXT, "id": 1})]

        def redirect(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            handler.send_header("Location", f"{other.url}/schemas/ids/7")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        server.answers = [redirect]
        client = server.client(user=USER)
        with pytest.raises(RegistryError, match=f"it answers {status}; redirects are not"):
            client.get(7) if method == "get" else client.register("t-value", TEXT)
        assert len(server.requests) == 1
        assert other.requests == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a self-signed certificate for localhost; its key is next to it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing, which makes certificates")
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    for extension in (
        "subjectAltName=DNS:localhost",
        "keyUsage=critical,digitalSignature,keyCertSign",
    ):
        command += ["-addext", extension]
    command += ["-keyout", str(file.with_suffix(".key")), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return file


def test_certificate_is_refused_unless_its_authority_is_given(
    certificate: Path, avro_feed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The password is not sent to a server that is not trusted."""
    with running(certificate) as server:
        server.answers = [(200, {"schema": TEXT})]
        secret = server.url.replace("://", f"://{USER}@")
        words = ["decode", "avro", avro_feed, "--schema"]
        assert main([*words, secret]) == 2
        error = capsys.readouterr().err
        assert "no trust: self-signed certificate" in error.replace("self signed", "self-signed")
        assert "give the certificates of the authority that signed it (--ca-file)" in error
        assert server.requests == []
        main([*words, secret, "--ca-file", str(certificate)])
        assert "no trust" not in capsys.readouterr().err
        assert server.requests[0].headers["authorization"] == f"Basic {TOKEN}"
        by_number = secret.replace("localhost", "127.0.0.1")
        asked = len(server.requests)
        assert main([*words, by_number, "--ca-file", str(certificate)]) == 2
        assert "give the address by a name that the certificate has" in capsys.readouterr().err
        assert len(server.requests) == asked


USER = "us%40er:s%2Fecret-word"
TOKEN = base64.b64encode(b"us@er:s/ecret-word").decode()
SECRETS = ("us@er", "us%40er", "s/ecret", "s%2Fecret", TOKEN)


def test_credentials_are_sent_and_decoded(server: Server) -> None:
    server.answers = [(200, {"schema": TEXT})]
    server.client(user=USER).get(7)
    assert server.requests[0].headers["authorization"] == f"Basic {TOKEN}"


@pytest.mark.parametrize("status", [200, 401, 404, 409, 500])
def test_credentials_are_never_shown(
    server: Server, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    said = f"Basic {TOKEN} of us@er with s/ecret-word is wrong"
    server.answers = [(status, {"message": said, "error_code": 1}), (status, said.encode())]
    caplog.set_level(logging.DEBUG)
    error = get_error(server, user=USER)
    client = server.client(user=USER)
    chain = f"{error} {error!r} {error.args} {error.__cause__!r}"
    shown = f"{chain} {client!r} {client.address!r} {client.address} {caplog.text} {vars(client)}"
    assert not [secret for secret in SECRETS if secret in shown]


@pytest.mark.parametrize(
    "address",
    [
        f"ftp://{USER}@host",
        f"{USER}@host",
        f"http://{USER}@",
        f"http://{USER}@host:port",
        f"http://{USER}@host:99999",
        f"http://{USER}@[::1",
        f"http://{USER}#@host",
        f"http://{USER}?@host",
        f"http://{USER}@host?a=b",
    ],
)
def test_wrong_addresses_are_not_repeated(address: str) -> None:
    with pytest.raises(RegistryError) as caught:
        parse_address(address)
    text = f"{caught.value} {caught.value!r}"
    assert not [secret for secret in SECRETS if secret in text]
    assert caught.value.__cause__ is None


def test_address_loses_its_last_slashes() -> None:
    assert parse_address("https://u@[::1]:80/a/b//").base == "https://[::1]:80/a/b"


def test_certificates_are_verified_and_that_is_final() -> None:
    client = ConfluentRegistry("https://127.0.0.1:1", QUICK)
    context = client._transport._pool.connection_pool_kw["ssl_context"]
    assert context.check_hostname
    assert context.verify_mode.name == "CERT_REQUIRED"


@pytest.mark.parametrize(
    ("code", "said", "advice"),
    [
        (10, "certificate has expired", "the registry needs a new certificate"),
        (20, "unable to get local issuer certificate", "of the authority that signed it"),
        (62, "Hostname mismatch, certificate is not valid for 'a'.", "by a name that the cert"),
        (64, "IP address mismatch, certificate is not valid for '::1'.", "by a name that the"),
    ],
)
def test_refused_certificate_is_final_and_says_what_to_do(
    code: int, said: str, advice: str
) -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_code, refused.verify_message = code, said
    client = ConfluentRegistry("https://host", QUICK, sleep=lambda s: None)

    def request(*words: object, **settings: object) -> None:
        raise SSLError("TLS") from refused

    client._transport._pool.request = request
    with pytest.raises(RegistryError) as caught:
        client.get(7)
    assert f"no trust: {said.rstrip('.')}; " in str(caught.value)
    assert advice in str(caught.value)
    assert client.requests == 1


def test_server_without_tls_is_one_line(server: Server) -> None:
    with pytest.raises(RegistryError, match=r"no answer: .* \(tried 3 times\)"):
        ConfluentRegistry(server.url.replace("http", "https"), QUICK, sleep=lambda s: None).get(7)


def test_missing_file_of_certificates_is_an_error() -> None:
    with pytest.raises(RegistryError, match=r"certificates of no\.pem can't be read"):
        ConfluentRegistry("https://host", ca_file="no.pem")


def test_root_is_checked_on_request_only(server: Server) -> None:
    server.answers = [(200, {}), (200, b"<html>")]
    server.client().check_root()
    with pytest.raises(RegistryError):
        server.client().check_root()


def test_levels_and_versions(server: Server) -> None:
    server.answers = [
        (200, {"compatibilityLevel": "NONE"}),
        (200, {"compatibility": "BACKWARD"}),
        (200, [1, 2]),
    ]
    client = server.client()
    assert client.level() == "NONE"
    client.set_level("BACKWARD", "a/b")
    assert client.versions("a/b") == (1, 2)
    put = server.requests[1]
    assert (put.method, put.path) == ("PUT", "/config/a%2Fb")
    assert json.loads(put.body) == {"compatibility": "BACKWARD"}
    assert server.requests[2].path == "/subjects/a%2Fb/versions"


def test_mapping_of_schemas_asks_when_it_is_needed(server: Server) -> None:
    server.answers = [(200, {"schema": TEXT}), (404, {"error_code": 40403, "message": "no"})]
    schemas = open_schemas(server.url)
    assert not server.requests
    assert schemas["7"] == schemas.get("7") == TEXT
    assert schemas.get("8") is None
    assert len(server.requests) == 2
    assert schemas


def test_feed_with_some_schemas_gets_the_others_from_the_registry(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "avro", "--rows", "2", "--to", str(tmp_path)]) == 0
    feed = tmp_path / "messages.jsonl"
    lines = feed.read_text("utf-8").splitlines(keepends=True)
    schemas = [line for line in lines if "path" in json.loads(line)]
    assert len(schemas) > 1
    capsys.readouterr()
    assert main(["decode", "avro", str(feed)]) == 0
    wanted = capsys.readouterr().out
    lost = json.loads(schemas[-1])
    text = base64.b64decode(lost["value"]).decode()
    feed.write_text("".join(line for line in lines if line != schemas[-1]), "utf-8")
    server.answers = [(200, {"schema": text})]
    assert main(["decode", "avro", str(feed), "--schema", server.url]) == 0
    assert capsys.readouterr().out == wanted
    number = Path(lost["path"]).stem
    assert [each.path for each in server.requests] == [f"/schemas/ids/{number}"]


def test_writing_by_a_mapping_of_a_registry_is_refused(server: Server) -> None:
    context = Context(schemas=open_schemas(server.url))
    with pytest.raises(RegistryError, match="does not list its schemas"):
        list(FORMAT.from_events([], context=context))
    assert not server.requests


CASE = load_case("avro/before/update")
UPDATE = CASE.messages[0]


def avro_decoder(url: str) -> Decoder[RowChange]:
    return Decoder("avro", options=CASE.options, schemas=open_schemas(url))


def give_schemas(server: Server) -> None:
    """Answer with the schemas of the case, after a moment."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        server.is_over.wait(0.1)
        text = CASE.context().schemas[handler.path.rpartition("/")[2]]
        body = json.dumps({"schema": text}).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    server.answers = [answer]


def test_concurrent_tasks_fetch_a_schema_once(server: Server) -> None:
    give_schemas(server)
    decoder = avro_decoder(server.url)

    async def decode_all() -> list[object]:
        return await asyncio.gather(*[decoder.adecode(UPDATE) for _ in range(5)])

    wanted = list(FORMAT.to_events(UPDATE, context=CASE.context()))
    for _ in range(2):  # each with a separate event loop
        assert asyncio.run(decode_all()) == [wanted] * 5
    paths = [each.path for each in server.requests]
    assert sorted(paths) == sorted(set(paths))
    assert len(paths) == 2


def test_event_loop_goes_on_while_a_registry_is_asked(server: Server) -> None:
    """The registry answers once another task has run."""
    has_run = threading.Event()
    give_schemas(server)
    [give] = server.answers
    assert callable(give)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        assert has_run.wait(10)
        give(handler)

    server.answers = [answer]

    async def run_both() -> int:
        decoding = asyncio.create_task(read())
        await asyncio.to_thread(server.requests_when, 1)
        has_run.set()
        return await decoding

    async def read() -> int:
        return len([change async for change in avro_decoder(server.url).aiter(records())])

    async def records() -> AsyncIterator[object]:
        yield UPDATE

    assert asyncio.run(run_both()) == 1


@pytest.mark.parametrize(
    ("status", "error"), [(404, DecodeError), (401, RegistryError)], ids=["unknown", "refused"]
)
def test_errors_are_those_of_decoding_without_an_event_loop(
    server: Server, status: int, error: type[Exception]
) -> None:
    server.answers = [(status, {"error_code": 40403, "message": "no"})]
    decoder = avro_decoder(server.url)
    with pytest.raises(error) as expected:
        decoder.decode(UPDATE)
    asked = len(server.requests)
    with pytest.raises(error) as caught:
        asyncio.run(decoder.adecode(UPDATE))
    assert str(caught.value) == str(expected.value)
    assert len(server.requests) == asked + 1


def test_broken_record_is_reported_in_the_thread_of_the_event_loop(server: Server) -> None:
    server.answers = [(404, {"error_code": 40403, "message": "no"})]
    threads: list[threading.Thread] = []
    decoder = Decoder(
        "avro",
        options=CASE.options,
        schemas=open_schemas(server.url),
        on_error=lambda bad: threads.append(threading.current_thread()),
    )
    assert asyncio.run(decoder.adecode(UPDATE)) == []
    assert threads == [threading.current_thread()]


def test_decoding_outside_of_tasks_may_wait(server: Server) -> None:
    """A task may call ``decode`` while another one waits for a schema."""
    give_schemas(server)
    decoder = avro_decoder(server.url)

    async def run_both() -> int:
        waiting = asyncio.create_task(decoder.adecode(UPDATE))
        await asyncio.sleep(0)
        found = decoder.decode(UPDATE)
        assert await waiting == found
        return len(found)

    assert asyncio.run(run_both()) == 1
