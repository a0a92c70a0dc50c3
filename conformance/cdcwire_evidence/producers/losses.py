"""Facts of the workload that a producer does not send, or that differ from those of others.

A loss that no pair of captures shows any more is an error of the scenario.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """A difference of two captures: a table and, unless it concerns whole rows, a column.

    ``cause``: as a comparison names it; ``table``: only one side has it; ``type``: the types of the
    columns have no common kind.
    """

    table: str
    column: str
    cause: str


@dataclass(frozen=True, slots=True)
class Loss:
    """A reason for differences. All but ``reason`` are regular expressions for whole names."""

    captures: str
    tables: str
    columns: str
    causes: str
    reason: str

    def explains(self, capture: str, difference: Difference) -> bool:
        """Return whether a capture has this loss, and the difference comes from it."""
        pairs = (
            (self.captures, capture),
            (self.tables, difference.table.removeprefix("shop.")),
            (self.columns, difference.column),
            (self.causes, difference.cause),
        )
        return all(re.fullmatch(pattern, name) for pattern, name in pairs)


_DEBEZIUM = "(?:mariadb|mysql).*"
_MAXWELL = "maxwell.*"
_TEXT = ".*_text .*"
_DOUBLE = ".*_double .*"
LOSSES: tuple[Loss, ...] = (
    Loss(".* avro", "Odd Name-1", "", "table", "the converter refuses a name with a dash"),
    Loss(
        *(r".*_(?:text|iso) .*", "durations", "", "table"),
        "a TIME beyond a day stops the engine, which leaves the table out",
    ),
    Loss(
        *(_TEXT, "kinds|zeros", "c_time_6|c_datetime_6|dt6", "time-cut"),
        "times of mode connect are in milliseconds",
    ),
    Loss(_TEXT, "odd_keys", "", "row", "a TIME(6) of a key is in milliseconds"),
    Loss(
        *(_DOUBLE, "changes|defaults|kinds|made|odd_keys|renamed", "n|p|k|c_decimal.*", "type"),
        "a decimal is a float",
    ),
    Loss(
        *(rf"(?!{_TEXT}){_DEBEZIUM}", "changed", "n", "unsigned"),
        "a BIGINT UNSIGNED wraps, and no definition has the column, which was dropped",
    ),
    Loss(
        *(".*_text bare", "changed", "n", "value"),
        "without schema and definition a decimal is a text of base64",
    ),
    Loss(
        *(_DEBEZIUM, "defaults|renamed", "v|n|b|dt|p", "null-value"),
        "Kafka Connect gives the column's default in place of NULL",
    ),
    Loss(
        "mysql_19 .*",
        "durations",
        "t3",
        "value",
        "a TIME of -00:00:00.001 has no sign in a snapshot",
    ),
    Loss(
        *(".*", "kinds", "c_float", "value"),
        "a snapshot reads the text of a FLOAT, which has six digits",
    ),
    Loss(_DEBEZIUM, "zeros", "d|dt|dt6", "null-empty", "a zero date is NULL"),
    Loss(_DEBEZIUM, "zeros", "dt6", "value", "the year 0001 is taken for 2001"),
    Loss(_DEBEZIUM, "zeros", "dt", "value", "1582-10-10 is 1582-10-20 in a snapshot"),
    Loss(".*", "zeros", "y", "value", "a YEAR of 0 is 1900"),
    Loss(_DEBEZIUM, "shapes", "g|p|l", "type", "a shape is a struct"),
    Loss(
        *(r"(?:mariadb|mysql_19).*", "zeros", "ts", "value|null-value"),
        "a zero TIMESTAMP is 1970 before 3.6",
    ),
    Loss(
        *(_DEBEZIUM, "zeros", "ts", "null-empty"),
        "a zero TIMESTAMP is NULL, before 3.6 in a snapshot only",
    ),
    Loss(
        *(r"(?:mariadb|mysql_19).*", "zeros", "n", "value"),
        "a zero TIMESTAMP NOT NULL is 1970 before 3.6",
    ),
    Loss(
        *("mysql_36.*", "zeros", "n", "value"),
        "a zero TIMESTAMP NOT NULL is the column's default since 3.6",
    ),
    Loss(
        *(_MAXWELL, "bits|zeros|durations|Odd Name-1", "", "row"),
        "a bootstrap does not read the table, or wrongly",
    ),
    Loss(
        *(_MAXWELL, "durations", "t|t3|t6", "value|time-shift"),
        "a TIME is a time of day",
    ),
    Loss(_MAXWELL, "emptied", "", "row", "a TRUNCATE is not sent"),
    Loss(_MAXWELL, "odd_keys", "", "row", "a TIME(6) of a key is in seconds"),
    Loss(_MAXWELL, "kinds", "c_binary", "zero-bytes", "BINARY loses zeros at its end"),
    Loss(
        *(_MAXWELL, "kinds|zeros", "c_(?:time|datetime|timestamp)_.*|dt6", "time-cut"),
        "fractions of seconds are cut, if the table was created before Maxwell was started",
    ),
    Loss(_MAXWELL, "shapes", "g|p|l", "type|value", "a shape is a text"),
    Loss(
        *(_MAXWELL, "zeros", "dt", "value"),
        "1582-10-10 is moved to 1582-10-20",
    ),
    Loss(_MAXWELL, "zeros", "e", "null-empty", "an invalid value of an ENUM is NULL"),
)
