"""The configuration that users already have, as a format and its options.

``read_ticdc`` reads a changefeed's file and its sink URI, ``read_connector`` the JSON of a Kafka
Connect connector. ``Configuration.options_for`` gives the options of a format. The formats declare
the meaning of settings. This package reads the files, and knows the settings that no message
depends on. It drops the values of all settings that give no option, and so all passwords.
"""

from cdcwire.configuration.connector import read_connector
from cdcwire.configuration.found import Configuration, ConfigurationError
from cdcwire.configuration.ticdc import read_ticdc

__all__ = ["Configuration", "ConfigurationError", "read_connector", "read_ticdc"]
