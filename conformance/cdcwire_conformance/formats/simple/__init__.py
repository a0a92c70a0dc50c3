"""The suite's facts about simple."""
