"""The suite's facts about csv."""
