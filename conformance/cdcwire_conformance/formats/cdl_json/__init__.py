"""What the suite knows of cdl-json."""
