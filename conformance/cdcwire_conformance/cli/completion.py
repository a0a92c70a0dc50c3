"""``cdcwire completion``: the code that lets a shell complete the command line."""

from __future__ import annotations

import argparse

from cdcwire.extras import load_extra

NAME = "completion"
HELP = "print the code that completes commands in bash, zsh or fish"
DESCRIPTION = """\
Print the code that lets your shell complete verbs, formats, options and their values. It needs the
extra "completion". Put its line into the file that your shell reads when it starts.
"""
EXAMPLES = """\
examples:
  eval "$(cdcwire completion bash)"                          ~/.bashrc
  eval "$(cdcwire completion zsh)"                           ~/.zshrc, after compinit
  cdcwire completion fish | source                           ~/.config/fish/config.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire completion``."""
    parser.add_argument(
        "shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the code. Returns 0. Raises: MissingExtraError."""
    completer = load_extra("argcomplete", "completion", "completion")
    print(completer.shellcode(["cdcwire"], shell=arguments.shell))
    return 0
