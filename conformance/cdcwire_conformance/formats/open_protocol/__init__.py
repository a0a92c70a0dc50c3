"""What the suite knows of open-protocol."""
