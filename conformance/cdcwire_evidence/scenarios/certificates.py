"""An authority of our own and a certificate by it, made with openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from cdcwire_evidence.scenarios.services import NotRunError

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
