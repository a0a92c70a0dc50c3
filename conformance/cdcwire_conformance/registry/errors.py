"""The one error of this package: a source of schemas that can't give or take one."""

from __future__ import annotations


class RegistryError(Exception):
    """A registry or a folder of schemas failed. The text is one line: where, what, what to do.

    ``status``: of the HTTP answer, if there was one. ``code``: the registry's own number of the
    error. ``where`` never has user or password in it.
    """

    def __init__(
        self,
        what: str,
        where: str,
        advice: str = "",
        status: int | None = None,
        code: int | None = None,
    ) -> None:
        super().__init__(what, where, advice, status, code)
        self.what = what
        self.where = where
        self.advice = advice
        self.status = status
        self.code = code

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        return " ".join((f"{text}; {self.advice}" if self.advice else text).split())
