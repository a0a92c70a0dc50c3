"""The suite's facts about single formats, one package for each."""
