"""What the suite knows of formats that share a structure: Kafka Connect's and DataHub's."""
