"""The tokens of a DDL, by sqlglot's MySQL tokenizer, and a cursor over them.

sqlglot's *parser* is not used, for three reasons (versions 28 to 30). It refuses statements that
MySQL and TiDB accept: ``FLOAT UNSIGNED``, ``PRIMARY KEY (id) CLUSTERED``, ``VALUES LESS THAN
MAXVALUE``, keys over expressions, ``AUTO_RANDOM``. It keeps others as text (``PARTITION BY KEY``).
It takes ``REAL`` for a FLOAT and ``INT8`` for a TINYINT. Its tokenizer knows MySQL's tokens well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from cdcwire.extras import load_extra


class DdlError(ValueError):
    """A DDL can't be read. ``line`` and ``column`` count characters from 1.

    ``file`` is the name of the file, where there is one.
    """

    def __init__(self, problem: str, line: int, column: int, file: str | None = None) -> None:
        super().__init__(problem, line, column, file)
        self.problem = problem
        self.line = line
        self.column = column
        self.file = file

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}: {self.problem}"
        return place if self.file is None else f"{self.file}: {place}"

    def in_file(self, file: str) -> DdlError:
        """Return the same error with the name of its file."""
        return DdlError(self.problem, self.line, self.column, file)


class NoTableError(DdlError):
    """A text defines no table."""

    def __init__(self) -> None:
        super().__init__("there is no CREATE TABLE here", 1, 1)


TokenKind: TypeAlias = Literal["word", "name", "text", "number", "hex", "bit", "sign", "end"]

_KINDS: dict[str, TokenKind] = {
    "STRING": "text",
    "NATIONAL_STRING": "text",
    "RAW_STRING": "text",
    "NUMBER": "number",
    "HEX_STRING": "hex",
    "BIT_STRING": "bit",
}
_WORD = re.compile(r"[\w$]+")
# What a DDL is made of, as far as that is needed to tell where a token has no end.
_PIECE = re.compile(
    r"""(?P<numeral>\b(?:[xb]'[^']*'|0[xb]\w+))
    |'(?:[^'\\]|\\.|'')*'(?!')|"(?:[^"\\]|\\.|"")*"(?!")|`(?:[^`]|``)*`(?!`)|/\*.*?\*/
    |(?:--(?=\s)|\#)[^\n]*
    |(?P<opener>['"`]|/\*)
    |\w+|.""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_NUMERAL = re.compile(r"0b[01]+|b'[01]*'|0x[0-9a-f]+|x'[0-9a-f]*'", re.IGNORECASE)
_FIRST_WORD = "x"
_ENCLOSED = {"'": "a text", '"': "a text", "`": "a name", "/*": "a comment"}


@dataclass(frozen=True, slots=True)
class Token:
    """``text``: a word as written; a name, a text without its quotes; digits; a sign.

    ``start`` and ``end`` are offsets in the whole DDL; ``end`` is after the token.
    """

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in capital letters; empty where the token is not a word."""
        return self.text.upper() if self.kind == "word" else ""


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a DDL without comments, followed by one of the kind "end".

    Raises: DdlError; MissingExtraError where sqlglot is not installed.
    """
    return [*_tokens(text, text, 0), Token("end", "", len(text), len(text))]


def _tokens(whole: str, text: str, shift: int) -> list[Token]:
    """Return the tokens of a text that begins ``shift`` characters into the whole one."""
    sqlglot = load_extra("sqlglot", "ddl", "reading CREATE TABLE statements")
    errors = load_extra("sqlglot.errors", "ddl", "reading CREATE TABLE statements")
    try:
        found = sqlglot.tokenize(text, read="mysql")
    except errors.SqlglotError:
        _raise_where_tokens_end(whole)
    tokens: list[Token] = []
    behind = 0
    for token in found:
        kind = _KINDS.get(token.token_type.name)
        start, end = token.start, token.end + 1
        if kind == "text" and token.text and token.text == text[behind:end].strip():
            # RENAME, SHOW and the like begin a statement and come with the rest of it as one text.
            # Behind another word they are words.
            first = f"{_FIRST_WORD} "
            inner = _tokens(whole, first + text[behind:end], shift + behind - len(first))
            tokens += inner[1:]
        elif kind is not None:
            tokens.append(Token(kind, token.text, shift + start, shift + end))
        elif text[start : start + 1] == "`":
            tokens.append(Token("name", token.text, shift + start, shift + end))
        else:  # PRIMARY KEY and the like come as one token
            for part in re.finditer(r"\S+", text[start:end]):
                word_kind: TokenKind = "word" if _WORD.fullmatch(part[0]) else "sign"
                place = shift + start
                tokens.append(Token(word_kind, part[0], place + part.start(), place + part.end()))
        behind = end
    return tokens


def error_at(text: str, offset: int, problem: str) -> DdlError:
    """Return the error of a place in a text."""
    before = text[:offset]
    return DdlError(problem, before.count("\n") + 1, offset - before.rfind("\n"))


def _raise_where_tokens_end(text: str) -> NoReturn:
    """Raise for the place where no token is found; sqlglot reports no place."""
    for piece in _PIECE.finditer(text):
        if piece["opener"]:
            what = _ENCLOSED[piece["opener"]]
            raise error_at(text, piece.start(), f"{what} begins here and does not end")
        if piece["numeral"] and not _NUMERAL.fullmatch(piece["numeral"]):
            raise error_at(text, piece.start(), f"{piece['numeral']!r:.40} is not a number")
    raise error_at(text, 0, "this is not SQL text")


class Cursor:
    """Moves over tokens. ``text`` is the whole DDL, for errors and for expressions as written."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.index = 0

    @property
    def token(self) -> Token:
        """The token at the cursor."""
        return self.tokens[self.index]

    def word(self, ahead: int = 0) -> str:
        """Return the next word, in capitals; empty where the next token is not a word."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)].word

    def next(self) -> Token:
        """Return the token and move past it; the end is never passed."""
        token = self.token
        if token.kind != "end":
            self.index += 1
        return token

    def skip(self, *words: str) -> bool:
        """Move past these words or signs if they are what comes."""
        if len(self.tokens) - self.index < len(words):
            return False
        for ahead, word in enumerate(words):
            token = self.tokens[self.index + ahead]
            if token.kind not in ("word", "sign") or token.text.upper() != word:
                return False
        self.index += len(words)
        return True

    def is_sign(self, sign: str, ahead: int = 0) -> bool:
        """Return whether the next token is this sign."""
        token = self.tokens[min(self.index + ahead, len(self.tokens) - 1)]
        return token.kind == "sign" and token.text == sign

    def expect(self, *words: str) -> None:
        """Move past these words or signs. Raises: DdlError if something else comes."""
        if not self.skip(*words):
            wanted = " ".join(words)
            raise self.unexpected(wanted if wanted[0].isalpha() else repr(wanted))

    def unexpected(self, wanted: str) -> DdlError:
        """Return the error that something else is here than what was wanted."""
        return self.error(f"expected {wanted}, found {self.shown()}")

    def shown(self) -> str:
        """Return what comes, for an error."""
        token = self.token
        if token.kind == "end":
            return "the end of the text"
        return repr(self.text[token.start : min(token.end, token.start + 40)])

    def error(self, problem: str, token: Token | None = None) -> DdlError:
        """Return an error at a token; without one at what comes."""
        return error_at(self.text, (token or self.token).start, problem)

    def name(self, what: str) -> str:
        """Return a name, quoted or not, and move past it. Raises: DdlError."""
        is_quoted = self.token.kind == "text" and self.text[self.token.start] == '"'  # ANSI_QUOTES
        if self.token.kind not in ("name", "word") and not is_quoted:
            raise self.unexpected(what)
        found = self.next()
        if not found.text:
            raise self.error(f"{what} is empty", found)
        return found.text

    def string(self, what: str) -> str:
        """Return a text and move past it. Raises: DdlError."""
        if self.token.kind != "text":
            raise self.unexpected(what)
        return self.next().text

    def number(self, what: str) -> int:
        """Return a number in decimal digits and move past it. Raises: DdlError."""
        token = self.token
        if token.kind != "number" or not (token.text.isascii() and token.text.isdigit()):
            raise self.unexpected(what)
        if len(token.text) > 18:
            raise self.error(f"{what} of {len(token.text)} digits")
        return int(self.next().text)

    def parenthesised(self) -> str:
        """Return the text in the parentheses that begin here, as written, and move past them.

        Raises: DdlError if none begin here, or they do not end.
        """
        opening = self.token
        self.expect("(")
        depth = 1
        while depth:
            token = self.next()
            if token.kind == "end":
                raise self.error("this parenthesis is not closed", opening)
            depth += (token.kind == "sign") * ((token.text == "(") - (token.text == ")"))
        return self.text[opening.end : self.tokens[self.index - 1].start].strip()

    def skip_until(self, stops: Callable[[Token], bool]) -> None:
        """Move to the next token that stops, outside of parentheses, or to the end."""
        while self.token.kind != "end" and not stops(self.token):
            if self.is_sign("("):
                self.parenthesised()
            else:
                self.next()
