"""Where the nodes of a directed graph go: in layers, so that most edges lead downwards and few cross (Sugiyama's method).

The same graph always gets the same layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 8
_LAYER_GAP, _NODE_GAP, _BEND_WIDTH = 90.0, 36.0, 24.0


@dataclass(frozen=True)
class Box:
    """The centre and size of a node."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Route:
    """The points that an edge passes, from its begin to its end; `is_upward`: it closes a cycle."""

    points: tuple[tuple[float, float], ...]
    is_upward: bool


@dataclass(frozen=True)
class Layout:
    """Boxes by node, routes by edge; edges of a node to itself have none."""

    boxes: tuple[Box, ...]
    routes: tuple[Route | None, ...]
    width: float
    height: float


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """The layout of nodes with these widths and heights."""
    upward = _upward(len(sizes), edges)
    downward = sorted(
        {(end, begin) if (begin, end) in upward else (begin, end) for begin, end in edges if begin != end}
    )
    layer = _layers(len(sizes), downward)
    chains = _with_bends(len(sizes), downward, layer)
    rows = _ordered(layer, chains)
    boxes = _placed(rows, [*sizes, *[(_BEND_WIDTH, 0.0)] * (len(layer) - len(sizes))], chains)
    routes = []
    for begin, end in edges:
        is_upward = (begin, end) in upward
        chain = chains.get((end, begin) if is_upward else (begin, end))
        points = [(boxes[node].x, boxes[node].y) for node in chain] if chain is not None else []
        routes.append(Route(tuple(points[::-1] if is_upward else points), is_upward) if points else None)
    own = boxes[: len(sizes)]
    right = max((box.x + box.width / 2 for box in boxes), default=0.0)
    bottom = max((box.y + box.height / 2 for box in own), default=0.0)
    return Layout(tuple(own), tuple(routes), right, bottom)


def _upward(count: int, edges: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Edges that lead back to a node on the way to them, in the order in which nodes come."""
    followers: list[list[int]] = [[] for _ in range(count)]
    has_giver = [False] * count
    for begin, end in sorted(set(edges)):
        if begin != end:
            followers[begin].append(end)
            has_giver[end] = True
    found: set[tuple[int, int]] = set()
    state = [0] * count  # 1: on the way, 2: done
    for root in sorted(range(count), key=lambda node: (has_giver[node], node)):
        way = [(root, 0)] if state[root] == 0 else []
        while way:
            node, at = way.pop()
            state[node] = 1
            if at == len(followers[node]):
                state[node] = 2
                continue
            way.append((node, at + 1))
            following = followers[node][at]
            if state[following] == 1:
                found.add((node, following))
            elif state[following] == 0:
                way.append((following, 0))
    return found


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Of each node the length of the longest way to it."""
    missing = [0] * count
    followers: list[list[int]] = [[] for _ in range(count)]
    for begin, end in edges:
        missing[end] += 1
        followers[begin].append(end)
    layer = [0] * count
    ready = [node for node in range(count) if missing[node] == 0]
    for node in ready:
        for end in followers[node]:
            layer[end] = max(layer[end], layer[node] + 1)
            missing[end] -= 1
            if missing[end] == 0:
                ready.append(end)
    return layer


def _with_bends(
    count: int, edges: Sequence[tuple[int, int]], layer: list[int]
) -> dict[tuple[int, int], list[int]]:
    """Of each edge its nodes, one in every layer: `layer` gets those that only bend an edge."""
    chains = {}
    for begin, end in edges:
        bends = []
        for between in range(layer[begin] + 1, layer[end]):
            layer.append(between)
            bends.append(len(layer) - 1)
        chains[begin, end] = [begin, *bends, end]
    return chains


def _ordered(layer: Sequence[int], chains: dict[tuple[int, int], list[int]]) -> list[list[int]]:
    """The nodes of each layer from left to right: each goes to the mean of its neighbours, down and up in turn."""
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for node, row in enumerate(layer):
        rows[row].append(node)
    above, below = _neighbours(len(layer), chains)
    for sweep in range(_SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        place = [0.0] * len(layer)
        for row_nodes in rows if sweep % 2 == 0 else reversed(rows):
            for at, node in enumerate(row_nodes):
                own = neighbours[node]
                place[node] = sum(place[other] for other in own) / len(own) if own else float(at)
            row_nodes.sort(key=lambda node: (place[node], node))
            for at, node in enumerate(row_nodes):
                place[node] = at + 0.5 - len(row_nodes) / 2
    return rows


def _neighbours(
    count: int, chains: dict[tuple[int, int], list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for chain in chains.values():
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    return above, below


def _placed(
    rows: Sequence[Sequence[int]],
    sizes: Sequence[tuple[float, float]],
    chains: dict[tuple[int, int], list[int]],
) -> list[Box]:
    """Each node as near to the mean of its neighbours as those to its left and right allow."""
    above, below = _neighbours(len(sizes), chains)
    x = [0.0] * len(sizes)
    for row in rows:
        _pack(row, sizes, x, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else list(reversed(rows)):
            wanted = [
                sum(x[other] for other in neighbours[node]) / len(neighbours[node])
                if neighbours[node]
                else x[node]
                for node in row
            ]
            _pack(row, sizes, x, wanted)
    left = min((x[node] - sizes[node][0] / 2 for row in rows for node in row), default=0.0)
    boxes: list[Box] = [Box(0, 0, 0, 0)] * len(sizes)
    top = 0.0
    for row in rows:
        height = max((sizes[node][1] for node in row), default=0.0)
        for node in row:
            boxes[node] = Box(x[node] - left, top + height / 2, *sizes[node])
        top += height + _LAYER_GAP
    return boxes


def _pack(
    row: Sequence[int], sizes: Sequence[tuple[float, float]], x: list[float], wanted: Sequence[float]
) -> None:
    """The nodes of a row in their order without overlap: the mean of packing from the left and from the right."""
    count = len(row)
    from_left, from_right = list(wanted), list(wanted)
    for at in range(1, count):
        gap = (sizes[row[at - 1]][0] + sizes[row[at]][0]) / 2 + _NODE_GAP
        from_left[at] = max(from_left[at], from_left[at - 1] + gap)
    for at in range(count - 2, -1, -1):
        gap = (sizes[row[at]][0] + sizes[row[at + 1]][0]) / 2 + _NODE_GAP
        from_right[at] = min(from_right[at], from_right[at + 1] - gap)
    for at, node in enumerate(row):
        x[node] = (from_left[at] + from_right[at]) / 2
