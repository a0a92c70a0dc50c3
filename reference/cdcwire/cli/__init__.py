"""The command line: ``cdcwire VERB``, one module a verb.

A verb's module has ``NAME``, ``HELP`` (a line), ``DESCRIPTION``, ``EXAMPLES``,
``add_arguments(parser)`` and ``run(arguments)``, which returns the exit code. It is imported when
its verb is called. With ``TAKES_COMMAND = True`` the words after ``--`` are ``arguments.command``.
The package cdcwire-conformance makes a ``Verbs`` of these verbs and its own.

An error is one line on standard error, and exit code 2. The environment variable
``CDCWIRE_TRACEBACK`` adds the traceback.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from cdcwire.cli.arguments import COULD_NOT_RUN, Parser
from cdcwire.cli.config_file import configured_words
from cdcwire.console.interrupts import Terminated, interrupts_raise
from cdcwire.console.problems import UsageError
from cdcwire.console.visible import print_error, visible_output, without_secrets
from cdcwire.registry import FORMAT_NAMES

OWN_VERBS: Mapping[str, str] = {
    name: f"{__name__}.{name}" for name in ("decode", "explain", "identify", "options", "formats")
}
"""The modules of the verbs that need no other package, by name."""

INTERRUPTED = 130
OUTPUT_CLOSED = 141
TERMINATED = 143

_DESCRIPTION = """\
Decode, explain and identify messages of change-data-capture formats.

The package cdcwire-conformance adds verbs: to test decoders, to compare feeds, to encode.
"""
_EXAMPLES = """\
examples:
  cdcwire identify message.bin                     the format, and how sure that is
  cdcwire explain canal-json message.bin           every byte with its field and its clause
  cdcwire decode open-protocol feed.jsonl          events as JSON lines

Run `cdcwire VERB --help` for the options of a verb.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Returns: its exit code; 2 if it could not run."""
    return Verbs(OWN_VERBS, _DESCRIPTION, _EXAMPLES).main(argv)


class Verbs:
    """The verbs of a command. ``modules``: by name. ``of_formats``: those called like a format."""

    def __init__(
        self,
        modules: Mapping[str, str],
        description: str,
        examples: str,
        of_formats: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._modules = modules
        self._description = description
        self._examples = examples
        self._of_formats = of_formats

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run one verb. Returns: its exit code; 2 if it could not run."""
        words = list(sys.argv[1:] if argv is None else argv)
        is_verb = bool(words) and words[0] in (*self._modules, *FORMAT_NAMES)
        return _code_shown(f"cdcwire {words[0]}" if is_verb else "cdcwire", self._main, words)

    def run_module(self, module: ModuleType, words: list[str]) -> int:
        """Run the verb that a module has. Returns: its exit code; 2 if it could not run."""
        return _code_shown(f"cdcwire {module.NAME}", partial(self._run, module), words)

    def modules(self) -> Iterator[ModuleType]:
        """Yield the module of each verb: those of every format, then those of single formats."""
        names = [*self._modules.values(), *map(self._of_formats, FORMAT_NAMES)]
        yield from map(import_module, filter(None, names))

    def parser(self, whole: Sequence[str] = ()) -> Parser:
        """Return the parser of the verbs. ``whole``: those whose arguments are wanted too."""
        from cdcwire import __version__

        parser = _parser("cdcwire", self._description, self._examples)
        parser.add_argument("--version", action="version", version=f"cdcwire {__version__}")
        verbs = parser.add_subparsers(metavar="VERB", required=True)
        for module in self.modules():
            own = [parser_of(module)] if module.NAME in whole else []
            verbs.add_parser(module.NAME, help=module.HELP, add_help=False, parents=own)
        return parser

    def _main(self, words: list[str]) -> int:
        verb = words[0] if words else ""
        if verb == "help":
            return self._main([*words[1:2], "--help"])
        module = self._of_formats(verb) if verb in FORMAT_NAMES else self._modules.get(verb)
        if module is not None:
            return self._run(import_module(module), words[1:])
        try:  # the help, the version or an unknown verb
            self.parser().words_of(words or ["--help"])
        except SystemExit as ended:
            return _code(ended)
        return 0

    def _run(self, module: ModuleType, words: list[str]) -> int:
        parser = parser_of(module)
        command: list[str] | None = None
        if getattr(module, "TAKES_COMMAND", False) and "--" in words:
            at = words.index("--")
            words, command = words[:at], words[at + 1 :]
        try:
            sections = (*self._modules, *FORMAT_NAMES)
            words = [*configured_words(module.NAME, sections, parser), *words]
            arguments = parser.words_of(words)
        except SystemExit as ended:
            return _code(ended)
        arguments.words = words
        if getattr(module, "TAKES_COMMAND", False):
            arguments.command = command
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:  # a terminal that can't show a sign must not stop us
                reconfigure(errors="backslashreplace")
        code: int = module.run(arguments)
        return code


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
    )


def _code(ended: SystemExit) -> int:
    return ended.code if isinstance(ended.code, int) else COULD_NOT_RUN


def _code_shown(name: str, run: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a function with the streams of a command. Returns: its exit code."""
    is_closed = sys.stdout is None  # the next file that is opened would get its number
    with visible_output(), interrupts_raise():
        return _code_of(name, _refuse_closed_output if is_closed else partial(run, words))


def _refuse_closed_output() -> int:
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


def _line_of(error: Exception) -> str:
    """Return an error as one line: its own words where it has some for people."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        if not error.filename:
            return error.strerror
        from cdcwire.files.local_files import meant_file  # few commands need it

        meant = meant_file(Path(error.filename)) if isinstance(error, FileNotFoundError) else ""
        return f"{error.filename}: {error.strerror}{meant}"
    if isinstance(error, MemoryError):
        return "the memory of this process is not enough"
    if type(error).__module__.startswith("cdcwire") and text:
        return text
    return f"unexpected {type(error).__name__}: {text} (CDCWIRE_TRACEBACK=1 shows where)"
