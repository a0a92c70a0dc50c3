"""The registry of formats. To add a format, add its name here.

``_FORMATS`` gives for each format id its package under ``cdcwire.formats``. A format is imported
when it is first used. The imports for type checkers make ``from cdcwire import craft`` typed.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes longer to import than this module
if TYPE_CHECKING:
    from cdcwire.format import Format
    from cdcwire.formats import avro as avro
    from cdcwire.formats import canal_json as canal_json
    from cdcwire.formats import cdl_json as cdl_json
    from cdcwire.formats import craft as craft
    from cdcwire.formats import csv as csv
    from cdcwire.formats import datahub_blob as datahub_blob
    from cdcwire.formats import datahub_tuple as datahub_tuple
    from cdcwire.formats import debezium_avro as debezium_avro
    from cdcwire.formats import debezium_json as debezium_json
    from cdcwire.formats import maxwell_json as maxwell_json
    from cdcwire.formats import open_protocol as open_protocol
    from cdcwire.formats import simple as simple
    from cdcwire.formats.craft import proposal

    craft_proposal = proposal

_FORMATS = {  # in the order of use
    "debezium-json": "debezium_json",
    "debezium-avro": "debezium_avro",
    "maxwell-json": "maxwell_json",
    "canal-json": "canal_json",
    "open-protocol": "open_protocol",
    "avro": "avro",
    "csv": "csv",
    "simple": "simple",
    "datahub-tuple": "datahub_tuple",
    "datahub-blob": "datahub_blob",
    "cdl-json": "cdl_json",
    "craft": "craft",
    "craft-proposal": "craft.proposal",
}

FORMAT_NAMES: tuple[str, ...] = tuple(_FORMATS)


def package_of(name: str) -> str:
    """Return the package of a format below a ``formats`` package: ``open_protocol``.

    Raises: ValueError with the format that is like it, or with all of them.
    """
    if name not in _FORMATS:
        raise ValueError(unknown_format(name))
    return _FORMATS[name]


def unknown_format(name: str) -> str:
    """Return the error about a format that is not known, with what may be meant."""
    from cdcwire.core.nearest import meant_or_known

    return f"unknown format {name!r:.80}{meant_or_known(name, FORMAT_NAMES)}"


def get_format(name: str) -> Format:
    """Return the format with this id. Raises: ValueError that lists the known formats.

    Examples:
        >>> get_format("csv").title
        'Storage sink CSV'

    """
    found: Format = import_module(f"cdcwire.formats.{package_of(name)}.format").FORMAT
    return found
