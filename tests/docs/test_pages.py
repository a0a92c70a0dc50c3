"""The pages' commands and Python blocks work, and the output that they show is what comes.

A block of ``console`` is run and compared; a block of ``python`` is run; one with a title is also
written to a file for the commands after it. A block that is not run has a comment before it that
says why. The lines of an output may begin with callouts such as ①, which the comparison ignores.
``python tests/docs/test_pages.py [PAGE...]`` writes the outputs anew and counts the blocks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))),
]
ALL_PAGES = [
    *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("*.md"))),
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))),
]
NEEDS = {  # the libraries of extras
    "docs/index.md": ["pyarrow"],
    "docs/how-to/compare-on-a-schedule.md": ["pyarrow"],
    "docs/how-to/share-a-result.md": ["jinja2"],
    "docs/tutorials/compare-two-feeds.md": ["pyarrow"],
    "docs/tutorials/migrate-to-craft.md": ["pyarrow", "jinja2", "sqlglot"],
    "docs/tutorials/migrate-to-debezium.md": ["pyarrow", "jinja2", "sqlglot"],
    "docs/reference/api/codecs.md": ["sqlglot"],
    "docs/reference/api/arrow.md": ["pyarrow"],
    "docs/reference/api/testing.md": ["hypothesis"],
}
IN_A_COPY = ("docs/how-to/add-a-format.md",)  # test_add_a_format.py runs it
GENERATED = ("reference/command-line.md", "reference/options.md")  # by docs/prepare_site.py
_LINK = re.compile(r"\]\((?!http)([^)#]+)\)")
_IN_NAVIGATION = re.compile(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", re.MULTILINE)
_MOST_IN_NAVIGATION = 30
_CALLOUT = re.compile(r"^(?:[①-⑩❶-❿]| ) ", re.MULTILINE)
_BLOCK = re.compile(
    r"(?P<reason><!-- not run[^>]*?: [^>]+ -->\n)?"
    r"^```(?P<language>console|python|sh|sql|bash|json|toml)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code. ``start`` and ``end``: where its text is in the page."""

    language: str
    text: str
    title: str | None
    is_run: bool
    start: int
    end: int


def blocks_of(page: str) -> list[Block]:
    return [
        Block(
            found["language"],
            found["text"],
            found["title"],
            found["reason"] is None,
            found.start("text"),
            found.end("text"),
        )
        for found in _BLOCK.finditer((ROOT / page).read_text(encoding="utf-8"))
    ]


def is_code(block: Block) -> bool:
    """Return whether a block is a command or a program, not the text of a file for one."""
    return block.language not in ("json", "sql", "toml") or block.title is not None


