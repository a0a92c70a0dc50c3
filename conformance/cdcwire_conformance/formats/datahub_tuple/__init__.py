"""The suite's facts about datahub-tuple."""
