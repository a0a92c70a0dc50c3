"""Requests to a registry: bounded, patient, and silent about user and password.

An answer of 2xx or 4xx is final. Any other outcome (5xx, no connection, a connection that is cut)
is tried again. The waits double up to a limit; ``RetryPolicy`` sets the number of tries. An answer
that does not come in time is tried again once. Certificates are always verified. Redirects are not
followed, so that the password goes nowhere but to the address that was given; proxies of the
environment are not used.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import RemoteDisconnected
from types import MappingProxyType
from typing import Any

from cdcwire.extras import load_extra
from cdcwire.schema_registry.address import Address, RegistryError

MAX_ANSWER_BYTES = 8 << 20  # four times the longest schema text that the codec reads
_PIECE_BYTES = 1 << 16
_PURPOSE = "a registry"
_EXPIRED, _OTHER_HOST, _OTHER_ADDRESS = 10, 62, 64  # what OpenSSL calls X509_V_ERR_…
_OTHER_NAME = "give the address by a name that the certificate has"
_OTHER_TRUST = "give the certificates of the authority that signed it (--ca-file)"
_TRUST: Mapping[int, str] = MappingProxyType(
    {
        _EXPIRED: "the registry needs a new certificate",
        _OTHER_HOST: _OTHER_NAME,
        _OTHER_ADDRESS: _OTHER_NAME,
    }
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait, in seconds, and how often to ask.

    ``connect``: for a connection. ``answer``: for a whole answer. ``first_wait`` doubles after each
    try, up to ``longest_wait``. ``tries``: at least 1. ``late_tries``: how many of the tries may
    end because no whole answer came in time.
    """

    connect: float = 5.0
    answer: float = 15.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    tries: int = 6
    late_tries: int = 2

    def __post_init__(self) -> None:
        if min(self.tries, self.late_tries) < 1 or min(self.connect, self.answer) <= 0:
            raise ValueError("a request needs one try at least, and time")

    def wait(self, tries: int) -> float:
        """Return the seconds to wait after this number of tries."""
        return min(self.longest_wait, self.first_wait * 2.0 ** min(tries - 1, 60))


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response: its status code and its body."""

    status: int
    body: bytes


class _Failed(Exception):
    """A try without a final answer; the text says why."""


class _Late(_Failed):
    """A try whose answer did not come in time."""


class Transport:
    """Requests to one address. ``requests`` counts all that were sent, tries again included."""

    def __init__(
        self,
        address: Address,
        patience: RetryPolicy,
        ca_file: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        urllib3 = load_extra("urllib3", "registry", _PURPOSE)
        self._errors = load_extra("urllib3.exceptions", "registry", _PURPOSE)
        self.address = address
        self.patience = patience
        self.requests = 0
        self._sleep = sleep
        self._max_bytes = max_bytes
        self._timeout = urllib3.Timeout(connect=patience.connect, read=patience.answer)
        self._running = threading.local()  # the deadline of the request of this thread
        try:
            self._pool = urllib3.PoolManager(
                ssl_context=_tls_context(ca_file), retries=False, maxsize=4
            )
            self._pool.pool_classes_by_scheme = {
                scheme: _with_deadline(pool, self._running)
                for scheme, pool in self._pool.pool_classes_by_scheme.items()
            }
        except OSError as error:
            problem = f"the certificates of {ca_file} can't be read: {error.strerror or error}"
            raise RegistryError(problem, str(address), "give a file in PEM form") from None

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Return the final answer to a request. Raises: RegistryError if none comes."""
        where = f"{self.address}{path}"
        reason, tries, late = "", 0, 0
        while tries < self.patience.tries and late < self.patience.late_tries:
            if tries:
                self._sleep(self.patience.wait(tries))
            tries += 1
            try:
                answer = self._try(method, where, body, headers)
                if answer.status // 100 in (2, 4):
                    return answer
                reason = f"it answers {answer.status}"
                if answer.status // 100 == 3:
                    advice = "redirects are not followed: give the address that it leads to"
                    raise RegistryError(reason, where, advice, answer.status)
            except _Failed as failed:
                reason = self.address.hidden_in(str(failed))
                late += isinstance(failed, _Late)
        times = f" (tried {tries} times)" if tries > 1 else ""
        advice = "see whether the registry runs there, and try again"
        raise RegistryError(f"{reason}{times}", where, advice)

    def _try(
        self, method: str, where: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        sent = {"Accept-Encoding": "identity", "User-Agent": "cdcwire", **headers}
        if self.address.credentials is not None:
            sent["Authorization"] = self.address.credentials.header()
        errors = self._errors
        self.requests += 1
        self._running.deadline = deadline = _Deadline(self.patience.answer)
        response: Any = None
        try:
            response = self._pool.request(
                method,
                where,
                body=body,
                headers=sent,
                timeout=self._timeout,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            return Answer(response.status, self._body(response, where, deadline))
        except errors.SSLError as error:
            cause = _root(error)
            if not isinstance(cause, ssl.SSLCertVerificationError):
                raise _Failed(f"no answer: {_reason(error)}") from None
            advice = _TRUST.get(cause.verify_code, _OTHER_TRUST)
            raise RegistryError(f"no trust: {_reason(error)}", where, advice) from None
        except (errors.LocationValueError, UnicodeError):
            raise RegistryError("this is not a host", where, "correct the address") from None
        except errors.NewConnectionError as error:  # in some versions a time-out too
            raise _Failed(f"no answer: {_reason(error)}") from None
        except errors.ConnectTimeoutError:
            problem = f"no connection in {self.patience.connect:g} s"
            raise _Failed(problem) from None
        except errors.ReadTimeoutError:
            raise _Late(f"no answer in {self.patience.answer:g} s") from None
        except (errors.HTTPError, OSError) as error:
            if deadline.is_over:
                said = "no answer" if response is None else "the answer was not whole"
                raise _Late(f"{said} in {self.patience.answer:g} s") from None
            raise _Failed(f"no answer: {_reason(error)}") from None
        finally:
            deadline.stop()
            if response is not None:
                response.close()

    def _body(self, response: Any, where: str, deadline: _Deadline) -> bytes:
        """Return the body of an answer, read under limits of bytes and of time."""
        body = bytearray()
        while piece := response.read1(_PIECE_BYTES):
            body += piece
            if len(body) > self._max_bytes:
                problem = f"the answer has more than {self._max_bytes} bytes (--max-answer-bytes)"
                advice = "see whether this is the registry's address"
                raise RegistryError(problem, where, advice, response.status)
        deadline.stop()
        if deadline.is_over:  # the end of what was read is not that of the answer
            raise _Late(f"the answer was not whole in {self.patience.answer:g} s")
        return bytes(body)


class _Deadline:
    """Shuts down the connection of a request when its time is over.

    The time runs from the first byte sent to the last byte read. urllib3 limits only the wait for
    the next bytes.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: threading.Timer | None = None
        self.is_over = False

    def begin(self, connection: Any) -> None:
        """Start the time of a request on a connection."""
        self.stop()
        # The socket itself: a connection forgets it when an answer has it to its end.
        self._timer = threading.Timer(self._seconds, self._cut, (connection.sock,))
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Stop the time. A connection that was shut down stays so."""
        if self._timer is not None:
            self._timer.cancel()

    def _cut(self, connected: Any) -> None:
        self.is_over = True
        with suppress(OSError, ValueError):  # it may be closed already
            connected.shutdown(socket.SHUT_RDWR)


def _with_deadline(pool: Any, running: threading.local) -> Any:
    """Return a class of connection pools whose requests begin the deadline of their thread."""
    connection: Any = pool.ConnectionCls

    class Connection(connection):  # type: ignore[misc]  # urllib3 is optional
        def connect(self) -> None:
            super().connect()
            running.deadline.begin(self)

        def request(self, *arguments: Any, **named: Any) -> None:
            if self.sock is not None:
                running.deadline.begin(self)
            super().request(*arguments, **named)

        def getresponse(self, *arguments: Any, **named: Any) -> Any:
            response = super().getresponse(*arguments, **named)
            if running.deadline.is_over:  # the headers were cut
                response.close()
                raise TimeoutError
            return response

    class Pool(pool):  # type: ignore[misc]  # urllib3 is optional
        ConnectionCls = Connection

    return Pool


def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names. Raises: OSError."""
    return ssl.create_default_context(cafile=ca_file)


def _root(error: BaseException) -> BaseException:
    cause = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    return cause


def _reason(error: BaseException) -> str:
    """Return what went wrong in a few words: those of the system, if it has said something."""
    cause = _root(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return cause.verify_message.rstrip(".") or "the certificate is not valid"
    if isinstance(cause, RemoteDisconnected):
        return "the connection was closed without one"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return f"{type(cause).__name__}: {cause}"[:200]
