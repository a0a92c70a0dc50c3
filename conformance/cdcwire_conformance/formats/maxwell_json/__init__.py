"""The suite's facts about maxwell-json."""
