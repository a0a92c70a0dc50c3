"""The rules of docs/architecture.md, held on the import graph and on the source.

``architecture_allowed.txt`` lists the places that still break a rule, a line for each file:
rule, path, count. It only shrinks: a file that breaks a rule less often than listed fails too.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from cdcwire.registry import FORMAT_NAMES, package_of

ROOT = Path(__file__).resolve().parents[1]
ALLOWED_FILE = Path(__file__).with_name("architecture_allowed.txt")
REGISTRY = "cdcwire.registry"
MOST_PARAMETERS = 6

# Package -> its source root, and the packages that it may import beside the standard library.
PACKAGES = {
    "cdcwire": ("reference", {"cdcwire"}),
    "cdcwire_generators": ("generators", {"cdcwire", "cdcwire_generators", "hypothesis"}),
    "cdcwire_conformance": (
        "conformance",
        {
            *("cdcwire", "cdcwire_generators", "cdcwire_conformance"),
            *("hypothesis", "jsonschema", "referencing", "pytest", "_pytest"),
            *("cramjam", "fsspec", "matplotlib", "numpy", "pandas", "pyarrow", "pyspark", "py4j"),
            *("sqlglot", "urllib3"),
        },
    ),
    "cdcwire_evidence": (
        "conformance",
        {
            *("cdcwire", "cdcwire_generators", "cdcwire_conformance", "cdcwire_evidence"),
            *("boto3", "botocore", "confluent_kafka", "docker", "fsspec", "hypothesis", "javaobj"),
            "kafka",
            *("numpy", "psutil", "pyarrow", "pyspark", "py4j", "s3fs", "testcontainers"),
            *("cramjam", "jsonschema", "referencing", "urllib3", "pytest"),
        },
    ),
}
# Rule (c): the codecs need the standard library only. Arrow batches need the extra `arrow`.
ARROW = ("cdcwire.arrow", {"numpy", "pyarrow"})
COMPRESSIONS = ("cdcwire.compressions", {"cramjam"})
# They read files, registries and arguments. All other modules of cdcwire do no input or output.
READERS = (
    *("cdcwire.console", "cdcwire.files", "cdcwire.ddl", "cdcwire.schema_registry"),
    *("cdcwire.identify", "cdcwire.configuration", "cdcwire.cli", "cdcwire.__main__"),
)
CODEC_CALLS = {"open", "input", "print", "exec", "eval", "compile"}
CODEC_MODULES = {
    *("socket", "os", "pathlib", "time", "random", "subprocess", "io", "urllib", "tempfile"),
}
# Rule (d): each imports only those before it. Those of one tuple do not import each other.
REFERENCE_LAYERS = (
    ("cdcwire.model",),
    ("cdcwire.core",),
    ("cdcwire.golang",),
    ("cdcwire.mysql", "cdcwire.apache_avro"),
    ("cdcwire.connect", "cdcwire.datahub", "cdcwire.storage"),
    ("cdcwire.debezium",),
    ("cdcwire.format",),
    ("cdcwire.formats",),
    ("cdcwire.registry", "cdcwire.arrow", "cdcwire.extras"),
    ("cdcwire.changes", "cdcwire.clock_changes", "cdcwire.compressions", "cdcwire.console"),
    ("cdcwire.files",),
    ("cdcwire.ddl", "cdcwire.schema_registry"),
    ("cdcwire.identify",),
    ("cdcwire.configuration",),
    ("cdcwire.arguments",),
    ("cdcwire.decoder",),
    ("cdcwire.encoder", "cdcwire.feed", "cdcwire.kafka"),
    ("cdcwire.cli",),
    ("cdcwire.__main__",),
)
LAYERS = (
    "cdcwire_conformance.sources",
    "cdcwire_conformance.decode",
    "cdcwire_conformance.compare",
    "cdcwire_conformance.spark.reading",
    "cdcwire_conformance.spark.compare",
    "cdcwire_conformance.spark.follow",
    "cdcwire_conformance.cli",
)
# They begin the program, so they may import the last layer.
ENTRANCES = ("cdcwire_conformance.__main__", "cdcwire_conformance.notebook")
COMMAND = "cdcwire.cli"  # above all that the package exports, so it may import the package itself
# Rule (b): what a format's codec may import of cdcwire, its own package aside.
SHARED = (
    *("core", "model", "golang", "mysql", "apache_avro", "connect", "datahub", "storage"),
    *("debezium", "format"),
)


@cache
def _modules() -> dict[str, Path]:
    """Return the path of every module, by its dotted name."""
    found = {}
    for package, (root, _) in PACKAGES.items():
        for file in sorted((ROOT / root / package).rglob("*.py")):
            parts = file.relative_to(ROOT / root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def _nodes(module: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(_modules()[module].read_text(encoding="utf-8"))))


def _path(module: str) -> str:
    return str(_modules()[module].relative_to(ROOT))


def _import_nodes(module: str) -> Iterator[str]:
    """Yield the modules that a module imports, also for type checkers only."""
    for node in _nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in _modules() else str(node.module)


@cache
def _imports(module: str) -> tuple[str, ...]:
    return tuple(_import_nodes(module))


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _format_folder(module: str) -> str | None:
    """Return the name of the format's folder that a module is in: ``craft``, or None."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 and parts[1] == "formats" else None


