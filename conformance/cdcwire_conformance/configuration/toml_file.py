"""A file in TOML, within limits of size and depth."""

from __future__ import annotations

import re
import sys
from importlib import import_module

from cdcwire_conformance.configuration.found import ConfigurationError, read_text
from cdcwire_conformance.extras import load_extra

_MOST_CHARACTERS = 1 << 20
_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:["'\w-]+[ \t]*\.[ \t]*){100}""")
_PLACE = re.compile(r"at (line \d+, column \d+|end of document)")


def read_toml(file: str, purpose: str) -> dict[str, object]:
    """Return a file's document.

    ``purpose``: what needs it, for the error of Python 3.10 without the extra "toml".
    Raises: ConfigurationError, MissingExtraError.
    """
    if sys.version_info >= (3, 11):
        toml = import_module("tomllib")
    else:
        toml = load_extra("tomli", "toml", f"{purpose} on Python 3.10")
    text = read_text(file)
    if len(text) > _MOST_CHARACTERS:
        raise ConfigurationError(f"{file}: more than {_MOST_CHARACTERS:,} characters")
    if _LONG_KEY.search(text):  # parsers need quadratic time and memory for it
        raise ConfigurationError(f"{file}: nested too deeply")
    try:
        document: dict[str, object] = toml.loads(text)
    except RecursionError:
        raise ConfigurationError(f"{file}: nested too deeply") from None
    except ValueError as error:
        place = _PLACE.search(str(error))
        where = f" at {place[1]}" if place else ""
        raise ConfigurationError(f"{file}: not TOML{where}") from None
    return document
