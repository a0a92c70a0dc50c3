"""The template filled: one HTML file with its style, its script and its data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from cdcwire import __version__
from cdcwire.console.visible import visible_lines
from cdcwire.extras import load_extra
from cdcwire.model.text import Json
from cdcwire_conformance.output.html.page import Page

PURPOSE = "An HTML page"
_OPTION = re.compile(r"--[a-z][a-z-]*")


def require_jinja() -> None:
    """Raise MissingExtraError if pages can't be made here."""
    load_extra("jinja2", "html", PURPOSE)


def render_page(page: Page) -> str:
    """Return a page as text. Raises: MissingExtraError without Jinja2."""
    script = own_file("page.js")
    digest = hashlib.sha256(script.encode()).digest()
    return render_template(
        "page.html",
        page=page,
        sections=[
            (section, list(lines))
            for section, lines in groupby(page.groups, lambda line: line.section)
        ],
        script=script,
        script_sum=base64.b64encode(digest).decode(),
        data=script_json(page.data),
    )


def render_template(name: str, **values: object) -> str:
    """Return a template of this package, filled. Raises: MissingExtraError without Jinja2."""
    require_jinja()
    template = _environment().get_template(name)
    text: str = template.render(style=own_file("page.css"), version=__version__, **values)
    return text


@lru_cache(maxsize=1)
def _environment() -> Any:
    jinja2 = load_extra("jinja2", "html", PURPOSE)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(own_file),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["options"] = _with_whole_options
    return environment


def _shown(value: object) -> object:
    """Return what a template prints; only a text without ``safe`` came from elsewhere."""
    return visible_lines(value) if type(value) is str else value


def _with_whole_options(text: str) -> object:
    """Return a text whose options are never broken after their hyphens."""
    markup = load_extra("markupsafe", "html", PURPOSE)
    shown = str(markup.escape(visible_lines(text)))
    return markup.Markup(_OPTION.sub(r'<span class="option">\g<0></span>', shown))


def script_json(data: Json) -> str:
    """Return JSON for a script element: plain ASCII without ``<`` and commands to logs."""
    return visible_lines(json.dumps(data, separators=(",", ":"))).replace("<", "\\u003c")


@lru_cache(maxsize=16)
def own_file(name: str) -> str:
    """Return a template, a style or a script of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
