"""A TiCDC changefeed: its sink URI, its file in TOML, or both.

Where both have a setting, that of the sink URI counts, as in TiCDC.

Column selectors name tables as they are in the source. With ``target-schema`` and ``target-table``
of ``dispatchers`` a feed has other names, so the selectors are turned into ones that match these.
The first route that matches a table counts, and so does the first selector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from cdcwire.configuration.found import (
    Configuration,
    ConfigurationError,
    Given,
    matches,
    option_settings,
    public_address,
    read_toml,
    unknown_text,
)
from cdcwire.console.visible import visible
from cdcwire.core.options import OptionValue
from cdcwire.registry import FORMAT_NAMES, get_format

SINK_URI = "sink URI"
_PROTOCOL = "protocol"
_SELECTORS = "sink.column-selectors"
_NOT_ROUTED = (
    "the feed has other names of its tables, and a pattern has a form that is not read; "
    "use the option column-selectors with these names"
)
_REGISTRY = "schema-registry"
_QUEUES = frozenset({"kafka", "kafka+ssl", "pulsar", "pulsar+ssl", "pulsar+http", "pulsar+https"})
_STORES = frozenset({"file", "nfs", "s3", "gcs", "gs", "azblob", "azure"})
_DATABASES = frozenset({"mysql", "mysql+ssl", "tidb", "tidb+ssl"})

_SHOWN_BY_MESSAGES = ("output-row-key", "only-output-pk-columns")
# Settings that no message depends on, or that messages show.
_UNUSED_PARAMETERS = (
    *("kafka-version", "kafka-client-id", "partition-num", "replication-factor", "compression"),
    "max-retry",
    *("auto-create-topic", "required-acks", "dial-timeout", "write-timeout", "read-timeout"),
    *("enable-tls", "ca", "cert", "key", "insecure-skip-verify", "sasl-*"),
    *("worker-count", "flush-interval", "flush-concurrency", "output-column-id"),
    *("transaction-atomicity", "access-key", "secret-access-key", "session-token", "region"),
    *("endpoint", "force-path-style", "storage-class", "sse*", "acl", "provider", "role-arn"),
    *("external-id", "credentials-file", "predefined-acl", "account-name", "account-key"),
    *("sas-token", "access-tier", "encryption-*", "auth-*", "authentication-token", "token-*"),
    *("basic-*", "oauth2-*", "tls-*", "connection-timeout", "operation-timeout", "batching-*"),
    *("send-timeout", "compression-type", "file-expiration-days", "file-cleanup-cron-spec"),
    *("use-table-id-as-path", "spool-disk-quota", "spool-base-dir"),
    *_SHOWN_BY_MESSAGES,
)
_UNUSED_SETTINGS = (
    *("memory-quota", "performance-mode", "check-gc-safe-point", "event-collector-*"),
    *("case-sensitive", "force-replicate", "sink.case-sensitive", "sink.force-replicate"),
    *("enable-active-active", "active-active-*"),
    *("ignore-ineligible-table", "enable-old-value", "enable-sync-point", "sync-point-*"),
    *("sql-mode", "bdr-mode", "changefeed-error-stuck-duration", "enable-table-monitor"),
    *("keyspace", "async-ddl-timeout", "mounter.*", "filter.*"),
    *("scheduler.*", "consistent.*", "synced-status.*"),
    *("integrity.corruption-handle-level", "sink.integrity.corruption-handle-level"),
    *("sink.dispatchers", "sink.column-selectors", "sink.encoder-concurrency", "sink.safe-mode"),
    *("sink.transaction-atomicity", "sink.enable-kafka-sink-v2", "sink.advance-timeout-in-sec"),
    *("sink.send-*", "sink.mysql-config.*", "sink.pulsar-config.*"),
    *(f"sink.{name}" for name in _SHOWN_BY_MESSAGES),
    *(f"sink.kafka-config.codec-config.{name}" for name in _SHOWN_BY_MESSAGES),
    "sink.kafka-config.glue-schema-registry-config.*",
    "sink.kafka-config.output-raw-change-event",
    "sink.cloud-storage-config.output-raw-change-event",
    *(f"sink.kafka-config.{name}" for name in _UNUSED_PARAMETERS),
    *(f"sink.cloud-storage-config.{name}" for name in _UNUSED_PARAMETERS),
)
_SECRET = re.compile(r"password|secret|token|key|user|cred|sas", re.IGNORECASE)
_NAME = re.compile(r"[a-z][a-z0-9.-]{0,50}")


def read_ticdc(uri: str | None, file: str | None) -> Configuration:
    """Return the configuration of a sink URI, a changefeed's file, or both.

    Raises: ConfigurationError; MissingExtraError where Python has no reader of TOML.
    """
    uri_settings, scheme, uri_warnings = _read_uri(uri) if uri is not None else ([], None, [])
    file_settings, file_warnings = _read_file(file) if file is not None else ([], [])
    given = [*uri_settings, *file_settings]
    protocol = next((each for each in given if each.name in (_PROTOCOL, "sink.protocol")), None)
    registry = next((each for each in given if each.name.endswith(_REGISTRY)), None)
    source = " and ".join(filter(None, (uri and SINK_URI, file)))
    formats, named_by = _formats(protocol, source)
    formats = tuple(name for name in formats if _is_sent_by(name, scheme))
    if not formats:
        raise ConfigurationError(f"{named_by}: {SINK_URI}: {scheme}:// does not have this format")
    return Configuration(
        source,
        named_by,
        formats,
        tuple(each for each in given if each.name in option_settings(each.kind)),
        {name: _of_scheme(name, scheme) for name in formats},
        (*uri_warnings, *file_warnings),
        public_address(str(registry.value)) if registry is not None else None,
    )


def _formats(protocol: Given | None, source: str) -> tuple[tuple[str, ...], str]:
    """Return the formats that a protocol names, and the setting for messages."""
    names = {name: get_format(name).protocols for name in FORMAT_NAMES}
    if protocol is None:
        return tuple(name for name in names if names[name]), f"{source}: no protocol is set"
    wanted = str(protocol.value).lower()
    found = tuple(name for name in names if wanted in names[name])
    if not found:
        known = ", ".join(sorted(each for known in names.values() for each in known))
        raise ConfigurationError(
            f"{protocol.where}: {protocol.value!r:.60} is not a protocol that can be read; "
            f"there are: {known}"
        )
    return found, f"{protocol.where}={wanted}"


def _is_sent_by(format_name: str, scheme: str | None) -> bool:
    """Return whether sinks of a scheme have messages of a format."""
    carrier = "storage" if scheme in _STORES else "queue"
    return scheme is None or carrier in get_format(format_name).carriers


def _of_scheme(format_name: str, scheme: str | None) -> Mapping[str, OptionValue]:
    """Return the option with which the format's messages are files, if the sink stores files."""
    stored = get_format(format_name).stored
    if scheme not in _STORES or stored is None or stored.option is None:
        return {}
    return dict([stored.option])


