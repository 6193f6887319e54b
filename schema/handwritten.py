"""Finds numbers and lists of the format that are written by hand where the schema has a name for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from schema.description import Schema

# Where Python code knows the format.
PYTHON = ("python/trimtab", "tests", "benchmarks")
# Fields that hold a number of an enumeration, and the names of local variables for them.
_FLAGS = {"flags"}
_COLUMNS = {"kind", "what", "outcome", "level", "clock", "tag"}
_VARIABLES = {"kind", "metric", "tag", "outcome"}
# Functions of tests/python/synthetic.py: which positional arguments and keywords are numbers of an enumeration.
_ARGUMENTS = {
    "event": (1, "kind"),
    "row": (1, "what"),
    "subject": (1, "kind"),
    "decision": (5, "outcome"),
    "file_header": (0, "kind"),
}
# Tables from number to text.
_TABLES_IN = (
    "python/trimtab/analysis",
    "python/trimtab/export",
    "python/trimtab/readers",
    "python/trimtab/traces",
)
# Words one after another, in an array or a union of types.
_WORDS_IN_TYPESCRIPT = re.compile(r'(?:"\w+"\s*[,|]\s*){2,}"\w+"')
_X_IN_CPP = re.compile(r"(?:->|\.)x\[\d\]")


def found_in(root: Path, schema: Schema) -> list[str]:
    """`FILE:LINE: what` for each."""
    found = []
    for folder in PYTHON:
        for path in sorted((root / folder).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            found += [
                f"{name}:{line}: {what}"
                for line, what in sorted(set(in_python(path.read_text(), schema, name)))
            ]
    for path in sorted((root / "viewer/src").glob("*.ts")):
        if path.name not in ("enumerations.ts", "report.ts"):
            name = path.relative_to(root).as_posix()
            found += [f"{name}:{line}: {what}" for line, what in in_typescript(path.read_text(), schema)]
    for path in sorted((root / "rooms").rglob("*.?pp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for what in in_cpp(line, schema, is_source="src" in path.parts):
                found.append(f"{path.relative_to(root).as_posix()}:{number}: {what}")
    return found


def in_cpp(line: str, schema: Schema, is_source: bool) -> Iterator[str]:
    """What is written by hand in a line; tests may say what they expect."""
    if _X_IN_CPP.search(line):
        yield "a field of x by its number"
    if is_source and any(f'"{phrase}"' in line for phrase in phrases(schema)):
        yield "a text that readers recognize"


def _is_phrase(node: ast.Constant, name: str, schema: Schema) -> bool:
    """Reasons of decisions are among the words that Python has for other things."""
    if not name.startswith("python/") or name.endswith("model/enumerations.py"):
        return False
    reasons = {value.label for value in schema.by_name["decision_reason"].values}
    return node.value in phrases(schema) - reasons


def phrases(schema: Schema) -> set[str]:
    """The texts of enumerations that are recognized by their text; single words have other meanings, too."""
    labels = {
        value.word
        for enumeration in schema.enumerations
        if enumeration.is_text
        for value in enumeration.values
    }
    return {label for label in labels if " " in label}


def in_typescript(source: str, schema: Schema) -> Iterator[tuple[int, str]]:
    """Line and what is written by hand there: three words or more of an enumeration in a row."""
    lists = [
        {value.name for value in enumeration.values}
        for enumeration in schema.enumerations
        if enumeration.typescript
    ]
    for match in _WORDS_IN_TYPESCRIPT.finditer(source):
        words = set(re.findall(r'"(\w+)"', match[0]))
        if any(len(words & each) > 2 for each in lists):
            yield source.count("\n", 0, match.start()) + 1, "the words of an enumeration"


def in_python(source: str, schema: Schema, name: str = "") -> Iterator[tuple[int, str]]:
    """Line and what is written by hand there."""
    words = {value.name for value in schema.by_name["event_kind"].values if "_" in value.name}
    tree = ast.parse(source)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _is_named(statement, words):
            yield statement.lineno, "a constant that is a number of an enumeration"
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and _is_field_of_x(node):
            yield node.lineno, "a field of x by its number"
        elif isinstance(node, ast.Compare) and _is_compared(node):
            yield node.lineno, "a comparison with a number of an enumeration"
        elif isinstance(node, ast.Call) and _is_passed(node):
            yield node.lineno, "a number of an enumeration as an argument"
        elif isinstance(node, ast.Constant) and _is_phrase(node, name, schema):
            yield node.lineno, "a text that is recognized"
        elif isinstance(node, ast.Dict) and name.startswith(_TABLES_IN) and _is_table(node):
            yield node.lineno, "a table of numbers of an enumeration"


def _is_int(node: ast.AST, least: int = 0) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= least


def _has_int(node: ast.AST, least: int = 0) -> bool:
    """An integer from `least` on, one among several, or one of two by a condition."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(_has_int(element, least) for element in node.elts)
    if isinstance(node, ast.IfExp):
        return _has_int(node.body, least) or _has_int(node.orelse, least)
    return _is_int(node, least)


def _is_field_of_x(node: ast.Subscript) -> bool:
    """`row["x"][2]`, `rows["x"][mask][:, 2]`, `row.x[2]`, `row.x[:2]`."""
    last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    bounds = [last.lower, last.upper] if isinstance(last, ast.Slice) else [last]
    if not any(bound is not None and _is_int(bound) for bound in bounds):
        return False
    below = node.value
    while isinstance(below, ast.Subscript):
        if isinstance(below.slice, ast.Constant) and below.slice.value == "x":
            return True
        below = below.value
    return isinstance(below, ast.Attribute) and below.attr == "x"


def _is_of_enumeration(node: ast.AST) -> bool:
    """`events["kind"]`, with indices behind it or not, or a variable that is called so."""
    return node.id in _VARIABLES if isinstance(node, ast.Name) else _is_column(node, _COLUMNS)


def _is_column(node: ast.AST, names: set[str]) -> bool:
    while isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and node.slice.value in names:
            return True
        node = node.value
    return False


def _is_compared(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    if all(isinstance(side, ast.Tuple) for side in sides):
        pairs = zip(*(side.elts for side in sides if isinstance(side, ast.Tuple)), strict=False)
        return any(_are_compared(pair) for pair in pairs)
    return _are_compared(sides)


def _are_compared(sides: Sequence[ast.expr]) -> bool:
    if any(_is_of_enumeration(side) for side in sides):
        return any(_has_int(side) for side in sides)
    # Flags are combined, and 0 is none of them.
    return any(_is_column(side, _FLAGS) for side in sides) and any(_has_int(side, 1) for side in sides)


def _is_named(node: ast.Assign, words: set[str]) -> bool:
    targets = [
        name
        for target in node.targets
        for name in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    named = [
        target for target in targets if isinstance(target, ast.Name) and target.id.strip("_").lower() in words
    ]
    return bool(named) and _has_int(node.value)


def _is_passed(node: ast.Call) -> bool:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called == "isin" and len(node.args) == 2:
        return _is_of_enumeration(node.args[0]) and _has_int(node.args[1])
    place, keyword = _ARGUMENTS.get(called, (len(node.args), ""))
    given = [*node.args[place : place + 1], *(each.value for each in node.keywords if each.arg == keyword)]
    return any(_has_int(each) for each in given)


def _is_table(node: ast.Dict) -> bool:
    return len(node.keys) > 1 and all(key is not None and _is_int(key) for key in node.keys)
