"""A real schema registry for the scenarios."""
