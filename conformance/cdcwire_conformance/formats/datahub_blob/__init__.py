"""What the suite knows of datahub-blob."""
