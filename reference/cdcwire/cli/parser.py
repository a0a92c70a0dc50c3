"""A parser with errors of two lines, and with a help that shows the most used options first."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from cdcwire.console.visible import shortened, visible, without_secrets
from cdcwire.core.nearest import did_you_mean, meant_or_known

COULD_NOT_RUN = 2
HELP_ALL = "--help-all"


class Parser(argparse.ArgumentParser):
    """Ends with two lines where a word is wrong: the problem, and where the words are listed."""

    most_used: frozenset[str] = frozenset()
    namespace: type[argparse.Namespace] = argparse.Namespace  # of the arguments

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
        """Print the help, of the most used options where these are known."""
        if self.most_used:
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
            self.error(str(invalid), meant_or_known(str(value), map(str, action.choices or ())))


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if isinstance(parser, Parser):
            parser.most_used = frozenset()
        parser.print_help()
        parser.exit()