SPELLINGS = frozenset(FORMAT_NAMES) | {package_of(name) for name in FORMAT_NAMES}


def _docstrings(module: str) -> set[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        id(node.body[0].value)
        for node in _nodes(module)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }


def _format_names_spelled(module: str) -> int:
    """Count where a module outside a format's own folders names a format: rule (a)."""
    is_own = _format_folder(module) is not None
    if is_own or module == REGISTRY or module.startswith("cdcwire_evidence"):
        return 0
    left_out = _docstrings(module)
    texts = sum(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in SPELLINGS
        and id(node) not in left_out
        for node in _nodes(module)
    )
    imports = sum(_format_folder(imported) is not None for imported in _imports(module))
    return texts + imports


def _foreign_imports_of_format(module: str) -> int:
    """Count what a format imports that is not its own, shared or core: rule (b)."""
    own = _format_folder(module)
    if own is None:
        return 0
    if module.startswith("cdcwire."):
        allowed = (f"cdcwire.formats.{own}", *(f"cdcwire.{name}" for name in SHARED))
        return sum(
            imported.startswith("cdcwire") and not any(_is_in(imported, name) for name in allowed)
            for imported in _imports(module)
        )
    return sum(_format_folder(imported) not in (None, own) for imported in _imports(module))


def _imports_upwards(module: str) -> int:
    """Count imports against the direction of the codecs' layers: rule (d)."""
    mine = [
        (depth, package)
        for depth, layer in enumerate(REFERENCE_LAYERS)
        for package in layer
        if _is_in(module, package)
    ]
    if not mine:
        return 0
    [(depth, own)] = mine
    forbidden = [package for layer in REFERENCE_LAYERS[depth:] for package in layer]
    forbidden.remove(own)
    return sum(
        (imported == "cdcwire" and own != COMMAND)
        or any(_is_in(imported, package) for package in forbidden)
        for imported in _imports(module)
    )


def _imports_of_later_layers(module: str) -> int:
    """Count imports against the direction of the suite's layers: rule (d)."""
    mine = [index for index, layer in enumerate(LAYERS) if _is_in(module, layer)]
    first_forbidden = mine[0] + 1 if mine else len(LAYERS) - 1
    is_entrance = any(_is_in(module, each) for each in ENTRANCES)
    if is_entrance or not module.startswith("cdcwire_conf"):
        return 0
    return sum(
        any(_is_in(imported, layer) for layer in LAYERS[first_forbidden:])
        for imported in _imports(module)
    )


def _imports_of_spark(module: str) -> int:
    """Count imports of Spark by what reads, decodes or compares without it: rule (d)."""
    without = LAYERS[: LAYERS.index("cdcwire_conformance.spark.reading")]
    is_without = any(_is_in(module, layer) for layer in without)
    spark = ("pyspark", "py4j", "cdcwire_conformance.spark")
    return sum(
        is_without and any(_is_in(imported, each) for each in spark)
        for imported in _imports(module)
    )


