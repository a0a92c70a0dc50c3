"""The texts of the project avoid the patterns below: pages, help texts, errors, titles, others.

``language_allowed.txt`` lists how many sentences of each file still have one. It only shrinks:
a file with fewer than listed fails too. ``python tests/test_language.py [PATH...]`` prints the
sentences; ``--write`` writes the list anew.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cdcwire.cli import parser_of
from cdcwire_conformance.cli import verb_modules

ROOT = Path(__file__).resolve().parents[1]
ALLOWED_FILE = Path(__file__).with_name("language_allowed.txt")
MOST_WORDS = 25
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "docs/**/*.md",
    "adapters/*/README.md",
)
SOURCES = ("reference", "generators", "conformance", "tests", "adapters/python", "benchmarks")
_ERROR_NAMES = re.compile(
    r"(?:Error|Exception|Problem|Warning|Fault|Skip|Refused|invalid|problem)$"
)
_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`(\[\"])|\n\s*\n")
_BLOCK = re.compile(r"\n(?=\s*[-*|] )")  # an item of a list, a row of a table
_CODE = re.compile(r"``?[^`]*``?")
_WORD = re.compile(r"[a-z]{2,}")
_PROGRAM = re.compile(
    r"^\s*(?:if|for|SELECT|FROM|INSERT|ALTER|CREATE|<\w+)\b|\\[bdwsS]|\(\?|STRING, "
)
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way of writing to avoid. ``regex`` finds it in a sentence; ``instead``: what to write."""

    name: str
    regex: re.Pattern[str]
    instead: str


def _pattern(name: str, regex: str, instead: str, flags: int = re.IGNORECASE) -> Pattern:
    return Pattern(name, re.compile(regex, flags), instead)


_NOT_A_NUMBER_OF = r"(?!\s+(?:more|longer|less|later|fewer|greater|larger|earlier|smaller)\b)"

PATTERNS = (
    _pattern(
        "told",
        r"\b(?:un)?told\b|\btells?\b(?! (?:Spark|Kafka|the (?:user|reader|caller|server)))",
        "report, specify, known",
    ),
    _pattern(
        "is no",
        rf"(?<!\bthere )\b(?:is|are|was|were|be) (?:no|none)\b{_NOT_A_NUMBER_OF}",
        "is not a, invalid",
    ),
    _pattern(
        "clause as subject",
        r"^(?:What|Who|Whoever|Whatever|Whether|That|Which)\b(?!.*\?$)(?! (?:is|are) )\s+(?!one\b)",
        "a noun as the subject",
        0,
    ),
    _pattern(
        "inverted",
        r"^(?:Of|From|To|In|By|On) (?:what|which|whom)\b"
        r"|^Of (?:a|an|all|each|every|the|several|many|its)\b",
        "the subject first",
    ),
    _pattern("of which", r"\bof (?:which|whom|what)\b|\bwhose\b.*\bwhose\b", "a second sentence"),
    _pattern("stand", r"\b(?:stands?|stood|standing)\b(?! (?:for|by)\b)", "is, contains"),
    _pattern(
        "behind", r"\bbehind\b(?! (?:a|the) (?:proxy|firewall|load balancer|password))", "after"
    ),
    _pattern("beside", r"\bbesides?\b", "in addition to, next to"),
    _pattern("in front of", r"\bin front\b", "before"),
    _pattern(
        "one a table",
        r"\b(?:one|once|twice|two|three|\d+|lines?|files?|bytes|rows?|jobs?|messages?|passes|changes|"
        r"milliseconds|ms|times|cases?|pages?) an? "
        r"(?:table|row|file|message|partition|topic|format|second|minute|hour|case|column|key|change|"
        r"line|pair|batch|part|feed|run|shard|value|record)\b",
        "per, each",
    ),
    _pattern("so many", r"\bso (?:many|often|long|much)\b(?! (?:as|that)\b)", "N, every N seconds"),
    _pattern("but for", r"\bbut for\b|\bbut (?:not )?(?:in|of) (?:the|a)\b.*\bbut\b", "except"),
    _pattern(
        "private word",
        r"\b(?:rooms?|walls?|doors?|halves|by rule|put to|pass(?:es|ed|ing)? over|"
        r"(?<!byte order )(?<!pytest\.)marks?|marked|"
        r"lanes?|stor(?:y|ies) of|parcels?|passages?|frontiers?|"
        r"wishes|patience|exhibits?|traps?|habits?)\b",
        "directory, mode, record, derived, run against, ignore, progress position",
    ),
    _pattern("of its own", r"\bof (?:ours|theirs|its own|their own)\b", "name the owner"),
    _pattern(
        "is of",
        r"\b(?:is|are|was|were) (?:only |not )?of (?!(?:type|length|size|use|interest|kind)\b)",
        "belongs to, applies to, has",
    ),
    _pattern("is there", r"\b(?:is|are|be|was|were)(?: not)? there\b", "is present, exists"),
)
HEADING = _pattern(
    "question as heading",
    r"^(?:What|Which|Who|Where|When|Whether|Why)\b",
    "a noun or an imperative",
)
LONG = Pattern("long sentence", re.compile(""), f"at most {MOST_WORDS} words")


