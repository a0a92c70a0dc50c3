"""What the suite knows of maxwell-json."""
