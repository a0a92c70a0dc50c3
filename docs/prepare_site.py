"""Collect the pages of the site in a folder, with those that the code describes itself.

    python docs/prepare_site.py build/docs && mkdocs build --strict

Copies docs/ and the pages at the root of the repository. Writes the command line from its parsers,
and the options, features and choices of each format from its ``Format``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from cdcwire.cli import parser_of
from cdcwire.cli.options import default_text, settings_text
from cdcwire.core.options import Option
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli import verb_modules

ROOT = Path(__file__).resolve().parents[1]
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "REPORT.md", "SECURITY.md")
_HELPS = ("help", "help_all")  # what these print is this page
_TO_ROOT = re.compile(rf"\]\((?:\.\./)+(?={'|'.join(map(re.escape, ROOT_PAGES))})")


def prepare(target: Path) -> None:
    """Write all pages of the site to an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for page in target.rglob("*.md"):
        _write(page, _TO_ROOT.sub(_up(page, target), page.read_text("utf-8")))
    for name in ROOT_PAGES:
        if (ROOT / name).exists():
            _write(target / name, (ROOT / name).read_text("utf-8").replace("](docs/", "]("))
    if (ROOT / "report").is_dir():
        shutil.copytree(ROOT / "report", target / "report")
    _write(target / "reference" / "command-line.md", "\n".join(command_line()))
    _write(target / "reference" / "options.md", "\n".join(options_and_features()))


def command_line() -> Iterator[str]:
    """Yield the lines of the page about the command line: all verbs, then each with its groups."""
    yield "# Command line\n\nThis page is generated from the parsers of the program.\n"
    yield "| verb | what it does |\n| --- | --- |"
    for module in verb_modules():
        yield f"| [`{module.NAME}`](#{module.NAME}) | {_cell(module.HELP)} |"
    yield ""
    for module in verb_modules():
        yield f"## {module.NAME}\n"
        yield from _parser(parser_of(module), 2)


def _parser(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{parser.description or ''}\n\n```text\n{parser.format_usage().strip()}\n```\n"
    below = list[tuple[str, argparse.ArgumentParser]]()
    for group in parser._action_groups:  # argparse has no public list of its arguments
        rows = []
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                below += action.choices.items()
            elif action.help is not argparse.SUPPRESS and action.dest not in _HELPS:
                rows.append(_argument(action))
        if rows:
            yield f"| {_cell(group.title or '')} | meaning |\n| --- | --- |"
            yield "\n".join(rows) + "\n"
    if parser.epilog:
        yield f"```text\n{parser.epilog.strip()}\n```\n"
    for name, inner in below:
        yield f"{'#' * (level + 1)} {parser.prog.removeprefix('cdcwire ')} {name}\n"
        yield from _parser(inner, level + 1)


def _argument(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    names = ", ".join(f"`{name} {value}`".replace(" `", "`") for name in action.option_strings)
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return f"| {names or f'`{value}`'} | {_cell(text)} |"


def options_and_features() -> Iterator[str]:
    """Yield the lines of the page about options, features and choices."""
    yield (
        "# Options, features and choices\n\n"
        "This page is generated from the declarations of each format. An *option* is a setting of "
        "the producer that the bytes do not show (`--option NAME=VALUE`). A *feature* is a part of "
        "the format that a testee may decline. A *choice* is what the reference does where the "
        "format leaves a choice. *Set by* names the settings of a TiCDC changefeed's file or sink "
        "URI, or of a connector, that give an option "
        "([how-to](../how-to/use-your-configuration.md)).\n"
    )
    for name in FORMAT_NAMES:
        through = get_format(name)
        yield f"## {name}\n\n[{through.title}](../{through.page.removeprefix('docs/')})\n"
        yield "| option | default | values | meaning | set by |\n| --- | --- | --- | --- | --- |"
        yield "\n".join(map(_option, through.options)) + "\n"
        yield from _table("feature", through.features.items())
        yield from _table("choice", through.choices.items())


def _option(option: Option) -> str:
    default = default_text(option)
    values = ", ".join(map(repr, option.values or ()))
    settings = settings_text(option, mark="`")
    shown = f"`{default}`" if default else "empty"
    return f"| `{option.name}` | {shown} | {_cell(values)} | {_cell(option.help)} | {settings} |"


def _table(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [f"| `{name}` | {_cell(text)} |" for name, text in rows]
    if lines:
        yield f"| {title} | meaning |\n| --- | --- |"
        yield "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def _up(page: Path, target: Path) -> str:
    return "](" + "../" * (len(page.relative_to(target).parts) - 1)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