def patterns_in(sentence: str, *, is_heading: bool = False) -> list[Pattern]:
    """Return the patterns that a sentence has."""
    found = [pattern for pattern in PATTERNS if pattern.regex.search(sentence)]
    if is_heading and HEADING.regex.search(sentence):
        found.append(HEADING)
    if len(re.findall(r"[\w'’-]+", sentence)) > MOST_WORDS:
        found.append(LONG)
    return found


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. ``kind``: page, help, error, text, docstring or title (of a case)."""

    kind: str
    path: str
    line: int
    text: str
    is_heading: bool = False


def pages(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the sentences of all pages; code, links' targets and ids of clauses are left out."""
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            yield from _of_page(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())


def _of_page(text: str, path: str) -> Iterator[Sentence]:
    block: list[str] = []
    start, fenced = 1, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced:
            continue
        heading = re.match(r"#+ (.*)", line)
        cells = line.strip().startswith("|")
        if heading or cells or not line.strip() or re.match(r"\s*(?:[-*]|\d+\.) ", line):
            yield from _split("page", path, start, " ".join(block))
            block, start = [], number
        if heading:
            if not re.search(r"\{#|`", line):
                yield Sentence("page", path, number, heading[1], is_heading=True)
        elif cells:
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield from _split("page", path, number, cell)
        elif line.strip():
            block.append(re.sub(r"^\s*(?:[-*>]|\d+\.) ", "", line).strip())


def of_python(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the sentences of Python code. The texts of tests are left out, except docstrings."""
    for source in SOURCES:
        for file in sorted((root / source).rglob("*.py")):
            if "/." in file.as_posix():
                continue
            path = file.relative_to(root).as_posix()
            nodes = tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
            yield from _docstrings(path, nodes)
            if not path.startswith("tests/"):
                yield from _errors(path, nodes)
                if "/test/" not in path:
                    yield from _texts(path, nodes)


def _docstrings(path: str, nodes: tuple[ast.AST, ...]) -> Iterator[Sentence]:
    """Yield the sentences of docstrings, except examples."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                line = getattr(node, "lineno", 1)
                text = re.sub(r"(?m)^\s*(?:>>>|\.\.\.).*$", "", text)
                for block in _BLOCK.split(text):
                    is_row = block.lstrip().startswith("|")
                    for part in block.split("|") if is_row else [block]:
                        yield from _split("docstring", path, line, part)


def _errors(path: str, nodes: tuple[ast.AST, ...]) -> Iterator[Sentence]:
    """Yield the sentences that the program raises or returns as errors."""
    for node in nodes:
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if _ERROR_NAMES.search(name):
                for argument in node.args[:1] + [
                    k.value for k in node.keywords if k.arg == "problem"
                ]:
                    text = _text_of(argument)
                    if text and " " in text:
                        yield from _split("error", path, node.lineno, text)


def _texts(path: str, nodes: tuple[ast.AST, ...]) -> Iterator[Sentence]:
    """Yield the sentences of all other texts in code, such as an error that a function returns.

    A text has three words or more. Programs, schemas and examples have several lines; they are
    left out.
    """
    parts: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr):
            parts.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            parts.update(map(id, node.values))
        elif isinstance(node, ast.BinOp):
            parts.update((id(node.left), id(node.right)))
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and id(node) not in parts:
            text = _text_of(node)
            if "\n" not in text.strip() and _is_prose(text):
                yield from _split("text", path, node.lineno, text)


def of_adapters(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the sentences of texts in Go, Java and JavaScript."""
    for source in sorted((root / "adapters").rglob("*")):
        if source.suffix in (".go", ".java", ".js") and "node_modules" not in source.parts:
            name = source.relative_to(root).as_posix()
            for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
                for text in _LITERAL.findall(line):
                    if _is_prose(text):
                        yield from _split("text", name, number, text.strip("\"'`"))


def titles(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield the sentences of the titles of golden cases."""
    for file in sorted((root / "golden").glob("*/*/*.json")):
        document = json.loads(file.read_bytes())
        if isinstance(document, dict) and isinstance(document.get("title"), str):
            yield from _split("title", file.relative_to(root).as_posix(), 1, document["title"])


def _is_prose(text: str) -> bool:
    return len(_WORD.findall(text)) > 2 and _PROGRAM.search(text) is None


def helps(parser: argparse.ArgumentParser, name: str = "cdcwire") -> Iterator[Sentence]:
    """Yield the sentences of a parser's help and of all its subcommands."""
    for text in (parser.description, parser.epilog):
        yield from _split("help", name, 0, re.sub(r"(?m)^\s+.*$", "", text or ""))
    for action in parser._actions:  # argparse has no public list
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield from _split("help", f"{name} {choice.dest}", 0, choice.help or "")
            for verb, below in action.choices.items():
                yield from helps(below, f"{name} {verb}")
        elif action.help and action.help is not argparse.SUPPRESS:
            yield from _split("help", name, 0, action.help)


def _text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "X"
            for part in node.values
        )
    if isinstance(node, ast.BinOp):
        return _text_of(node.left) + _text_of(node.right)
    return ""


