"""How the configuration that a user already has names a format and its options.

Three kinds are known: a TiCDC changefeed's file in TOML, its sink URI, and the JSON of a Kafka
Connect connector. Each format declares what concerns it: ``option(settings=...)`` says which
settings give an option, ``Format.protocols`` and ``Format.connectors`` when the format is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ConfigurationKind: TypeAlias = Literal["changefeed", "sink-uri", "connector"]
ANY_VALUE = "*"
TRANSFORMS = "transforms.*."  # before the settings of each transform that a connector has
TRANSFORM = f"{TRANSFORMS}type"
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a producer's own configuration that gives the value of an option.

    ``name``: its full name there, as ``sink.csv.delimiter``. ``values``: the option's value by the
    setting's, with ``ANY_VALUE`` for all others; a value that is not listed is used unchanged.
    ``is_list``: its value is a list, and the option's that list in JSON.
    """

    kind: ConfigurationKind
    name: str
    values: Mapping[str, str | bool] = field(default_factory=dict, hash=False)
    is_list: bool = False

    def value_of(self, text: str) -> str | bool:
        """Return the option's value for the text of a setting."""
        return self.values.get(text, self.values.get(ANY_VALUE, text))


def changefeed(
    name: str, values: Mapping[str, str | bool] | None = None, *, is_parameter: bool = False
) -> tuple[Setting, ...]:
    """Return a setting of a changefeed's file; ``is_parameter``: a sink URI may have it too."""
    found = Setting("changefeed", name, values or {})
    if not is_parameter:
        return (found,)
    return found, Setting("sink-uri", name.rpartition(".")[2], found.values)


def transform(*names: str) -> tuple[Setting, ...]:
    """Return the settings of a connector's transform that give the same option."""
    return connector(*(f"{TRANSFORMS}{name}" for name in names))


def connector(*names: str, values: Mapping[str, str | bool] | None = None) -> tuple[Setting, ...]:
    """Return the properties of a connector that give the same option."""
    return tuple(Setting("connector", name, values or {}) for name in names)


@dataclass(frozen=True, slots=True)
class Connector:
    """The connectors whose topics have messages of a format.

    ``classes``: values of ``connector.class`` of sources; none: all sinks. ``converter``: the value
    of ``value.converter``, where the connector has one. ``defaults``: options that the connector's
    own defaults give. ``needs``: values that properties must have if they are set; in their names
    ``*`` is any text. ``needs_converter``: only a connector that names the converter is meant, not
    one that leaves it to the worker.
    """

    converter: str
    classes: tuple[str, ...] = ()
    defaults: Mapping[str, str | int | bool] = field(default_factory=dict, hash=False)
    needs: Mapping[str, str] = field(default_factory=dict, hash=False)
    needs_converter: bool = False
