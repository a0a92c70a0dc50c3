"""The suite's facts about canal-json."""
