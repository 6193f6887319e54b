"""Names of places as tables show them; `--json` has them in full."""

from __future__ import annotations

# A name that is this short is shown as it is.
_SHORT = 40
_OPERATORS = ("operator<", "operator>", "operator-")


def short_name(name: str) -> str:
    """Without what template arguments say, where the name is long.

    >>> short_name("pr.cc:41 (PageRankPullGS(CSRGraph<int, int, true> const&, int, double, bool))")
    'pr.cc:41 (PageRankPullGS(CSRGraph<…> const&, int, double, bool))'
    >>> short_name("f<int>"), short_name("a" * 40 + " operator<<")
    ('f<int>', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa operator<<')
    >>> short_name("std::vector<std::pair<int, std::less<int>>, std::allocator<int>>::push_back")
    'std::vector<…>::push_back'
    """
    if len(name) <= _SHORT or name.find("<") < 1 or any(word in name for word in _OPERATORS):
        return name
    kept, depth = [], 0
    for letter in name:
        if letter == "<":
            depth += 1
            if depth == 1:
                kept.append("<…")
        if depth == 0 or (letter == ">" and depth == 1):
            kept.append(letter)
        if letter == ">":
            depth -= 1
            if depth < 0:
                return name
    return "".join(kept) if depth == 0 else name
