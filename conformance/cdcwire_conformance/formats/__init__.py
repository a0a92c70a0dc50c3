"""What the suite knows of single formats, one package each."""
