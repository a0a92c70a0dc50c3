"""The files of a new format in a checkout, and its two lines in the registry.

The files import, and the format is known at once: every verb finds it. Its decoder refuses every
message until it is written. ``templates`` has the texts of the files.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from cdcwire.files.local_files import write_whole
from cdcwire.registry import FORMAT_NAMES

REGISTRY = "reference/cdcwire/registry.py"
NAME_FORM = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_CODEC, _SUITE = "reference/cdcwire/formats", "conformance/cdcwire_conformance/formats"
_TARGETS = {
    "codec_init": f"{_CODEC}/@package@/__init__.py",
    "wire": f"{_CODEC}/@package@/wire.py",
    "events": f"{_CODEC}/@package@/events.py",
    "carries": f"{_CODEC}/@package@/carries.py",
    "format": f"{_CODEC}/@package@/format.py",
    "suite_init": f"{_SUITE}/@package@/__init__.py",
    "suite": f"{_SUITE}/@package@/suite.py",
    "generators": "generators/cdcwire_generators/formats/@package@.py",
    "page": "docs/formats/@name@.md",
    "test_wire": "tests/reference/formats/@package@/test_wire.py",
}
_IMPORT = "    from cdcwire.formats import {0} as {0}\n"
_ANY_IMPORT = re.compile(r"^    from cdcwire\.formats import (\w+) as \w+\n", re.MULTILINE)
_LAST_ENTRY = re.compile(r"^(_FORMATS = \{.*?)^\}\n", re.MULTILINE | re.DOTALL)


class NotWrittenError(ValueError):
    """The files of a format can't be written. The text says why."""


def checkout_folder() -> Path:
    """Return the checkout that this program runs from. Raises: NotWrittenError."""
    found = Path(__file__).resolve().parents[3]
    if not (found / REGISTRY).is_file():
        raise NotWrittenError("this needs a checkout: a format is part of the source")
    return found


def write_format(name: str, checkout: Path) -> list[str]:
    """Write the files of a new format. Returns: their names, the registry last.

    Raises: NotWrittenError for a name that is taken or not a name; OSError.
    """
    if not NAME_FORM.fullmatch(name):
        raise NotWrittenError(f"{name!r:.80} is not lower-case words with hyphens")
    if name in FORMAT_NAMES:
        raise NotWrittenError(f"{name!r} is already a format")
    words = {"@name@": name, "@package@": name.replace("-", "_"), "@title@": _title(name)}
    contents = {
        _filled(target, words): _filled(_template(template), words)
        for template, target in _TARGETS.items()
    }
    for file in contents:
        if (checkout / file).exists():
            raise NotWrittenError(f"{file}: already exists")
    registry = (checkout / REGISTRY).read_text(encoding="utf-8")
    contents[REGISTRY] = _with_entry(registry, name, words["@package@"])
    for file, content in contents.items():
        target = checkout / file
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content.encode())
    return list(contents)


def _title(name: str) -> str:
    words = name.split("-")
    return " ".join([words[0].capitalize(), *words[1:]])


def _template(name: str) -> str:
    file = files("cdcwire_conformance.skeletons").joinpath(f"templates/{name}.txt")
    return file.read_text(encoding="utf-8")


def _filled(text: str, words: dict[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def _with_entry(registry: str, name: str, package: str) -> str:
    """Return the text of the registry with a format as its last one, and its import in order."""
    entry = f'    "{name}": "{package}",\n}}\n'
    registry, count = _LAST_ENTRY.subn(lambda found: found[1] + entry, registry, count=1)
    later = [found for found in _ANY_IMPORT.finditer(registry) if found[1] > package]
    last = list(_ANY_IMPORT.finditer(registry))[-1:]
    if count != 1 or not last:
        raise NotWrittenError(f"{REGISTRY}: its list of formats is not as expected")
    at = later[0].start() if later else last[0].end()
    return registry[:at] + _IMPORT.format(package) + registry[at:]
