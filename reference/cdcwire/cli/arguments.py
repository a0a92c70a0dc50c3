"""The arguments of a verb, each declared once on a field of a class.

``state: str | None = with_value("FILE", "keep the progress in FILE")`` declares ``--state FILE``.
``add_to`` adds them to a parser: those of the class, then those of its bases, in their order. The
parser of a verb then returns an object of the class.
"""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from cdcwire.cli.parser import Parser


class Declared(dict[str, Any]):
    """The declaration of an argument. ``name``: of its option; None for a positional one."""

    def __init__(self, name: str | None, help: str, how: dict[str, Any]) -> None:
        super().__init__(how, help=help)
        self.name = name

    def add_to(self, group: argparse._ActionsContainer, dest: str) -> None:
        """Add the argument, whose value is then in the field ``dest``."""
        if self.name is None:
            group.add_argument(dest, **self)
        else:
            group.add_argument(f"--{self.name or dest.replace('_', '-')}", dest=dest, **self)


def positional(metavar: str, help: str, **how: Any) -> Any:
    """Declare an argument without a name. ``how``: the other parameters of ``argparse``."""
    return Declared(None, help, {"metavar": metavar, **how})


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
