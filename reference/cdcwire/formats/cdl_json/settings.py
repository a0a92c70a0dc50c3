"""The options that the bytes do not show, as values."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.connect.settings import ConnectSettings
from cdcwire.connect.style import Style
from cdcwire.core.options import option, options_of, settings_reader


@dataclass(frozen=True, slots=True)
class Settings(ConnectSettings):
    """The options as values."""

    data_store: str = option(
        "data-store", "POSTGRESQL", "Value of DATA_STORE for events without a connector."
    )

    @property
    def style(self) -> Style:
        """How columns are written."""
        return Style("cdl-1.0", self.name_prefix)


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
