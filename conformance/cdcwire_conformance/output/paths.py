"""Takes the paths of this machine out of results that others read."""

from __future__ import annotations

import re
from pathlib import Path

from cdcwire.model.text import Json

_ABSOLUTE = re.compile(
    r"(?<![\w/.:~-])(?:file:(?://)?)?(/[^\s/`'\"<>|:,;()\[\]{}*?#]+)([^\s`'\"<>|:,;()]*)"
)


def without_machine_paths(value: Json, project: Path) -> Json:
    """Return a document whose texts name paths of the project relative to it.

    Of any other path on this machine, only the name of the file is left.
    """
    if isinstance(value, str):
        if project.name:
            value = value.replace(f"{project}/", "").replace(str(project), ".")
        return _ABSOLUTE.sub(_name, value)
    if isinstance(value, dict):
        return {key: without_machine_paths(each, project) for key, each in value.items()}
    if isinstance(value, list):
        return [without_machine_paths(each, project) for each in value]
    return value


def _name(found: re.Match[str]) -> str:
    top, rest = found.groups()
    # Other texts begin with a slash too, as the path of a request does.
    return Path(top + rest).name if Path(top).exists() else found[0]
