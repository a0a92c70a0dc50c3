"""The address of a registry, with user and password in it as in a sink URI, which nobody sees.

``http://user:password@host:8081/base``: both are percent-encoded, slashes at the end do not count.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import SplitResult, unquote, urlsplit


class RegistryError(Exception):
    """A registry or a folder of schemas failed. The text is one line: where, what, what to do.

    ``status``: of the HTTP answer, if there was one. ``code``: the registry's own number of the
    error. ``where`` never has user or password in it.
    """

    def __init__(
        self,
        what: str,
        where: str,
        advice: str = "",
        status: int | None = None,
        code: int | None = None,
    ) -> None:
        super().__init__(what, where, advice, status, code)
        self.what = what
        self.where = where
        self.advice = advice
        self.status = status
        self.code = code

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        return " ".join((f"{text}; {self.advice}" if self.advice else text).split())


HIDDEN = "***"
_ADVICE = "an address is http[s]://[user:password@]host[:port][/path], user and password encoded"


class Credentials:
    """User and password. Nothing prints them: ``repr`` and ``str`` are stars, pickling fails."""

    __slots__ = ("_password", "_user")

    def __init__(self, user: str, password: str) -> None:
        self._user = user
        self._password = password

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Credentials):
            return NotImplemented
        return (self._user, self._password) == (other._user, other._password)

    def __hash__(self) -> int:
        return hash((self._user, self._password))

    def __reduce__(self) -> NoReturn:
        raise TypeError("credentials are not written down")

    def header(self) -> str:
        """Return the value of the header Authorization."""
        token = base64.b64encode(f"{self._user}:{self._password}".encode()).decode()
        return f"Basic {token}"

    def hidden_in(self, text: str) -> str:
        """Return a text that came from elsewhere without what is secret here."""
        token = self.header().removeprefix("Basic ")
        for secret in (token, f"{self._user}:{self._password}", self._password, self._user):
            if secret:
                text = text.replace(secret, HIDDEN)
        return text


@dataclass(frozen=True, slots=True)
class Address:
    """``base``: the address without credentials and without slashes at its end."""

    base: str
    credentials: Credentials | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.base

    def hidden_in(self, text: str) -> str:
        """Return a text with the credentials replaced by stars."""
        return text if self.credentials is None else self.credentials.hidden_in(text)


def parse_address(text: str) -> Address:
    """Return the address that a text is. Raises: RegistryError, which does not repeat the text."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise RegistryError("it is not an address", "registry", _ADVICE) from None
    if parts.scheme not in ("http", "https"):
        raise RegistryError("the address has no http:// or https://", "registry", _ADVICE)
    if not host or not host.isprintable() or " " in host:
        raise RegistryError("the address has no host", "registry", _ADVICE)
    if parts.query or parts.fragment:
        problem = "the address has a query or a fragment"
        advice = "a # or ? in the password is written %23 or %3F"
        raise RegistryError(problem, "registry", advice)
    shown = f"[{host}]" if ":" in host else host
    base = f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
    return Address(base, _credentials(parts))


def _credentials(parts: SplitResult) -> Credentials | None:
    if parts.username is None and parts.password is None:
        return None
    return Credentials(unquote(parts.username or ""), unquote(parts.password or ""))
