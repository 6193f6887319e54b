"""Declared names that consist of function words only ("of", "each", "told", "is_it") say nothing of what they hold.

    python lint/names.py                         counts them in C++ and Python, lists the commonest, fails above the limit
    python lint/names.py --all --only rooms/base   each place, in some folders only

See CONTRIBUTING.md. C++ declarations come from universal-ctags, Python's from its own parser.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Share of all declared names, in percent. The aim is 3: a limit may only fall.
LIMIT_PERCENT = {"C++": 3.0, "Python": 3.0}
MOST_SHOWN = 40

# Articles, pronouns, prepositions, conjunctions, auxiliaries and adverbs without content; verbs that only point at what somebody
# else did ("told", "made", "known").
FUNCTION_WORDS = frozenset((Path(__file__).parent / "function_words.txt").read_text(encoding="utf-8").split())
# Function words to which C++, Python or everyday use gives a meaning: clocks have a `now`, copies an `other`, intervals a `from` and
# a `to`, measurements a `before` and an `after`, containers an `at`.
ACCEPTED = frozenset(
    [
        "__all__",
        "after",
        "all",
        "all_of",
        "any_of",
        "at",
        "before",
        "down",
        "even",
        "for_each",
        "from",
        "get",
        "in",
        "none",
        "none_of",
        "now",
        "other",
        "others",
        "out",
        "to",
        "until",
        "up",
    ]
)
# Operators, loop counters and coordinates are no words; iterators' "begin" and "end" are the language's.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CPP_KINDS = frozenset(
    (
        "parameter",
        "local",
        "member",
        "variable",
        "function",
        "prototype",
        "struct",
        "class",
        "enum",
        "enumerator",
        "alias",
        "typedef",
    )
)


def words_of(name: str) -> list[str]:
    """The words of a name in snake or camel case, without a leading `m_`, `t_`, `k_`."""
    return [word.lower() for word in _WORD.findall(re.sub(r"^[mtk]_", "", name)) if not word.isdigit()]


def is_empty_name(name: str) -> bool:
    """All of its words are function words; single letters are left out."""
    words = words_of(name)
    return (
        name not in ACCEPTED
        and bool(words)
        and len(name.strip("_")) > 1
        and all(word in FUNCTION_WORDS for word in words)
    )


def cpp_names(files: list[str]) -> Iterator[tuple[str, str]]:
    """Each declared name with its place.

    Raises:
        FileNotFoundError: universal-ctags is not installed.
    """
    command = [
        "ctags",
        "--quiet",
        "--languages=C++",
        "--langmap=C++:.cpp.hpp",
        "--kinds-C++=*",
        "--fields=+Kn",
        "-f",
        "-",
    ]
    tags = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line in tags.splitlines():
        name, file, *rest = line.split("\t")
        kind = next((field for field in rest if field in _CPP_KINDS), None)
        number = next((field[5:] for field in rest if field.startswith("line:")), "?")
        if kind is not None and re.fullmatch(r"\w+", name):
            yield name, f"{file}:{number}"


def python_names(files: list[str]) -> Iterator[tuple[str, str]]:
    """Each declared name with its place: functions, classes, parameters, and what is bound."""
    for file in files:
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name, f"{file}:{node.lineno}"
            elif isinstance(node, ast.arg):
                yield node.arg, f"{file}:{node.lineno}"
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, f"{file}:{node.lineno}"


def tracked(*patterns: str) -> list[str]:
    """Files of the repository that match."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def main() -> int:
    """0, or 1 where a share is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every place, not only the commonest names")
    parser.add_argument("--only", metavar="PATH", action="append", default=[], help="only files below PATH")
    arguments = parser.parse_args()
    prefixes = tuple(arguments.only) or ("",)
    is_failed = False
    for language, names in (
        ("C++", cpp_names(tracked("rooms/*.hpp", "rooms/*.cpp"))),
        ("Python", python_names(tracked("python/*.py", "benchmarks/*.py", "tests/*.py", "lint/*.py"))),
    ):
        declared = [(name, place) for name, place in names if place.startswith(prefixes)]
        empty = [(name, place) for name, place in declared if is_empty_name(name)]
        percent = 100 * len(empty) / max(len(declared), 1)
        is_failed |= percent > LIMIT_PERCENT[language]
        print(
            f"{language}: {len(empty)} of {len(declared)} declared names ({percent:.1f} %) are function words; limit {LIMIT_PERCENT[language]:g} %"
        )
        if arguments.all:
            print(*(f"  {place}: {name}" for name, place in empty), sep="\n")
        else:
            common = Counter(name for name, _ in empty).most_common(MOST_SHOWN)
            print("  " + ", ".join(f"{name} {count}" for name, count in common))
    return int(is_failed)


if __name__ == "__main__":
    sys.exit(main())
