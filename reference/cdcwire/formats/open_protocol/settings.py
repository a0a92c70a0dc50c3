"""The producer's options that the bytes do not show, as values."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.options import changefeed, option, options_of, settings_reader
from cdcwire.formats.open_protocol.members import Dialect
from cdcwire.mysql.settings import MAX_BATCH_SIZE, LargeMessageSettings


@dataclass(frozen=True, slots=True)
class Settings(LargeMessageSettings):
    """The options as values."""

    max_batch_size: int = option(
        "max-batch-size", 16, "Rows in one message.", settings=MAX_BATCH_SIZE
    )
    output_old_value: bool = option(
        "output-old-value",
        True,
        "Write the old values of an update; without them it looks like an insert.",
        settings=changefeed("sink.open.output-old-value"),
    )
    dialect: Dialect = option("dialect", "tiflow", "Producer whose messages are written.")


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
