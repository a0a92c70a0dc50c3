"""The suite's facts about open-protocol."""
