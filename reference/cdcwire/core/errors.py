"""The errors of every codec.

``DecodeError`` speaks of bytes, ``EncodeError`` of values. Both know the path to the value,
outermost step first, and the clause of the format's page that is broken. The leaf raises; each
container prepends its own step and re-raises the same error (``with step(...)``).
"""

from __future__ import annotations

from cdcwire.model.events import Path, Step, path_text


class DecodeError(ValueError):
    """The bytes break the format.

    ``offset`` is the byte where reading stopped, counted from 0 in the whole key, value or file.
    ``path`` leads to the value being read, outermost step first.
    ``clause`` names the clause that the bytes contradict.

    Examples:
        >>> from cdcwire import craft
        >>> try:
        ...     craft.decode(bytes.fromhex("0203"))
        ... except DecodeError as error:
        ...     print(error.offset, error.clause)
        0 craft: version

    """

    def __init__(self, problem: str, offset: int, clause: str, path: Path = ()) -> None:
        super().__init__(problem, offset, clause, path)
        self.problem = problem
        self.offset = offset
        self.clause = clause
        self.path = path

    def add(self, hint: str) -> None:
        """Add to the problem what its cause may be."""
        self.problem = f"{self.problem}{hint}"

    def __reduce__(self) -> tuple[object, ...]:  # crosses process borders with its path
        return type(self), (self.problem, self.offset, self.clause, self.path)

    def __str__(self) -> str:
        where = path_text(self.path) or "message"
        return f"byte {self.offset}: {self.problem} (in {where}; {self.clause})"

    def outside(self, offset: int, inner: str) -> DecodeError:
        """Return the error seen from the bytes around ``inner``, which begins at ``offset``."""
        problem = f"{self.problem} (byte {self.offset} of the {inner})"
        return type(self)(problem, offset, self.clause, self.path)


class TruncatedError(DecodeError):
    """The bytes end before the value does."""


class EncodeError(ValueError):
    """The format can't carry the value, or not under these settings.

    ``path`` leads to the value, outermost step first; ``clause`` names the clause that forbids it.

    Examples:
        >>> from cdcwire import craft
        >>> try:
        ...     craft.encode(craft.Message(()))
        ... except EncodeError as error:
        ...     print(error.clause)
        craft: message

    """

    def __init__(self, problem: str, clause: str, path: Path = ()) -> None:
        super().__init__(problem, clause, path)
        self.problem = problem
        self.clause = clause
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problem, self.clause, self.path)

    def __str__(self) -> str:
        where = path_text(self.path) or "event"
        return f"{self.problem} (in {where}; {self.clause})"


class step:
    """Prepend ``steps`` to the path of an error that leaves the ``with`` block."""

    __slots__ = ("_steps",)

    def __init__(self, *steps: Step) -> None:
        self._steps = steps

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (DecodeError, EncodeError)):
            error.path = (*self._steps, *error.path)
