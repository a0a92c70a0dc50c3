"""``cdcwire report site``: the site of results, from stored runs alone."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from cdcwire.console.problems import UsageError

HELP = "make the site of results from stored runs"
DESCRIPTION = """\
Make a site from the results that `cdcwire report readers` stored. It has the newest verdict on each
reader, release and format, and how it changed. Each reader and each case has a page. There are
badges, and a feed of new cases. The pages need no server and no JavaScript. Open DIR/index.html.

A file that is not a stored run is listed on the site, with the reason. So is a result of another
version of the corpus. Needs the extra html.

Exit code 0: the site is written. 2: it is not.
"""
EXAMPLES = """\
examples:
  cdcwire report site results --to site
  cdcwire report site results --to site --base-url https://example.org/cdcwire/
"""
_BASE_URL = re.compile(r"https?://[^\s\"'<>?#]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire report site``."""
    parser.add_argument("results", metavar="RESULTS", help="the directory of the stored runs")
    parser.add_argument("--to", metavar="DIR", required=True, help="write the site here")
    parser.add_argument(
        "--base-url",
        type=_base_url_argument,
        metavar="URL",
        help="the address that the site gets; the links of the feed begin with it",
    )


def _base_url_argument(text: str) -> str:
    if not _BASE_URL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not an address: https://HOST/PATH/")
    return text if text.endswith("/") else f"{text}/"


def run(arguments: argparse.Namespace) -> int:
    """Write the site. Returns 0. Raises: UsageError, OSError, MissingExtraError."""
    from cdcwire_conformance.cli.progress import ProgressLine
    from cdcwire_conformance.output.html.render import require_jinja
    from cdcwire_conformance.output.results.site import write_results_site
    from cdcwire_conformance.output.results.stored import read_stored

    require_jinja()
    results, folder = Path(arguments.results), Path(arguments.to)
    if not results.is_dir():
        raise UsageError(f"{results} is not a directory; `cdcwire report readers` writes one")
    runs, unreadable = read_stored(results)
    if not runs:
        raise UsageError(f"{results}: no stored run; {len(unreadable)} files cannot be read")
    folder.mkdir(parents=True, exist_ok=True)
    with ProgressLine() as line:
        write_results_site(folder, runs, unreadable, arguments.base_url or "", line.show)
    print(folder / "index.html")
    return 0
