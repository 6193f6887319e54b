"""The graph of kinds of task as a picture (SVG)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from trimtab.analysis.task_graph import OUTSIDE, GraphEdge, GraphKind, TaskGraph
from trimtab.escapes import printable
from trimtab.export.graph_layout import Box, Layout, Route, layered

# Of more kinds, those with most active time are shown.
_MOST_KINDS = 60
_LONGEST_NAME = 44
_CHARACTER, _LINE, _MARGIN, _PADDING = 7.3, 17.0, 24.0, 12.0
_LOOP_ROOM, _UPWARD_SHIFT = 74.0, 44.0
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}"
    ".n{font-weight:bold}.c{fill:#57606a}.e{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    "rect{stroke:#57606a}path{fill:none;stroke-width:1.5}.k{stroke:#8c959f}.d{stroke:#0969da}.u{stroke-dasharray:5 3}"
)
_OUTSIDE_NAME = "outside of tasks"


def task_graph_svg(graph: TaskGraph, title: str) -> str:
    """A picture without any reference to the outside; the same graph gives the same bytes."""
    shown = _shown(graph)
    has_outside = any(edge.giver == OUTSIDE for edge in shown.edges)
    labels = [_label(kind) for kind in shown.kinds] + ([[_OUTSIDE_NAME]] if has_outside else [])
    outside = len(shown.kinds)
    edges = [(outside if edge.giver == OUTSIDE else edge.giver, edge.receiver) for edge in shown.edges]
    loops = {edge.receiver for edge in shown.edges if edge.giver == edge.receiver}
    layout = layered([_size(lines, at in loops) for at, lines in enumerate(labels)], edges)
    boxes = [
        Box(box.x, box.y, _box_width(lines), box.height)
        for box, lines in zip(layout.boxes, labels, strict=True)
    ]
    notes = [
        title,
        "grey: creates; blue: gives what the other waits for; dashed: closes a cycle; numbers: pairs of tasks",
    ]
    if len(shown.kinds) < len(graph.kinds):
        notes.append(f"{len(graph.kinds) - len(shown.kinds)} kinds with less time are left out")
    head = _MARGIN + len(notes) * _LINE + _MARGIN / 2
    width = max(layout.width, *(len(note) * _CHARACTER for note in notes)) + 2 * _MARGIN
    height = layout.height + head + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<style>{_STYLE}</style>",
        _MARKERS,
        f'<rect x="0" y="0" width="{width:.0f}" height="{height:.0f}" fill="#fff" stroke="none"/>',
        *(
            _text(_MARGIN, _MARGIN + at * _LINE, note, "n" if at == 0 else "c", "start")
            for at, note in enumerate(notes)
        ),
        f'<g transform="translate({_MARGIN:.0f} {head:.0f})">',
        *_edges(shown.edges, layout, boxes),
        *_nodes(shown.kinds, labels, boxes),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


_MARKERS = (
    "<defs>"
    + "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto" '
        f'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" style="fill:{colour};stroke:none"/></marker>'
        for name, colour in (("k", "#8c959f"), ("d", "#0969da"))
    )
    + "</defs>"
)


def _shown(graph: TaskGraph) -> TaskGraph:
    count = min(len(graph.kinds), _MOST_KINDS)
    edges = tuple(edge for edge in graph.edges if edge.giver < count and edge.receiver < count)
    return TaskGraph(graph.kinds[:count], edges)


def _label(kind: GraphKind) -> list[str]:
    """The place, below it the function with its end, which says most, and the figures."""
    place, bracket, function = printable(kind.name).partition(" (")
    if len(place) > _LONGEST_NAME:
        place = place[: _LONGEST_NAME - 1] + "…"
    function = function.removesuffix(")") if bracket else ""
    if len(function) > _LONGEST_NAME:
        function = "…" + function[-_LONGEST_NAME + 1 :]
    figures = f"{kind.count:,} x {_time(kind.mean_s)} = {_time(kind.total_s)}"
    return [place, *([function] if function else []), figures]


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _size(lines: Sequence[str], has_loop: bool) -> tuple[float, float]:
    """With room on both sides for an edge of the kind to itself."""
    return _box_width(lines) + (2 * _LOOP_ROOM if has_loop else 0.0), len(lines) * _LINE + _PADDING


def _box_width(lines: Sequence[str]) -> float:
    return max(map(len, lines)) * _CHARACTER + 2 * _PADDING


def _text(x: float, y: float, text: str, style: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(printable(text))}</text>'


def _nodes(
    kinds: Sequence[GraphKind], labels: Sequence[Sequence[str]], boxes: Sequence[Box]
) -> Iterator[str]:
    most = max((kind.total_s for kind in kinds), default=0.0)
    for at, (lines, box) in enumerate(zip(labels, boxes, strict=True)):
        heat = kinds[at].total_s / most if at < len(kinds) and most > 0 else 0.0
        # From white to orange with the share of time.
        fill = f"rgb(255,{255 - round(55 * heat)},{255 - round(130 * heat)})"
        full = kinds[at].name if at < len(kinds) else "code that is no task, or none that is recorded"
        yield f"<g><title>{escape(printable(full))}</title>"
        yield (
            f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - box.height / 2:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="5" fill="{fill}"/>'
        )
        first = box.y - (len(lines) - 1) * _LINE / 2 + 4
        for line, text in enumerate(lines):
            yield _text(box.x, first + line * _LINE, text, "n" if line == 0 else "c")
        yield "</g>"


def _edges(edges: Sequence[GraphEdge], layout: Layout, boxes: Sequence[Box]) -> Iterator[str]:
    kinds = {(edge.giver, edge.receiver) for edge in edges if edge.is_creation}
    both = kinds & {(edge.giver, edge.receiver) for edge in edges if not edge.is_creation}
    for edge, route in zip(edges, layout.routes, strict=True):
        # Two edges between the same kinds lie beside each other.
        shift = (-14.0 if edge.is_creation else 14.0) if (edge.giver, edge.receiver) in both else 0.0
        style = "k" if edge.is_creation else "d"
        giver = edge.giver if edge.giver != OUTSIDE else len(boxes) - 1
        if route is None:
            yield from _loop(boxes[edge.receiver], edge, style)
            continue
        begin, end = boxes[giver], boxes[edge.receiver]
        points = _ports(route, begin, end, shift)
        dashes = " u" if route.is_upward else ""
        yield f'<path class="{style}{dashes}" marker-end="url(#{style})" d="{_curve(points)}"/>'
        middle = len(points) // 2
        (x0, y0), (x1, y1) = points[middle - 1], points[middle]
        yield _text((x0 + x1) / 2, (y0 + y1) / 2 + (4 if shift <= 0 else 16), f"{edge.count:,}", "e")


def _ports(route: Route, begin: Box, end: Box, shift: float) -> list[tuple[float, float]]:
    """From the side of the one box to that of the other; an edge that leads up leaves from the top."""
    sign = -1.0 if route.is_upward else 1.0
    side = shift + (_UPWARD_SHIFT if route.is_upward else 0.0)
    points = [(x + side, y) for x, y in route.points]
    points[0] = (points[0][0], begin.y + sign * begin.height / 2)
    points[-1] = (points[-1][0], end.y - sign * end.height / 2)
    return points


def _curve(points: Sequence[tuple[float, float]]) -> str:
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        path += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return path


def _loop(box: Box, edge: GraphEdge, style: str) -> Iterator[str]:
    """Of a kind to itself: at the upper half of the right side for creation, at the lower one else."""
    right = box.x + box.width / 2
    y = box.y + (-box.height / 4 if edge.is_creation else box.height / 4)
    yield (
        f'<path class="{style}" marker-end="url(#{style})" '
        f'd="M{right:.1f} {y - 5:.1f}C{right + 30:.1f} {y - 14:.1f} {right + 30:.1f} {y + 14:.1f} {right:.1f} {y + 5:.1f}"/>'
    )
    yield _text(right + 26, y + 4, f"{edge.count:,}", "e", "start")
