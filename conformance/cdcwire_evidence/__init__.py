"""Programs that produce the evidence in REPORT.md. They are tested, but not part of the wheel."""
