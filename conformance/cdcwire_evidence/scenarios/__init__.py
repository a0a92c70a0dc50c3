"""Scenarios: feeds through real brokers and buckets, and what happens when these fail.

``services`` says where the services are: given by the environment, or ``containers`` starts them;
``topics`` sends messages through a topic and reads them back; ``ledger`` counts what was sent,
received, repeated and lost, and keeps the stories for the report.
"""
