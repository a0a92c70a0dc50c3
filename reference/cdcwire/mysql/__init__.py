"""What the formats of the MySQL family share: type codes, column flags, DDL codes, value forms."""