def run_page(page: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in their order. Yields: each console block with its true text."""
    for shared in ("golden", "adapters"):
        (folder / shared).symlink_to(ROOT / shared)
    names: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks_of(page):
            if block.title is not None:
                file = folder / block.title
                assert file.resolve().is_relative_to(folder.resolve()), "the page may not change us"
                file.parent.mkdir(exist_ok=True)
                file.write_text(block.text, encoding="utf-8")
            elif block.language == "console" and block.is_run:
                command = block.text.split("\n", 1)[0].removeprefix("$ ")
                yield block, f"$ {command}\n{_output(command)}"
            elif block.language == "python" and block.is_run:
                exec(compile(block.text, page, "exec"), names)  # the page is ours
    finally:
        os.chdir(before)


def _output(command: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    ended = subprocess.run(
        ["sh", "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stdout, ended.stderr
    return ended.stdout.removesuffix("\n") + "\n"


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if page not in IN_A_COPY])
def test_code_of_a_page_works_as_shown(page: str, tmp_path: Path) -> None:
    for library in NEEDS.get(page, ()):
        pytest.importorskip(library)
    for block, text in run_page(page, tmp_path):
        assert any_python(without_callouts(block.text)) == any_python(text)


@pytest.mark.parametrize("page", [page for page in NEEDS if page.startswith("docs/tutorials/")])
def test_install_line_of_a_tutorial_brings_what_its_commands_need(page: str) -> None:
    project = (ROOT / "conformance/pyproject.toml").read_text(encoding="utf-8")
    extras = dict(re.findall(r"^(\w+) = (\[.*\])$", project, re.MULTILINE))
    (chosen,) = re.findall(r"pip install '\.\[([\w,]+)\]'", (ROOT / page).read_text("utf-8"))
    brought = " ".join(extras[extra] for extra in chosen.split(","))
    assert [library for library in NEEDS[page] if f'"{library}>' not in brought] == []


def typed_module(page: str) -> str:
    """Return the examples of a page as one module, each at its lines of the page.

    A block with a title is a program of the user, which may do without annotations.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in blocks_of(page):
        if block.language == "python" and block.is_run and block.title is None:
            first = text.count("\n", 0, block.start)
            lines[first : first + block.text.count("\n")] = block.text.splitlines()
    return "\n".join(lines).rstrip() + "\n"


def test_examples_pass_the_strict_type_checker_of_users(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    modules = {re.sub(r"\W", "_", page): typed_module(page) for page in PAGES}
    modules = {name: text for name, text in modules.items() if text.strip()}
    assert len(modules) > 5
    for name, text in modules.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "mypy")]
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *map(str, sorted(tmp_path.glob("*.py")))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def any_python(text: str) -> str:
    """Return a text without the version of Python's own csv module, which is that of Python."""
    return re.sub(r"\bPython csv 3\.[0-9]+\.[0-9]+", "Python csv 3", text)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_commands_are_run_or_say_why_not(page: str) -> None:
    silent = [
        block.text for block in blocks_of(page) if block.language in ("sh", "bash") and block.is_run
    ]
    assert silent == []


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links_lead_to_files(page: str) -> None:
    file = ROOT / page
    for target in _LINK.findall(file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists() or target.endswith(GENERATED), target


def test_every_page_is_in_the_navigation_or_a_link_away() -> None:
    named = _IN_NAVIGATION.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert len(set(named)) == len(named) <= _MOST_IN_NAVIGATION
    docs = ROOT / "docs"
    shown = [docs / name if (docs / name).exists() else ROOT / name for name in named]
    written = [page for page in shown if not page.as_posix().endswith(GENERATED)]
    linked = {
        (page.parent / target).resolve()
        for page in written
        for target in _LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert set(docs.rglob("*.md")) - linked - set(shown) == set()


def test_readme_names_all_verbs_and_formats() -> None:
    from cdcwire.registry import FORMAT_NAMES
    from cdcwire_conformance.cli import VERBS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in (*VERBS, *FORMAT_NAMES) if f"`{name}`" not in text] == []


def without_callouts(shown: str) -> str:
    """Return a console block without its callouts, which are a column before the output."""
    command, _, output = shown.partition("\n")
    has_callouts = re.search("^[①-⑩❶-❿] ", output, re.MULTILINE)
    return f"{command}\n{_CALLOUT.sub('', output) if has_callouts else output}"


def with_callouts(shown: str, text: str) -> str:
    """Return ``text`` with the callouts of ``shown``, each at the same line of its text."""
    plain = without_callouts(shown)
    if plain == shown:
        return text
    marks: dict[str, list[str]] = {}
    for line, whole in zip(plain.splitlines()[1:], shown.splitlines()[1:], strict=True):
        marks.setdefault(line, []).append(whole[: len(whole) - len(line)])
    command, *output = text.splitlines()
    lines = (f"{(marks.get(line) or ['  ']).pop(0)}{line}" for line in output)
    return "\n".join((command, *lines, ""))


def main() -> None:
    """Write the outputs of the pages anew, and count the blocks that run."""
    import tempfile

    for page in sys.argv[1:] or [page for page in PAGES if page not in IN_A_COPY]:
        with tempfile.TemporaryDirectory() as folder:
            found = list(run_page(page, Path(folder)))
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        for block, true in reversed(found):
            text = text[: block.start] + with_callouts(block.text, true) + text[block.end :]
        path.write_text(text, encoding="utf-8")
    blocks = [block for page in PAGES for block in blocks_of(page) if is_code(block)]
    print(f"{sum(block.is_run for block in blocks)} of {len(blocks)} blocks run")


if __name__ == "__main__":
    main()
