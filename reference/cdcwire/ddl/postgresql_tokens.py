"""The tokens of a statement in PostgreSQL's dialect."""

from __future__ import annotations

import re

from cdcwire.ddl.tokens import Token, TokenKind, error_at

_TOKEN = re.compile(
    r"""(?P<skipped>\s+|--[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*)|/\*(?:[^*]|\*(?!/))*\*/)*\*/)
    |(?P<name>(?:[uU]&)?"(?:[^"]|"")*")
    |(?P<escaped>[eE]'[^'\\]*(?:(?:\\.|'')[^'\\]*)*')
    |(?P<text>(?:[bBxXnN]|[uU]&)?'[^']*(?:''[^']*)*'|(?P<tag>\$(?:[^\W\d]\w*)?\$).*?(?P=tag))
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<sign>::|.)""",
    re.DOTALL | re.VERBOSE,
)
_NOT_CLOSED = {"'": "a text", '"': "a name", "$": "a text"}
_PREFIX = re.compile(r"\A(?:[uU]&|[bBxXnNeE](?='))")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a statement without comments, followed by one of the kind "end".

    Words are in small letters, as PostgreSQL reads names without quotes.
    Raises: DdlError for a quote that does not end.
    """
    tokens = []
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup, found[0]
        if kind == "tag":
            kind = "text"
        if kind == "skipped":
            continue
        if kind == "sign" and (piece in _NOT_CLOSED or text.startswith("/*", found.start())):
            what = _NOT_CLOSED.get(piece, "a comment")
            if piece != "$":
                raise error_at(text, found.start(), f"{what} begins here and does not end")
        token_kind: TokenKind = "sign"
        if kind == "word":
            token_kind, piece = "word", piece.lower()
        elif kind == "name":
            quoted = _PREFIX.sub("", piece, count=1)
            token_kind, piece = "name", quoted[1:-1].replace('""', '"')
        elif kind in ("text", "escaped"):
            token_kind, piece = "text", _unquoted(piece, kind == "escaped")
        elif kind == "number":
            token_kind = "number"
        tokens.append(Token(token_kind, piece, found.start(), found.end()))
    return [*tokens, Token("end", "", len(text), len(text))]


def _unquoted(piece: str, has_escapes: bool) -> str:
    if piece.startswith("$"):
        size = piece.index("$", 1) + 1
        return piece[size:-size]
    inner = _PREFIX.sub("", piece, count=1)[1:-1].replace("''", "'")
    if has_escapes:
        inner = _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), inner)
    return inner