def _read_uri(uri: str) -> tuple[list[Given], str, list[str]]:
    """Return the parameters of a sink URI, its scheme, and warnings. No error repeats the URI."""
    try:
        parts = urlsplit(uri.strip())
    except ValueError:
        raise ConfigurationError(f"{SINK_URI}: it is not a URI") from None
    scheme = parts.scheme
    if scheme in _DATABASES:
        raise ConfigurationError(f"{SINK_URI}: a changefeed to {scheme}:// sends no messages")
    if scheme not in _QUEUES | _STORES:
        known = ", ".join(f"{each}://" for each in sorted(_QUEUES | _STORES))
        raise ConfigurationError(f"{SINK_URI}: it does not begin with one of {known}")
    known_names = option_settings("sink-uri") | {_PROTOCOL, _REGISTRY}
    given, unknown, previous = list[Given](), [], ""
    # A setting without a value is left out: it may be the end of a password with an & in it.
    for number, (name, value) in enumerate(parse_qsl(parts.query, keep_blank_values=True), 1):
        if name in known_names:
            given.append(Given("sink-uri", name, value, f"{SINK_URI}: {name}"))
        elif not matches(name, _UNUSED_PARAMETERS):
            is_shown = _NAME.fullmatch(name) and value and not _SECRET.search(previous)
            unknown.append(name if is_shown else f"number {number}")
        previous = name
    return given, scheme, [f"{SINK_URI}: {unknown_text(unknown, 'parameter')}"] if unknown else []


