"""What the suite knows of craft."""
