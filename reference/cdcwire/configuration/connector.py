"""A connector of Kafka Connect: the JSON that creates it, with or without its name around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache

from cdcwire.configuration.found import (
    Configuration,
    ConfigurationError,
    Given,
    matches,
    option_settings,
    public_address,
    read_text,
    unknown_text,
)
from cdcwire.console.problems import json_problem, no_constant
from cdcwire.console.visible import visible
from cdcwire.core.options import JSON_CONVERTER, TRANSFORM, TRANSFORMS, Connector
from cdcwire.registry import FORMAT_NAMES, get_format

_CLASS = "connector.class"
_VALUES, _KEYS = "value.converter", "key.converter"
_IS_TRANSFORM = re.compile(r"transforms\.[^.]+\.type")
_CONVERTER_DEFAULTS = {JSON_CONVERTER: {"schemas.enable": "true"}}

# Properties that no message depends on, or that messages show.
_UNUSED = (
    *("name", "config.*", "tasks.*", "topics", "topics.*", "topic.*", "errors.*", "offset*"),
    *("exactly.once.*", "transaction.*", "transforms", "transforms.*", "predicates"),
    *("predicates.*", "header.converter", "header.converter.*", "key.converter.*"),
    *("value.converter.*", "producer.*", "consumer.*", "admin.*", "client.*", "database.*"),
    *("table.*", "column.*", "schema.*", "snapshot.*", "incremental.*", "signal.*"),
    *("notification.*", "heartbeat.*", "slot.*", "publication.*", "plugin.name", "status.*"),
    *("message.key.columns", "message.prefix.*", "include.*", "tombstones.on.delete"),
    *("max.*", "min.*", "poll.*", "retriable.*", "retry.*", "query.*", "event.*", "gtid.*"),
    *("binlog.*", "connect.*", "connection.*", "skip*", "skipped.*", "sourceinfo.*"),
    *("log.*", "rac.*", "lob.*", "xmin.*", "flush.*", "lsn.*", "custom.*", "internal.*"),
    *("ssl.*", "sanitize.*", "field.*", "bigint.*", "enable.*", "data.*", "driver.*"),
    *("post.processors*", "streaming.*", "read.only", "inconsistent.*", "money.*"),
    *("openlineage.*", "extended.*", "guardrail.*", "adhoc.*", "archive.*"),
)
# Properties of sources that may change columns; what they do is not known here.
_CHANGES_COLUMNS = ("converters", "post.processors")

_TO_OTHER_TOPICS = (
    "org.apache.kafka.connect.transforms.RegexRouter",
    "org.apache.kafka.connect.transforms.TimestampRouter",
    "org.apache.kafka.connect.transforms.Filter",
    "org.apache.kafka.connect.transforms.InsertHeader",
    "org.apache.kafka.connect.transforms.DropHeaders",
    "io.debezium.transforms.ByLogicalTableRouter",
    "io.debezium.transforms.ContentBasedRouter",
    "io.debezium.transforms.Filter",
    "io.debezium.transforms.SchemaChangeEventFilter",
    "io.debezium.transforms.partitions.PartitionRouting",
)
_CHANGES_MESSAGES = (
    "io.debezium.transforms.UnwrapFromEnvelope",
    "io.debezium.transforms.ExtractChangedRecordState",
    "io.debezium.transforms.HeaderToValue",
    "io.debezium.transforms.TimezoneConverter",
    "io.debezium.transforms.outbox.EventRouter",
    "io.debezium.connector.*.transforms.*",
    "org.apache.kafka.connect.transforms.*",
)


def read_connector(file: str) -> Configuration:
    """Return the configuration that the JSON of a connector has. Raises: ConfigurationError."""
    properties = _read_properties(file)
    if _CLASS not in properties:
        raise ConfigurationError(f"{file}: {_CLASS} is missing")
    is_sink = "topics" in properties or "topics.regex" in properties
    found = dict[str, Connector]()
    for name, each in _connectors():
        if _is_meant(each, properties, is_sink):
            found.setdefault(name, each)
    named_by = f"{file}: {_CLASS}={properties[_CLASS]}"
    if _VALUES in properties:
        named_by += f" with {_VALUES}={properties[_VALUES]}"
    if not found:
        raise ConfigurationError(f"{named_by}: no format has the messages of this connector")
    _check_needs(found, properties, file)
    given, warnings = (_given_by_sink if is_sink else _given_by_source)(properties, file)
    if _VALUES not in properties:
        warnings.append(f"{file}: {_VALUES} is not set; the worker's is not known")
    registry = properties.get(f"{_VALUES}.schema.registry.url")
    return Configuration(
        file,
        named_by,
        tuple(found),
        tuple(given),
        {name: each.defaults for name, each in found.items()},
        tuple(warnings),
        public_address(str(registry)) if registry is not None else None,
    )


def _read_properties(file: str) -> dict[str, object]:
    """Return the properties, with the full names of classes and the defaults of converters."""
    text = read_text(file)
    try:
        document = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: {json_problem(error)}") from None
    if isinstance(document, dict) and isinstance(document.get("config"), dict):
        document = document["config"]
    if not isinstance(document, dict):
        raise ConfigurationError(f"{file}: it is not an object with the properties of a connector")
    document = {name: value for name, value in document.items() if value is not None}
    for name, value in document.items():
        if name in (_CLASS, _KEYS, _VALUES) or _IS_TRANSFORM.fullmatch(name):
            if not isinstance(value, str):
                raise ConfigurationError(f"{file}: {name}: is not a text")
            document[name] = _full_names().get(value, value)
    defaults = {
        f"{side}.{name}": value
        for side in (_KEYS, _VALUES)
        for name, value in _CONVERTER_DEFAULTS.get(document.get(side, ""), {}).items()
    }
    return {**defaults, **document}


def _connectors() -> Iterator[tuple[str, Connector]]:
    for name in FORMAT_NAMES:
        for each in get_format(name).connectors:
            yield name, each


def _class_values(setting_name: str) -> set[str]:
    """Return the classes that give an option of some format as the value of a setting."""
    options = (option for name in FORMAT_NAMES for option in get_format(name).options)
    settings = (setting for option in options for setting in option.settings)
    return {value for each in settings if each.name == setting_name for value in each.values}


@cache
def _full_names() -> dict[str, str]:
    """Return the full names of known classes by the simple names, which Kafka Connect takes too."""
    full = {*_TO_OTHER_TOPICS, *_CHANGES_MESSAGES, *_class_values(_KEYS), *_class_values(TRANSFORM)}
    for _, each in _connectors():
        full |= {each.converter, *each.classes}
    return {name.rpartition(".")[2]: name for name in full}


def _is_meant(connector: Connector, properties: Mapping[str, object], is_sink: bool) -> bool:
    given = properties.get(_VALUES)
    if given != connector.converter and (given is not None or connector.needs_converter):
        return False
    return not connector.classes if is_sink else properties[_CLASS] in connector.classes


def _check_needs(
    found: Mapping[str, Connector], properties: Mapping[str, object], file: str
) -> None:
    for format_name, connector in found.items():
        for name, given in properties.items():
            for needed, value in connector.needs.items():
                if matches(name, [needed]) and str(given).lower() != value.lower():
                    raise ConfigurationError(
                        f"{file}: {name}: {format_name} is read with {value} only"
                    )


def _given_by_sink(properties: Mapping[str, object], file: str) -> tuple[list[Given], list[str]]:
    """Return the settings of a sink that give options: those of its converter of values.

    Its other properties say what it does with the messages that it read.
    """
    given = [
        Given("connector", name, value, f"{file}: {name}")
        for name, value in properties.items()
        if name.startswith(f"{_VALUES}.") and name in option_settings("connector")
    ]
    return given, []


def _given_by_source(properties: Mapping[str, object], file: str) -> tuple[list[Given], list[str]]:
    """Return the settings of a source that give options, and warnings.

    Raises: ConfigurationError for a transform whose messages no format has.
    """
    own = str(properties.get("converters", "")).replace(" ", "").split(",")
    known = (*_UNUSED, *_CHANGES_COLUMNS, _CLASS, _VALUES, *(f"{each}.*" for each in own if each))
    given, unknown, warnings = list[Given](), [], []
    for name, value in properties.items():
        if name in option_settings("connector"):
            given.append(Given("connector", name, value, f"{file}: {name}"))
        elif not matches(name, known):
            unknown.append(visible(name))
        if name in _CHANGES_COLUMNS:
            warnings.append(f"{file}: {name} may change the form of columns")
    for name in filter(None, str(properties.get("transforms", "")).replace(" ", "").split(",")):
        setting = f"transforms.{name}.type"
        class_name = str(properties.get(setting, "")).partition("$")[0]
        if class_name in _class_values(TRANSFORM):
            given.append(Given("connector", TRANSFORM, class_name, f"{file}: {setting}"))
            for pattern in sorted(option_settings("connector")):
                property_name = pattern.replace("*", name, 1)
                if (
                    pattern.startswith(TRANSFORMS)
                    and pattern != TRANSFORM
                    and property_name in properties
                ):
                    value = properties[property_name]
                    given.append(Given("connector", pattern, value, f"{file}: {property_name}"))
        elif matches(class_name, _CHANGES_MESSAGES) and class_name not in _TO_OTHER_TOPICS:
            raise ConfigurationError(
                f"{file}: {setting}: {class_name.rpartition('.')[2]} changes the messages, and no "
                "format has what it writes"
            )
        elif class_name not in _TO_OTHER_TOPICS:
            warnings.append(f"{file}: {setting} is not known; it may change the messages")
    if unknown:
        warnings.append(f"{file}: {unknown_text(unknown)}")
    return given, warnings
