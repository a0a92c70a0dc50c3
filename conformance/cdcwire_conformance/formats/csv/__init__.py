"""What the suite knows of csv."""
