"""What the suite knows of canal-json."""