def _called(module: str) -> set[str]:
    return {
        node.func.id
        for node in _nodes(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _generates_code(module: str) -> int:
    """Return 1 for a module outside the engine that calls ``exec`` or ``compile``: rule (e)."""
    is_engine = _is_in(module, "cdcwire.core.compiled")
    return int(not is_engine and bool(_called(module) & {"exec", "compile"}))


def _imports_of_evidence(module: str) -> int:
    """Count imports of ``cdcwire_evidence``, which nothing that ships needs: rule (c)."""
    if _is_in(module, "cdcwire_evidence"):
        return 0
    return sum(_is_in(imported, "cdcwire_evidence") for imported in _imports(module))


def _replaces_private_functions(module: str) -> int:
    """Return 1 for a module that imports ``unittest.mock``: known-wrong decoders take seams."""
    return int(any(_is_in(imported, "unittest") for imported in _imports(module)))


def _is_english(node: ast.AST) -> bool:
    """Return whether a node is the text of an error or of a span, which is for people."""
    if not isinstance(node, ast.Attribute):
        return False
    is_of_span = isinstance(node.value, ast.Name) and node.value.id == "span"
    return node.attr in ("problem", "note", "detail") or (node.attr == "text" and is_of_span)


def _decides_on(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what an expression looks into: both sides of ``in`` and ``==``, texts of patterns."""
    if isinstance(node, ast.Compare):
        is_plain = all(
            isinstance(each, ast.Constant) and not each.value for each in node.comparators
        )
        yield from () if is_plain else (node.left, *node.comparators)
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("search", "match", "fullmatch", "findall", "finditer"):
            yield from node.args
        elif node.func.attr in ("startswith", "endswith", "find", "partition", "split"):
            yield node.func.value


def _reads_english(module: str) -> int:
    """Count decisions on the texts of errors and spans: rule (e).

    Third-party programs give nothing but texts, so the evidence may read those.
    """
    if _is_in(module, "cdcwire_evidence"):
        return 0
    return sum(_is_english(read) for node in _nodes(module) for read in _decides_on(node))


def _takes_many(node: ast.AST) -> bool:
    """Return whether a function takes more parameters than a reader of a call can keep apart.

    Options that a call names and may leave out do not count, nor does ``self``.
    """
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    given = node.args
    by_place = [each.arg for each in (*given.posonlyargs, *given.args)]
    own = sum(name in ("self", "cls") for name in by_place[:1])
    return len(by_place) - own + given.kw_defaults.count(None) > MOST_PARAMETERS


def _functions_of_many_parameters(module: str) -> int:
    """Count functions that should take a value with named fields instead."""
    return sum(map(_takes_many, _nodes(module)))


RULES = {
    "texts": _reads_english,
    "format-name": _format_names_spelled,
    "format-imports": _foreign_imports_of_format,
    "layers": _imports_of_later_layers,
    "upwards": _imports_upwards,
    "spark": _imports_of_spark,
    "exec": _generates_code,
    "evidence": _imports_of_evidence,
    "mock": _replaces_private_functions,
    "parameters": _functions_of_many_parameters,
}


def _broken() -> Counter[tuple[str, str]]:
    counts = Counter[tuple[str, str]]()
    for module in _modules():
        for rule, count_in in RULES.items():
            counts[rule, _path(module)] += count_in(module)
    return +counts


def _allowed() -> Counter[tuple[str, str]]:
    counts = Counter[tuple[str, str]]()
    for line in ALLOWED_FILE.read_text(encoding="utf-8").splitlines():
        rule, path, count = line.split()
        counts[rule, path] = int(count)
    return counts


def test_rules_are_broken_only_where_the_list_allows_it() -> None:
    assert _broken() == _allowed()


def test_modules_import_only_what_their_package_may() -> None:
    def foreign(module: str) -> set[str]:
        imported = {name.partition(".")[0] for name in _imports(module)} - {"cdcwire_evidence"}
        extras = {
            name for own, names in (ARROW, COMPRESSIONS) if _is_in(module, own) for name in names
        }
        allowed = {*PACKAGES[module.partition(".")[0]][1], *extras}
        return imported - {*sys.stdlib_module_names, *allowed}

    assert {module: names for module in _modules() if (names := foreign(module))} == {}


def test_codec_modules_do_no_input_or_output() -> None:
    def forbidden(module: str) -> set[str]:
        imported = {name.partition(".")[0] for name in _imports(module)} & CODEC_MODULES
        return imported | _called(module) & (CODEC_CALLS - {"exec", "compile"})

    def is_codec(module: str) -> bool:
        return _is_in(module, "cdcwire") and not any(_is_in(module, each) for each in READERS)

    codecs = filter(is_codec, _modules())
    assert {module: names for module in codecs if (names := forbidden(module))} == {}


def test_modules_are_readable_in_one_sitting() -> None:
    lines = {
        module: file.read_text(encoding="utf-8").count("\n") for module, file in _modules().items()
    }
    assert {module: count for module, count in lines.items() if count > 500} == {}


def _circles() -> list[list[str]]:
    """Return the circles of imports, each as the modules along it (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for imported in _imports(module):
            if imported not in _modules():
                continue
            if imported not in index:
                visit(imported)
                low[module] = min(low[module], low[imported])
            elif imported in stack:
                low[module] = min(low[module], index[imported])
        if low[module] == index[module]:
            circle = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for module in _modules():
        if module not in index:
            visit(module)
    return circles


def test_no_modules_import_each_other() -> None:
    allowed = {
        tuple(line.split())
        for line in ALLOWED_FILE.with_name("architecture_circles.txt").read_text().splitlines()
    }
    assert {tuple(circle) for circle in _circles()} == allowed


def test_every_package_of_the_codecs_has_a_layer() -> None:
    packages = {".".join(module.split(".")[:2]) for module in _modules() if "." in module}
    layered = {package for layer in REFERENCE_LAYERS for package in layer}
    assert layered == {each for each in packages if each.startswith("cdcwire.")}


def test_layers_are_listed_from_first_to_last() -> None:
    for earlier, later in pairwise(LAYERS):
        assert any(_is_in(module, earlier) for module in _modules()), earlier
        assert earlier != later
