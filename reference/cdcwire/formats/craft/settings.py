"""The producer's settings that the bytes do not show, shared by both Craft formats."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.options import option, options_of, settings_reader
from cdcwire.mysql.settings import MAX_BATCH_SIZE, QueueSettings


@dataclass(frozen=True, slots=True)
class Settings(QueueSettings):
    """The options as values."""

    max_batch_size: int = option(
        "max-batch-size", 16, "Rows in one message.", settings=MAX_BATCH_SIZE
    )


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
