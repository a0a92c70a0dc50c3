"""CDL's two formats into each other: message_version 1.0 and 2.0."""

from cdcwire.cdl.mapping import Invented, Loss, Mapped, to_version_1, to_version_2, version_of

__all__ = ["Invented", "Loss", "Mapped", "to_version_1", "to_version_2", "version_of"]
