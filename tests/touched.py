"""Run the tests that a change touches: ``python tests/touched.py [PYTEST OPTIONS]``.

A change is everything since the branch left ``main`` (``CDCWIRE_BASE`` names another revision)
and what is not committed. On ``main`` itself it is the last commit. A changed module selects the
tests that mirror its package. A shared package of the codecs also selects each format's wire tests.
The whole suite is ``tox run-parallel``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/test_architecture.py",)
# Source root -> the folder of tests that mirrors the package below it.
MIRRORS = {
    "reference/cdcwire": "tests/reference",
    "generators/cdcwire_generators": "tests/generators",
    "conformance/cdcwire_conformance": "tests/conformance",
    "conformance/cdcwire_evidence": "tests/evidence",
}
# What every format uses: its change is tried on the codecs themselves too.
SHARED = ("core", "model", "mysql", "golang", "connect", "datahub", "storage", "debezium")
CODEC_TESTS = ("tests/reference/formats/*/test_wire.py", "tests/reference/formats/*/test_fast.py")
OTHERS = {
    "golden/": ("tests/conformance/corpus",),
    "docs/": ("tests/docs",),
    "README.md": ("tests/docs",),
}


def changed_files() -> list[str]:
    """Return the paths that a change adds, edits or removes, relative to the checkout."""
    base = os.environ.get("CDCWIRE_BASE") or _git("merge-base", "HEAD", "main") or "HEAD~1"
    head = _git("rev-parse", "HEAD")
    if base == head and not _git("status", "--porcelain"):
        base = "HEAD~1"
    edited = _git("diff", "--name-only", "--no-renames", base).splitlines()
    return sorted({*edited, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def tests_of(changed: Iterable[str]) -> list[str]:
    """Return the test files and folders that changed paths select, each once."""
    chosen = set(ALWAYS)
    for path in changed:
        chosen.update(_tests_of_one(path))
    there = sorted(name for name in chosen if (ROOT / name).exists())
    return [name for name in there if not any(_is_below(name, other) for other in there)]


def _tests_of_one(path: str) -> list[str]:
    if path.startswith("tests/scenarios/"):
        return []
    if path.startswith("tests/"):
        return [path if Path(path).name.startswith("test_") else str(Path(path).parent)]
    for root, tests in MIRRORS.items():
        if path.startswith(f"{root}/"):
            return _mirrors(tests, Path(path).relative_to(root))
    return [name for start, names in OTHERS.items() if path.startswith(start) for name in names]


def _mirrors(tests: str, inner: Path) -> list[str]:
    """Return the nearest folder of tests that mirrors a module, or the file named after it."""
    found = []
    file = f"{tests}/{inner.parent}/test_{inner.stem}.py"
    if (ROOT / file).exists():
        found.append(file)
    folder = next(
        (parent for parent in inner.parents if (ROOT / tests / parent).is_dir()), Path(".")
    )
    if folder == Path("."):
        found += [f"{tests}/{each.name}" for each in (ROOT / tests).glob("test_*.py")]
    else:
        found.append(f"{tests}/{folder}")
    if tests == "tests/reference" and Path(inner.parts[0]).stem in SHARED:
        found += [str(p.relative_to(ROOT)) for each in CODEC_TESTS for p in ROOT.glob(each)]
    return found


def _is_below(name: str, other: str) -> bool:
    return name != other and name.startswith(f"{other}/")


def _git(*words: str) -> str:
    ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.stdout.strip() if ended.returncode == 0 else ""


def main(options: list[str]) -> int:
    """Run pytest on the touched tests. Returns: its exit code."""
    tests = tests_of(changed_files())
    print("touched:", *tests, sep="\n  ", flush=True)
    return subprocess.run([sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
