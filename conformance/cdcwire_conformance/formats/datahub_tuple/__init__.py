"""What the suite knows of datahub-tuple."""
