"""The command line: ``cdcwire VERB``, one module of this package a verb.

A verb's module has ``NAME``, ``HELP`` (a line), ``DESCRIPTION``, ``EXAMPLES``,
``add_arguments(parser)`` and ``run(arguments)``, which returns the exit code. It is imported when
its verb is called. With ``TAKES_COMMAND = True`` the words after ``--`` are ``arguments.command``.
A format may have a separate command, which is called by the format's name.

An error is one line on standard error, and exit code 2. The environment variable
``CDCWIRE_TRACEBACK`` adds the traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.cli.config_file import configured_words
from cdcwire_conformance.cli.parser import COULD_NOT_RUN, Parser
from cdcwire_conformance.extras import load_extra
from cdcwire_conformance.interrupts import Terminated, interrupts_raise
from cdcwire_conformance.suite import get_suite
from cdcwire_conformance.visible import (
    print_error,
    visible_output,
    without_secrets,
)

VERBS: tuple[str, ...] = (
    "verify",
    "decode",
    "encode",
    "explain",
    "identify",
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
INTERRUPTED = 130
OUTPUT_CLOSED = 141
TERMINATED = 143

_DESCRIPTION = "Test decoders of change-data-capture formats; decode, explain and compare feeds."
_EXAMPLES = """\
examples:
  cdcwire verify debezium-json -- node testee.js   judge a decoder, in any language
  cdcwire explain canal-json message.bin           every byte with its field and its clause
  cdcwire decode open-protocol feed.jsonl          events as JSON lines
  cdcwire corpus list debezium-json                the golden cases of a format

Run `cdcwire VERB --help` for the options of a verb.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns: its exit code; 2 if it could not run."""
    words = list(sys.argv[1:] if argv is None else argv)
    if _COMPLETING in os.environ:
        _complete(os.environ.get("COMP_LINE", "").split()[1:2])
    is_verb = bool(words) and words[0] in (*VERBS, *FORMAT_NAMES)
    return _code_shown(f"cdcwire {words[0]}" if is_verb else "cdcwire", partial(_main, words))


def _main(words: list[str]) -> int:
    verb = words[0] if words else ""
    if verb == "help":
        return _main([*words[1:2], "--help"])
    if verb in VERBS:
        return _run(import_module(f"{__name__}.{verb}"), words[1:])
    command = get_suite(verb).command if verb in FORMAT_NAMES else None
    return _main_help(words) if command is None else _run(import_module(command), words[1:])


def run_verb(module: ModuleType, words: list[str]) -> int:
    """Run the verb that a module has. Returns: its exit code; 2 if it could not run."""
    return _code_shown(f"cdcwire {module.NAME}", partial(_run, module, words))


def _code_shown(name: str, run: Callable[[], int]) -> int:
    """Run a function with the streams of a command. Returns: its exit code."""
    is_closed = sys.stdout is None  # the next file that is opened would get its number
    with visible_output(), interrupts_raise():
        return _code_of(name, _refuse_closed_output if is_closed else run)


def _refuse_closed_output() -> int:
    from cdcwire_conformance.usage import UsageError

    raise UsageError(f"standard output is closed; to discard it, redirect it to {os.devnull}")


def _code_of(name: str, run: Callable[[], int]) -> int:
    """Run a function. Returns: its exit code, or that of its exception, which is shown."""
    try:
        code = run()
        sys.stdout.flush()
        return code
    except Terminated:
        print_error("cdcwire: terminated")
        return TERMINATED
    except KeyboardInterrupt:
        print_error("cdcwire: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return OUTPUT_CLOSED
    except Exception as error:  # noqa: BLE001  (the edge: no traceback reaches a user unasked)
        if os.environ.get("CDCWIRE_TRACEBACK"):
            print(without_secrets(traceback.format_exc()), file=sys.stderr)
        print_error(f"{name}: {_line_of(error)}")
        return COULD_NOT_RUN


def verb_modules() -> Iterator[ModuleType]:
    """Yield the module of each verb: those of every format first, then those of single formats."""
    for name in VERBS:
        yield import_module(f"{__name__}.{name}")
    yield from map(import_module, filter(None, (get_suite(name).command for name in FORMAT_NAMES)))


def parser_of(module: ModuleType) -> Parser:
    """Return the parser of a verb's arguments."""
    parser = _parser(
        f"cdcwire {module.NAME}",
        getattr(module, "DESCRIPTION", module.HELP),
        getattr(module, "EXAMPLES", None),
    )
    module.add_arguments(parser)
    parser.show_first(getattr(module, "MOST_USED", ()))
    return parser


def _parser(name: str, description: str, examples: str | None) -> Parser:
    return Parser(
        prog=name,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _main_help(words: list[str]) -> int:
    """Print the help or the version, or refuse an unknown verb."""
    parser = _main_parser()
    try:
        parser.words_of(words or ["--help"])
    except SystemExit as ended:
        return _code(ended)
    return 0


def _main_parser(whole: Sequence[str] = ()) -> Parser:
    """Return the parser of the verbs. ``whole``: the verbs whose arguments are wanted too."""
    from cdcwire import __version__

    parser = _parser("cdcwire", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--version", action="version", version=f"cdcwire {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for module in verb_modules():
        own = [parser_of(module)] if module.NAME in whole else []
        verbs.add_parser(module.NAME, help=module.HELP, add_help=False, parents=own)
    return parser


def _complete(verb: Sequence[str]) -> None:
    """Write the completions of the line that a shell asks for, and exit."""
    load_extra("argcomplete", "completion", "completion").autocomplete(_main_parser(verb))


def _run(module: ModuleType, words: list[str]) -> int:
    parser = parser_of(module)
    command: list[str] | None = None
    if getattr(module, "TAKES_COMMAND", False) and "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    try:
        words = [*configured_words(module.NAME, (*VERBS, *FORMAT_NAMES), parser), *words]
        arguments = parser.words_of(words)
    except SystemExit as ended:
        return _code(ended)
    arguments.words = words
    if getattr(module, "TAKES_COMMAND", False):
        arguments.command = command
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that can't show a sign must not stop us
            stream.reconfigure(errors="backslashreplace")
    code: int = module.run(arguments)
    return code


def _code(ended: SystemExit) -> int:
    return ended.code if isinstance(ended.code, int) else COULD_NOT_RUN


def _line_of(error: Exception) -> str:
    """Return an error as one line: its own words where it has some for people."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "the memory of this process is not enough"
    if type(error).__module__.startswith("cdcwire") and text:
        return text
    return f"unexpected {type(error).__name__}: {text} (CDCWIRE_TRACEBACK=1 shows where)"
