"""The suite's facts about formats that share a structure: Kafka Connect's and DataHub's."""