def _read_file(file: str) -> tuple[list[Given], list[str]]:
    """Return the settings of a changefeed's file, and warnings."""
    values = dict(_flat(read_toml(file, "--changefeed"), ""))
    warnings = []
    if _SELECTORS in values:
        selectors = routed_selectors(values[_SELECTORS], values.get("sink.dispatchers"))
        if selectors is None:
            warnings.append(f"{file}: {_SELECTORS}: {_NOT_ROUTED}")
        else:
            values[_SELECTORS] = selectors
    known_names = option_settings("changefeed") | {"sink.protocol", "sink.schema-registry"}
    given, unknown = list[Given](), []
    for name, value in values.items():
        if name in known_names:
            given.append(Given("changefeed", name, value, f"{file}: {name}"))
        elif not matches(name, _UNUSED_SETTINGS):
            unknown.append(visible(name))
    if unknown:
        warnings.append(f"{file}: {unknown_text(unknown)}")
    return given, warnings


def _flat(table: Mapping[str, object], section: str) -> Iterator[tuple[str, object]]:
    """Yield the settings of a table and its sections with their full names."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{section}{name}.")
        else:
            yield f"{section}{name}", value


_SCHEMA, _TABLE = "target-schema", "target-table"
# A schema and a table, each a name or a pattern. Left out: !, quotes, escapes, and regular
# expressions between slashes.
_PLAIN = re.compile(r"""([^.!/\\"'`@]+)\.([^.!/\\"'`@]+)""")

Pattern: TypeAlias = tuple[str, str]


def routed_selectors(selectors: object, dispatchers: object) -> object | None:
    """Return the selectors for a feed's names; unchanged without routes.

    The tables of a route have theirs first. None: a pattern has a form that is not turned.
    """
    routes = [each for each in _objects(dispatchers) if each.get(_SCHEMA) or each.get(_TABLE)]
    if not routes or not _objects(selectors):
        return selectors
    found = []
    for selector in _objects(selectors):
        matcher: list[str] = []
        for route in routes:
            selected, routed = _patterns(selector), _patterns(route)
            if selected is None or routed is None:
                return None
            matcher += _targets(selected, routed, route)
        found.append({**selector, "matcher": [*dict.fromkeys(matcher)]})
    return [*(each for each in found if each["matcher"]), *_objects(selectors)]


def _objects(found: object) -> list[dict[str, object]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _patterns(rule: Mapping[str, object]) -> list[Pattern] | None:
    matcher = rule.get("matcher")
    texts = matcher if isinstance(matcher, list) else [""]
    found = [_PLAIN.fullmatch(each) if isinstance(each, str) else None for each in texts]
    return None if None in found else [(each[1], each[2]) for each in found if each]


def _targets(
    selected: Sequence[Pattern], routed: Sequence[Pattern], route: Mapping[str, object]
) -> Iterator[str]:
    """Yield the patterns of the names that a route gives the selected tables."""
    for left in selected:
        for right in routed:
            schema, table = map(_both, left, right)
            if schema and table:
                target = (str(route.get(_SCHEMA) or schema), str(route.get(_TABLE) or table))
                yield ".".join(
                    each.replace("{schema}", schema).replace("{table}", table) for each in target
                )


def _both(left: str, right: str) -> str | None:
    """Return the narrower one of two patterns; None if neither is a part of the other."""
    if fnmatchcase(left.lower(), right.lower()):
        return left
    return right if fnmatchcase(right.lower(), left.lower()) else None
