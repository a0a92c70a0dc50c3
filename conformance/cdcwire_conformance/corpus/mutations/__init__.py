"""Which malformed messages can be derived from a legal one.

A format has derived cases if its package in ``cdcwire_conformance.formats`` has a module
``mutations``, whose ``RULES`` make them. A rule only makes bytes that every reading of the page
rejects, or says that the result may be legal by chance (``is_certain``): such bytes are decoded
before they become a case.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from cdcwire.core.registry import package_of
from cdcwire_conformance.corpus.mutations.rules import FormatRules


def rules_of(format_name: str) -> FormatRules | None:
    """Return the rules of a format, or None where it has none."""
    module = f"cdcwire_conformance.formats.{package_of(format_name)}.mutations"
    if find_spec(module) is None:
        return None
    rules = import_module(module).RULES
    assert isinstance(rules, FormatRules)
    return rules
