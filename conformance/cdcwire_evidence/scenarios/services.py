"""The addresses of the scenarios' services, how to report a missing one, and a certificate."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cdcwire.schema_registry import RegistryError, parse_address


class NotRunError(Exception):
    """A service can't be had here. The text is one line: what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class Kafka:
    """A broker. ``bootstrap``: HOST:PORT, several with commas."""

    bootstrap: str


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A service that speaks S3. ``endpoint``: its URL, without the keys."""

    endpoint: str
    access_key: str
    secret_key: str

    @property
    def storage_options(self) -> dict[str, object]:
        """What s3fs and those that are built on it take."""
        return {
            "key": self.access_key,
            "secret": self.secret_key,
            "client_kwargs": {"endpoint_url": self.endpoint, "region_name": "us-east-1"},
        }

    @property
    def environment(self) -> dict[str, str]:
        """What programs take that read AWS's own variables, ``cdcwire`` with ``s3://`` too."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_DEFAULT_REGION": "us-east-1",
        }


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry with Confluent's interface. ``url``: the root of it."""

    url: str


# What the tests' fixtures of these names are: a name that nobody else has, from its stem; and a
# store that is found by the environment from then on.
NewName = Callable[[str], str]
UseStore = Callable[[ObjectStore], None]


def given_kafka(environ: Mapping[str, str] = os.environ) -> Kafka | None:
    """Return the broker that ``CDCWIRE_KAFKA`` names (HOST:PORT), or None."""
    found = environ.get("CDCWIRE_KAFKA")
    return Kafka(found) if found else None


def given_store(environ: Mapping[str, str] = os.environ) -> ObjectStore | None:
    """Return the store that ``CDCWIRE_S3`` names (http://KEY:SECRET@HOST:PORT), or None.

    Raises: NotRunError if it is not such a URL.
    """
    found = environ.get("CDCWIRE_S3")
    if not found:
        return None
    url = urlsplit(found)
    if url.scheme not in ("http", "https") or not url.hostname or not url.username:
        raise NotRunError("CDCWIRE_S3 has to be http://KEY:SECRET@HOST:PORT")
    host = url.hostname if url.port is None else f"{url.hostname}:{url.port}"
    return ObjectStore(f"{url.scheme}://{host}", unquote(url.username), unquote(url.password or ""))


def given_registry(environ: Mapping[str, str] = os.environ) -> Registry | None:
    """Return the registry that ``CDCWIRE_REGISTRY`` names (http://HOST:PORT/PATH), or None.

    Raises: NotRunError if it is not such an address.
    """
    found = environ.get("CDCWIRE_REGISTRY")
    if not found:
        return None
    problem = "CDCWIRE_REGISTRY has to be http://HOST:PORT, with its path and without a password"
    try:
        address = parse_address(found)
    except RegistryError:
        raise NotRunError(problem) from None
    if address.credentials is not None:
        raise NotRunError(problem)
    return Registry(address.base)


_DAYS = "2"


def make_authority(folder: Path, name: str = "ca") -> Path:
    """Make an authority in a folder and return the file of its certificate.

    Raises: NotRunError where openssl is missing.
    """
    certificate = folder / f"{name}.pem"
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", _DAYS, "-subj", f"/CN={name}"),
        *("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign"),
        *("-keyout", str(folder / f"{name}.key"), "-out", str(certificate)),
    )
    return certificate


def make_certificate(authority: Path, folder: Path, host: str = "localhost") -> None:
    """Make ``server.pem`` and ``server.key`` for a host's name, which others may read.

    Raises: NotRunError where openssl is missing.
    """
    key, request, extensions = (folder / f"server.{kind}" for kind in ("key", "csr", "ext"))
    extensions.write_text(f"subjectAltName=DNS:{host}\nbasicConstraints=CA:FALSE\n", "ascii")
    _openssl(
        *("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=registry"),
        *("-keyout", str(key), "-out", str(request)),
    )
    _openssl(
        *("x509", "-req", "-in", str(request), "-days", _DAYS, "-extfile", str(extensions)),
        *("-CA", str(authority), "-CAkey", str(authority.with_suffix(".key")), "-CAcreateserial"),
        *("-out", str(folder / "server.pem")),
    )
    folder.chmod(0o755)  # a container's program has another user
    key.chmod(0o644)


def _openssl(*words: str) -> None:
    if shutil.which("openssl") is None:
        raise NotRunError("openssl is missing, by which certificates are made; install it")
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotRunError(f"openssl {words[0]} failed: {' '.join(done.stderr.split())[-300:]}")
