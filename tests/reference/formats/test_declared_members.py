"""JSON formats whose messages declare their members have no second table of the names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cdcwire.formats

FORMATS = Path(cdcwire.formats.__file__).parent
DECLARED = ("canal_json", "maxwell_json", "open_protocol", "simple")
# Patterns of whole messages, and what a format tells people.
OTHER_USES = ("fast.py", "fast_encoder.py", "format.py", "row_patterns.py")
MOST = 3  # names that one rule may name together


def members(tree: ast.Module) -> list[str]:
    """Return the names of the members that fields declare."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            call, field = node.value, node.target
            if isinstance(call.func, ast.Name) and call.func.id == "member":
                names = [each.value for each in call.keywords if each.arg == "name"]
                assert isinstance(field, ast.Name)
                found.append(ast.literal_eval(names[0]) if names else field.id)
    return found


def tables(tree: ast.Module, known: set[str]) -> list[list[str]]:
    """Return the names in each literal that has names of members only, and more than a few."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            parts = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [each for each in node.keys if each is not None]
        else:
            continue
        names = [str(each.value) for each in parts if isinstance(each, ast.Constant)]
        if len(names) > MOST and known.issuperset(names):
            found.append(names)
    return found


@pytest.mark.parametrize("name", DECLARED)
def test_names_of_members_are_in_no_other_table(name: str) -> None:
    trees = {path: ast.parse(path.read_text()) for path in sorted((FORMATS / name).glob("*.py"))}
    declaring = {path for path, tree in trees.items() if members(tree)}
    known = {name for path in declaring for name in members(trees[path])}
    assert len(known) > 10
    beside = {
        path.name: found
        for path, tree in trees.items()
        if path not in declaring and path.name not in OTHER_USES
        if (found := tables(tree, known))
    }
    assert beside == {}


def test_a_table_of_names_is_found() -> None:
    tree = ast.parse("CLAUSES = {'ts': A, 'scm': A, 'tbl': A, 't': B}\nSOME = ('ts', 't')")
    known = {"ts", "scm", "tbl", "t", "ohk"}
    assert tables(tree, known) == [["ts", "scm", "tbl", "t"]]


def test_names_are_those_of_fields_or_given() -> None:
    tree = ast.parse("class A:\n    b: int = member(X)\n    c: int = member(X, name='d')")
    assert members(tree) == ["b", "d"]
