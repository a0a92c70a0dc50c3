"""REPORT.md: measured results only, with the commands that gave them and what was not run."""
