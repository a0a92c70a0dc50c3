"""The judge: a case and an answer to it in, a judgement out. It asks nobody and keeps nothing.

| module | content |
| --- | --- |
| ``cases`` | one judgement per case: accept, reject, encode |
| ``events`` | events against events |
| ``values``, ``temporal``, ``json_values`` | columns |
| ``locate`` | the byte that a difference is about |
| ``difference`` | the difference as people see it |
"""

from cdcwire_conformance.judge.cases import (
    Focus,
    Judgement,
    judge_decoded,
    judge_encoded,
)
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.judge.events import EventRules, compare_events, rules_of

__all__ = [
    "Difference",
    "EventRules",
    "Focus",
    "Judgement",
    "compare_events",
    "judge_decoded",
    "judge_encoded",
    "rules_of",
]
