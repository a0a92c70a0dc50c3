"""One list of hostile texts through every output: each shows them as text, none obeys them.

The texts come from a testee, a corpus, a feed and file names.
"""

from __future__ import annotations

import html
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from cdcwire.console.visible import VisibleStream, visible, visible_lines
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus import Case
from cdcwire_conformance.output.badge import badge_text
from cdcwire_conformance.output.html.verify_page import html_text
from cdcwire_conformance.output.json_document import document_of, json_text
from cdcwire_conformance.output.junit import junit_text
from cdcwire_conformance.output.markdown import code, inline, markdown_text
from cdcwire_conformance.output.text import report_lines
from cdcwire_conformance.protocol import Claim, Description, Request
from cdcwire_conformance.protocol.answers import Answer, Events, Rejected
from cdcwire_conformance.run.results import Results, StaleEntry, StateLeak
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.testees import NoAnswer

Make = Callable[..., Case]
Fake = Callable[..., Any]

VERDICT = "PASSED: 999 of 999 cases"
TEXTS = {
    "colour": "\x1b[31mred\x1b[0m",
    "title of the window": "\x1b]0;title\x07",
    "C1 control": "\x9b31mred",
    "backspaces": "FAILED\b\b\b\b\b\bPASSED",
    "carriage return": f"x\r{VERDICT}",
    "line": f"x\n{VERDICT}\n",
    "other line ends": f"x\u2028{VERDICT}\u2029{VERDICT}\x85{VERDICT}\x0b{VERDICT}",
    "direction": "\u202egnp.exe\u202c \u2066isolate\u2069 \u200fmark",
    "unseen": "a\u200bb\u00adc\ufeffd\u00a0e\U000e0041f",
    "not XML": "\x00\x01\ufffe\uffff",
    "lone surrogate": "\ud800",
    "astral": "\U0001f600 and \U0010ffff",
    "element": "</script><img src=x onerror=alert(1)><!--",
    "end of CDATA": "]]><failure/>",
    "entity": "&lt;b&gt; &amp; &#27;",
    "quotes": '"\' onmouseover=alert(1) x="',
    "cell": "a | b || c \\| d",
    "emphasis": "**b** __b__ *i* _i_ ~~s~~ `c` ``c`` $m$ \\*",
    "link": "[l](http://e.x) ![i](http://e.x/i) <http://e.x> https://e.x www.e.x [r][r]",
    "heading": "# heading",
    "fence": "```\nx\n```",
    "item": "- item",
    "other item": "+ item",
    "number": "1. item",
    "underline": "===",
    "quote": "> quote",
    "code": "    code",
    "command of a log": "::error::planted",
    "indented command": "  ::add-mask::x",
    "older command": "##[error]planted ##vso[task.complete result=Succeeded;] ##teamcity[x]",
}
hostile_texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@pytest.fixture
def everywhere(results: Results, a_case: Make, fake: Fake) -> Callable[[str], Results]:
    """A function that makes results with a text in every place that is not the project's."""

    empty = results

    def make(text: str) -> Results:
        def answer(request: Request) -> Answer:
            wanted = (request.body.get("options") or {}).get("do")
            if wanted == "crash":
                raise NoAnswer("crashed", text, f"{text}\nlast words: {text}")
            if wanted == "refuse":
                return Rejected(text, 0, 0, (text,))
            if wanted == "other":
                return Events([])
            if wanted == "row":
                row = {"kind": "row", "op": "insert", "table": text, "after": {text: text}}
                return Events([row])
            return Events([{"kind": "marker", "what": "begin", "id": text, text: text}])

        shown = {"title": text, "clauses": (text,), "note": text, "group": text}
        cases = [
            a_case("wrong", **shown),
            a_case("row", options={"do": "row"}, **shown),
            a_case("crash", options={"do": "crash"}, **shown),
            a_case("refuse", options={"do": "refuse"}, **shown),
            a_case(text, options={"do": "other"}, **shown),
            a_case("should", options={"do": "crash"}, level="should", **shown),
            a_case("declined", features=(text,), **shown),
        ]
        testee = fake(answer, without=frozenset({text}))
        results = deepcopy(empty)
        results.testee = Description(text, text, text, {"toy": Claim(without=frozenset({text}))})
        results.command = results.corpus_version = text
        results.notes.append(text)
        results.stale.append(StaleEntry(text, text, 1, text))
        results.leaks.append(StateLeak(text, text, text))
        results.left_out[text] += 1
        return run(cases, [], [testee], results)

    return make


def assert_is_safe(lines: list[str]) -> None:
    """Check that a terminal shows these lines as they are, and that none is a planted verdict."""
    for line in lines:
        assert visible(line) == line
        assert not line.startswith(VERDICT)


@hostile_texts
def test_terminal(everywhere: Callable[[str], Results], text: str) -> None:
    lines = list(report_lines(everywhere(text), failures_shown=0))
    assert_is_safe(lines)
    assert any(visible(text).strip() in line for line in lines)


