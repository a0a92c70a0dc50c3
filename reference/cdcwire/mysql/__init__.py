"""The shared parts of the MySQL formats: type codes, column flags, DDL codes, value forms."""
