"""The suite's facts about datahub-blob."""
