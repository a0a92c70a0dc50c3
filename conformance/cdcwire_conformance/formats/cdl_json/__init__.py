"""The suite's facts about cdl-json."""
