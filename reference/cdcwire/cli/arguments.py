"""The arguments of a verb, each declared once on a field of a class.

``state: str | None = with_value("FILE", "keep the progress in FILE")`` declares ``--state FILE``.
``add_to`` adds them to a parser: those of the class, then those of its bases, in their order. The
parser of a verb then returns an object of the class.

``Parser`` has errors of two lines, and a help that shows the most used options first.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from textwrap import fill, wrap
from typing import Any, ClassVar, NoReturn

from cdcwire.console.visible import shortened, visible, without_secrets
from cdcwire.core.nearest import did_you_mean

COULD_NOT_RUN = 2
HELP_ALL = "--help-all"
_WIDEST = 100  # characters in a line of a paragraph


class _Help(argparse.RawDescriptionHelpFormatter):
    """Fills paragraphs to the width of the terminal. Those with indented lines stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            part if part.startswith(" ") or "\n " in part else fill(part, min(width, _WIDEST))
            for part in text.rstrip().split("\n\n")
        )

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width, break_long_words=False, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """Ends with two lines where a word is wrong: the problem, and what to write instead."""

    most_used: frozenset[str] = frozenset()
    namespace: type[argparse.Namespace] = argparse.Namespace  # of the arguments

    def __init__(self, **how: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **how})

    def show_first(self, names: Collection[str]) -> None:
        """Let ``--help`` show only these options, and ``--help-all`` all of them."""
        if names:
            self.add_argument(HELP_ALL, action=_HelpAll, nargs=0, help="show all options and exit")
            self.most_used = frozenset((*names, HELP_ALL, "--help"))

    def options_by_name(self) -> dict[str, argparse.Action]:
        """Return the options by their names without ``--``, without those that print a help."""
        return {
            name.removeprefix("--"): action
            for action in self._actions
            for name in action.option_strings
            if name.startswith("--") and name not in ("--help", HELP_ALL)
        }

    def print_help(self, file: Any = None) -> None:
        """Print the help: of the most used options and with the first examples, if it has them."""
        if self.most_used:
            self.epilog = (self.epilog or "").partition("\n\n")[0]
            for action in self._actions:
                if action.option_strings and self.most_used.isdisjoint(action.option_strings):
                    action.help = argparse.SUPPRESS
        super().print_help(file)

    def error(self, message: str, meant: str = "") -> NoReturn:
        """Print the two lines and exit with 2. ``meant``: as ``did_you_mean`` ends an error."""
        problem = shortened(visible(without_secrets(message)))
        advice = f"{meant.removeprefix('; ')} " if meant else ""
        shown = HELP_ALL if self.most_used else "--help"
        self.exit(COULD_NOT_RUN, f"{self.prog}: {problem}\n{advice}see `{self.prog} {shown}`\n")

    def words_of(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the arguments; where some are unknown, the error names those most like them."""
        found, unknown = self.parse_known_args(words, self.namespace())
        if unknown:
            names = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            known = [name for action in self._actions for name in action.option_strings]
            meant = "".join(did_you_mean(name, known) for name in names[:1])
            self.error(f"unrecognized arguments: {' '.join(unknown)}", meant)
        return found

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError:
            invalid = argparse.ArgumentError(action, f"invalid choice: {value!r:.80}")
            known = list(map(str, action.choices or ()))
            meant = did_you_mean(str(value), known) or f"known: {', '.join(known)};"
            self.error(str(invalid), meant)


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if isinstance(parser, Parser):
            parser.most_used = frozenset()
        parser.print_help()
        parser.exit()


class Declared(dict[str, Any]):
    """The declaration of an argument. ``name``: of its option; None for a positional one.

    ``words``: what a shell offers for it, where other words are allowed too.
    """

    def __init__(
        self, name: str | None, help: str, how: dict[str, Any], words: Collection[str] = ()
    ) -> None:
        super().__init__(how, help=help)
        self.name = name
        self.words = words

    def add_to(self, group: argparse._ActionsContainer, dest: str) -> None:
        """Add the argument, whose value is then in the field ``dest``."""
        if self.name is None:
            action = group.add_argument(dest, **self)
            if self.words:
                vars(action)["completer"] = lambda **_: self.words  # argcomplete looks for it
        else:
            group.add_argument(f"--{self.name or dest.replace('_', '-')}", dest=dest, **self)


def positional(metavar: str, help: str, words: Collection[str] = (), **how: Any) -> Any:
    """Declare an argument without a name. ``how``: the other parameters of ``argparse``."""
    return Declared(None, help, {"metavar": metavar, **how}, words)


def with_value(metavar: str, help: str, *, name: str = "", **how: Any) -> Any:
    """Declare ``--name VALUE``. ``name``: if it is not that of the field, with ``-`` for ``_``."""
    return Declared(name, help, {"metavar": metavar, **how})


def one_of(values: tuple[str, ...], help: str, **how: Any) -> Any:
    """Declare an option that takes one of some values."""
    return Declared("", help, {"choices": values, **how})


def repeated(metavar: str, help: str, **how: Any) -> Any:
    """Declare an option that may be given again."""
    return Declared("", help, {"metavar": metavar, "action": "append", "default": [], **how})


def flag(help: str, action: Any = "store_true", **how: Any) -> Any:
    """Declare an option without a value."""
    return Declared("", help, {"action": action, **how})


class Arguments(argparse.Namespace):
    """Base of the classes that declare arguments. ``title``: of their group in the help."""

    _title: ClassVar[str | None]
    _declared: ClassVar[dict[str, Declared]]

    def __init_subclass__(cls, title: str | None = None) -> None:
        cls._title = title
        own = {name: each for name, each in vars(cls).items() if isinstance(each, Declared)}
        cls._declared = own
        for name in own:
            delattr(cls, name)  # argparse takes an attribute for a value that was given

    @classmethod
    def add_to(cls, parser: argparse.ArgumentParser) -> None:
        """Add all arguments to a parser."""
        group = parser if cls._title is None else parser.add_argument_group(cls._title)
        for dest, declared in cls._declared.items():
            declared.add_to(group, dest)
        for base in cls.__bases__:
            if issubclass(base, Arguments) and base is not Arguments:
                base.add_to(parser)
        if isinstance(parser, Parser):
            parser.namespace = cls