def _split(kind: str, path: str, line: int, text: str) -> Iterator[Sentence]:
    """Split a text into sentences; code in backquotes and the targets of links count as a word."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = _CODE.sub("X", text)
    for part in _END.split(text):
        part = " ".join(part.split())
        if len(part.split()) > 1:
            yield Sentence(kind, path, line, part)


def all_sentences() -> Iterator[Sentence]:
    """Yield every sentence of the project."""
    yield from pages()
    for module in verb_modules():
        yield from helps(parser_of(module), f"cdcwire {module.NAME}")
    yield from of_python()
    yield from of_adapters()
    yield from titles()


def faults_of(sentences: Iterator[Sentence]) -> Iterator[tuple[Sentence, list[Pattern]]]:
    """Yield the sentences that have a pattern, with the patterns."""
    for sentence in sentences:
        found = patterns_in(sentence.text, is_heading=sentence.is_heading)
        if found:
            yield sentence, found


def _found() -> Counter[tuple[str, str]]:
    return Counter(
        (sentence.kind, sentence.path.replace(" ", "-"))
        for sentence, _ in faults_of(all_sentences())
    )


def _allowed() -> Counter[tuple[str, str]]:
    counts = Counter[tuple[str, str]]()
    for line in ALLOWED_FILE.read_text(encoding="utf-8").splitlines():
        kind, path, count = line.split()
        counts[kind, path] = int(count)
    return counts


def test_sentences_have_a_pattern_only_where_the_list_allows_it() -> None:
    assert _found() == _allowed()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The port that is not told is 9092.", "told"),
        ("A row is no list.", "is no"),
        ("What meets nothing is reported.", "clause as subject"),
        ("Of a row the columns are read.", "inverted"),
        ("Feeds, of which one is empty.", "of which"),
        ("The length stands first.", "stand"),
        ("A byte behind the end.", "behind"),
        ("The types beside the values.", "beside"),
        ("The row in front is read.", "in front of"),
        ("It writes one file a table.", "one a table"),
        ("Stop after so many crashes.", "so many"),
        ("All but for the first.", "but for"),
        ("The cases are made by rule.", "private word"),
        ("The process has a group of its own.", "of its own"),
        ("The file is not there.", "is there"),
        (" ".join(["word"] * 26), "long sentence"),
        ("The option is of storage prefixes only.", "is of"),
    ],
)
def test_each_pattern_is_found(text: str, name: str) -> None:
    assert [pattern.name for pattern in patterns_in(text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "There is no schema with this id.",
        "It is no longer read.",
        "Each file has one table.",
        "Decoding stops at the first error.",
        "Behind a proxy, set the variable.",
        "It stands for NULL.",
        "The value is of type int32.",
        "A byte order mark is skipped.",
        " ".join(["word"] * 25),
    ],
)
def test_plain_sentences_have_no_pattern(text: str) -> None:
    assert patterns_in(text) == []


def main() -> None:
    """Print the sentences with a pattern, or write the list of how many there may be."""
    if sys.argv[1:] == ["--write"]:
        lines = [f"{kind} {path} {count}\n" for (kind, path), count in sorted(_found().items())]
        ALLOWED_FILE.write_text("".join(lines), encoding="utf-8")
        return
    total, bad = Counter[str](), Counter[str]()
    for sentence in all_sentences():
        total[sentence.kind] += 1
        found = patterns_in(sentence.text, is_heading=sentence.is_heading)
        bad[sentence.kind] += bool(found)
        if found and any(sentence.path.startswith(path) for path in sys.argv[1:]):
            names = ", ".join(f"{pattern.name} ({pattern.instead})" for pattern in found)
            print(f"{sentence.path}:{sentence.line}: {sentence.text}\n    {names}")
    for kind, count in total.items():
        print(f"{kind}: {bad[kind]} of {count} sentences, {bad[kind] / count:.1%}")


if __name__ == "__main__":
    main()
