"""The registry of formats: one line each, loaded when first asked for."""

from __future__ import annotations

from importlib import import_module

from cdcwire.format import Format

_MODULES = {
    "craft": "cdcwire.craft.format",
    "craft-proposal": "cdcwire.craft_proposal.format",
    "open-protocol": "cdcwire.open_protocol.format",
    "csv": "cdcwire.csv.format",
    "canal-json": "cdcwire.canal_json.format",
    "avro": "cdcwire.avro.format",
    "datahub-tuple": "cdcwire.datahub_tuple.format",
    "datahub-blob": "cdcwire.datahub_blob.format",
    "cdl-json": "cdcwire.cdl_json.format",
    "debezium-json": "cdcwire.debezium_json.format",
}

FORMAT_NAMES: tuple[str, ...] = tuple(_MODULES)


def get_format(name: str) -> Format:
    """Return the format of this name. Raises: ValueError that lists the names there are."""
    if name not in _MODULES:
        raise ValueError(f"format {name!r} is not known; there are: {', '.join(FORMAT_NAMES)}")
    found = import_module(_MODULES[name]).FORMAT
    assert isinstance(found, Format)
    return found
