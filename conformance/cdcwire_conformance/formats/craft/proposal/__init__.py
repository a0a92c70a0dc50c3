"""The suite's facts about craft-proposal."""
