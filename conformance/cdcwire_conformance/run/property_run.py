"""The facts about the generated messages of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PropertyRun:
    """How the messages of a run were generated.

    ``examples``: the limit per format and direction. ``seed``: the same seed gives the same
    messages. ``asked``: how many different ones the testee was asked. ``kinds``: of failure.
    ``shrinks``: how many times a smaller message of a kind was found. ``saved``: the files of the
    golden cases that the run wrote.
    """

    examples: int
    seed: int
    asked: int = 0
    kinds: int = 0
    shrinks: int = 0
    saved: tuple[str, ...] = ()
