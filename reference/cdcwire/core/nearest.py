"""A suggestion for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that ends an error, with the known name that is most like this one.

    It is empty if none is like it.

    Examples:
        >>> did_you_mean("verfy", ["verify", "decode"])
        "; did you mean 'verify'?"

    """
    from difflib import get_close_matches  # takes some time, and is seldom needed

    found = get_close_matches(name[:80], known, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def meant_or_known(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about a name: the known name that is like it, or all of them.

    Examples:
        >>> meant_or_known("verfy", ["verify", "decode"])
        "; did you mean 'verify'?"
        >>> meant_or_known("x", ["verify", "decode"])
        '; known: verify, decode'

    """
    names = list(known)
    return did_you_mean(name, names) or f"; known: {', '.join(names)}"