@hostile_texts
def test_junit(everywhere: Callable[[str], Results], text: str) -> None:
    document = junit_text(everywhere(text))
    assert_lines_obey_nothing(document)
    root = fromstring(document)
    assert {each.tag for each in root.iter()} <= {
        *("testsuites", "testsuite", "testcase", "failure", "error", "skipped"),
    }
    assert [each for each in root.iter("testcase") if each.get("name") == visible_lines(text)]


class Elements(HTMLParser):
    """The elements of a document and its text."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@hostile_texts
def test_html(everywhere: Callable[[str], Results], text: str) -> None:
    pytest.importorskip("jinja2")
    document = html_text(everywhere(text))
    harmless = html_text(everywhere("harmless"))
    found, wanted = Elements(document), Elements(harmless)
    assert set(found.names) == set(wanted.names)
    assert found.attributes == wanted.attributes
    assert found.names.count("script") == wanted.names.count("script") == 2
    without_code = re.sub(r"<(style|script)\b.*?</\1>", "", document, flags=re.DOTALL)
    assert_lines_obey_nothing(without_code)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', document)
    assert data is not None
    assert_lines_obey_nothing(data[1])
    shown = json.dumps(json.loads(data[1]), ensure_ascii=False)
    assert visible(shown) == shown


MARKUP = {
    *("h1", "h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("strong", "code", "pre"),
}


def rendered(document: str) -> str:
    markdown_it = pytest.importorskip("markdown_it")
    reader = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    made: str = reader.render(document)
    return made


@hostile_texts
def test_markdown(everywhere: Callable[[str], Results], text: str) -> None:
    document = markdown_text(everywhere(text))
    assert_lines_obey_nothing(document)
    assert not any(line.startswith(VERDICT) for line in document.splitlines())
    found = Elements(rendered(document))
    wanted = Elements(rendered(markdown_text(everywhere("harmless"))))
    assert set(found.names) <= MARKUP
    for name in ("h1", "h2", "h3", "table", "tr", "td", "li", "code", "pre", "strong"):
        assert found.names.count(name) == wanted.names.count(name), name
    assert visible(" ".join(text.split())) in found.text


@hostile_texts
def test_inline_markdown_is_the_text_again(text: str) -> None:
    shown = visible(" ".join(text.split()))
    made = rendered(inline(text))
    assert made == f"<p>{html.escape(shown).replace('&#x27;', chr(39))}</p>\n"
    cells = rendered(f"| a | b |\n| --- | --- |\n| {inline(text)} | end |\n")
    assert re.findall("<td>(.*)</td>", cells) == [made[3:-5], "end"]
    assert Elements(rendered(code(text))).names == ["p", "code"]
    assert "://" not in inline(text)
    assert "www." not in inline(text)


@hostile_texts
def test_json_is_visible_and_exact(everywhere: Callable[[str], Results], text: str) -> None:
    found = everywhere(text)
    written = json_text(found)
    assert_lines_obey_nothing(written)
    assert json.loads(written) == document_of(found)
    assert json.loads(written)["testee"]["name"] == text
    assert badge_text(found).isascii()


@hostile_texts
def test_reports_of_a_comparison_are_visible(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    if "\ud800" in text:
        pytest.skip("no feed holds half a character")
    monkeypatch.chdir(tmp_path)
    for side, value in (("left", text), ("right", f"{text} other")):
        Path("events.jsonl").write_text(row(text, value), encoding="utf-8")
        main(["encode", "craft", "events.jsonl"])
        Path(side).mkdir()
        Path(side, "messages.jsonl").write_text(capsys.readouterr().out, encoding="utf-8")
    reports = ["--json=json", "--junit=junit"]
    assert main(["compare", "craft:file:left", "craft:file:right", *reports]) == 1
    for report in ("json", "junit"):
        assert_lines_obey_nothing(Path(report).read_text(encoding="utf-8"))
    (table,) = json.loads(Path("json").read_text(encoding="utf-8"))["tables"]
    assert table["table"] == f"{text}.{text}"
    assert_lines_obey_nothing(capsys.readouterr().out)


@hostile_texts
def test_stream_keeps_json_and_escapes_the_rest(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    stream = VisibleStream(sys.stdout)
    print(json.dumps({text: text}, ensure_ascii=False), file=stream)
    assert json.loads(capsys.readouterr().out) == {text: text}
    print(text, file=stream)
    assert_lines_obey_nothing(capsys.readouterr().out)


def assert_lines_obey_nothing(output: str) -> None:
    assert visible_lines(output) == output
    assert not re.search(r"^\s*::|##\w*\[", output, re.MULTILINE)


def test_error_of_an_argument_is_short_and_visible(capsys: pytest.CaptureFixture[str]) -> None:
    long = "\x1b[31m" + "a" * 5000
    for words in (
        ["decode", long, "-"],
        ["decode", "craft", "--option", long, "-"],
        ["decode", "craft", "--option", f"{long}=1", os.devnull],
        ["decode", "csv", "--option", f"terminator={long}", os.devnull],
        ["decode", "csv", "--option", f"file-size={long}", os.devnull],
        ["decode", "craft", "--include", long, "-"],
        ["decode", "craft", long],
        ["verify", "craft", "--choice", long],
        ["verify", long],
        ["verify", "craft", "--jobs", long],
        ["verify", "craft", "--case", long],
        ["corpus", "show", long],
        ["avro", "topics", long],
    ):
        assert main(words) in (1, 2), words
        error = capsys.readouterr()
        lines = (error.out + error.err).splitlines()
        assert max(map(len, lines)) <= 2200, words
        assert_lines_obey_nothing(error.out + error.err)


def names() -> Iterator[str]:
    """Yield names of files that hold the texts, some in each."""
    name = ""
    for text in TEXTS.values():
        part = text.replace("/", "\u2215").replace("\0", "").replace("\ud800", "")
        if len((name + part).encode()) > 150:
            yield name
            name = ""
        name += part
    yield name


def row(text: str, value: str | None = None) -> str:
    """Return the line of an event whose names are a text, and a value, by default the same."""
    column = {"type": "text", "value": text if value is None else value}
    image = {"id": {"type": "int64", "value": "1"}, text: column}
    event = {
        "kind": "row",
        "op": "insert",
        "schema": text,
        "table": text,
        "key": ["id"],
        "position": {"commit_ts": "433305438660591626"},
        "before": None,
        "after": image,
    }
    return json.dumps(event) + "\n"


def run_all(commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> str:
    """Run commands and check that nothing that they print is obeyed. Returns: all of it."""
    whole = ""
    for words in commands:
        main(words)
        shown = capsys.readouterr()
        output = shown.out + shown.err
        assert_lines_obey_nothing(output)
        assert VERDICT not in output.splitlines(), words
        assert "Traceback" not in output
        whole += output
    return whole


@pytest.mark.parametrize("format_name", ["craft", "open-protocol"])
def test_commands_with_hostile_feeds(
    tmp_path: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    events, messages = tmp_path / "events.jsonl", tmp_path / "messages.jsonl"
    texts = [text for text in TEXTS.values() if "\ud800" not in text]
    events.write_text("".join(map(row, texts)), encoding="utf-8")
    main(["encode", format_name, str(events)])
    messages.write_text(capsys.readouterr().out, encoding="utf-8")
    bad = [tmp_path / f"bad{number}" for number in range(len(texts))]
    for file, text in zip(bad, texts, strict=True):
        file.write_text(json.dumps({"kind": text}), encoding="utf-8")
    shown = run_all(
        [
            ["decode", format_name, str(messages)],
            ["decode", "auto", str(messages)],
            ["explain", format_name, str(messages)],
            ["identify", str(messages), "--messages", "5"],
            *(["encode", format_name, str(file)] for file in bad),
        ],
        capsys,
    )
    assert "\\u001b[31mred" in shown


@pytest.mark.parametrize("name", list(names()), ids=lambda name: f"{len(name)} characters")
def test_commands_with_hostile_names_of_files(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Path("p" + name, name, name)
    place.mkdir(parents=True)
    (place / name).write_bytes(b"x")
    (place / "CDC000001.csv").write_text(f'"I","{name}"\n', encoding="utf-8")
    Path("f" + name).write_bytes(b"x")
    prefix, file, missing = f"p{name}", f"f{name}", f"none{name}"
    shown = run_all(
        [
            ["decode", "csv", prefix],
            ["storage", "check", "csv", prefix],
            ["decode", "maxwell-json", file],
            ["explain", "maxwell-json", file],
            ["identify", file],
            ["decode", "craft", missing],
            ["decode", "craft", "--tables", missing, "-"],
            ["decode", "craft", "--blobs", missing, "-"],
            ["verify", "--root", missing],
            ["verify", "craft", "--junit", f"{missing}/x", "--case", "x"],
            ["verify", "craft", "--", missing],
            ["corpus", "list", "--root", missing],
            ["size", file],
        ],
        capsys,
    )
    assert len(shown) > 100


def test_commands_on_a_hostile_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "golden"
    assert main(["corpus", "copy", str(root), "maxwell-json"]) == 0
    capsys.readouterr()
    files = sorted(root.rglob("*/*/*.json"))[: len(TEXTS)]
    assert len(files) == len(TEXTS)
    for file, text in zip(files, TEXTS.values(), strict=True):
        document = json.loads(file.read_text(encoding="utf-8"))
        document.update(title=text, note=text, features=[text], choice=f"{text}: {text}")
        file.write_text(json.dumps(document), encoding="utf-8")
    ids = [file.relative_to(root).with_suffix("").as_posix() for file in files]
    verbs = [["list"], ["features"], ["choices"], ["check"], *(["show", each] for each in ids)]
    shown = run_all([["corpus", *verb, "--root", str(root)] for verb in verbs], capsys)
    assert "\\u001b[31mred" in shown
