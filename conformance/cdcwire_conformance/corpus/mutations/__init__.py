"""Which malformed messages can be made from a legal one, by rule: one module a format.

A format without a module here has no derived cases. The module's name is the format's, with ``_``
for ``-``; it has ``RULES``. A rule only makes bytes that no reading of the format's page allows, or
says of itself that chance may make them legal (``is_certain``): such bytes are tried before use.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from cdcwire_conformance.corpus.mutations.rules import FormatRules


def rules_of(format_name: str) -> FormatRules | None:
    """Return the rules of a format, or None where there are none."""
    module = f"{__name__}.{format_name.replace('-', '_')}"
    if find_spec(module) is None:
        return None
    rules = import_module(module).RULES
    assert isinstance(rules, FormatRules)
    return rules
