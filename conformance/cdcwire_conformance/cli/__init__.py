"""The whole command line: the verbs of ``cdcwire.cli``, and those of this package.

A format may have a separate command, which is called by the format's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from types import ModuleType

from cdcwire.cli import OWN_VERBS, Verbs
from cdcwire.extras import load_extra
from cdcwire_conformance.suite import get_suite

VERBS: tuple[str, ...] = (
    "verify",
    "decode",
    "encode",
    "explain",
    "identify",
    "formats",
    "options",
    "generate",
    "size",
    "compare",
    "tables",
    "storage",
    "corpus",
    "new",
    "witness",
    "report",
    "testee",
    "completion",
)

_COMPLETING = "_ARGCOMPLETE"  # set by the shell code that the verb completion prints

_DESCRIPTION = "Test decoders of change-data-capture formats; decode, explain and compare feeds."
_EXAMPLES = """\
examples:
  cdcwire verify debezium-json -- node testee.js   judge a decoder, in any language
  cdcwire explain canal-json message.bin           every byte with its field and its clause
  cdcwire decode open-protocol feed.jsonl          events as JSON lines
  cdcwire corpus list debezium-json                the golden cases of a format

Run `cdcwire VERB --help` for the options of a verb.
"""

_VERBS = Verbs(
    {name: OWN_VERBS.get(name, f"{__name__}.{name}") for name in VERBS},
    _DESCRIPTION,
    _EXAMPLES,
    lambda name: get_suite(name).command,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns: its exit code; 2 if it could not run."""
    if _COMPLETING in os.environ:
        verb = os.environ.get("COMP_LINE", "").split()[1:2]
        load_extra("argcomplete", "completion", "completion").autocomplete(_VERBS.parser(verb))
    return _VERBS.main(argv)


def run_verb(module: ModuleType, words: list[str]) -> int:
    """Run the verb that a module has. Returns: its exit code; 2 if it could not run."""
    return _VERBS.run_module(module, words)


def verb_modules() -> Iterator[ModuleType]:
    """Yield the module of each verb: those of every format first, then those of single formats."""
    return _VERBS.modules()
