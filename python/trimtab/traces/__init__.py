"""The records of a run with their corrections applied, and the slices and arrows of its lanes, derived once.

Report, page and all exports read these (docs/reference/metrics.md).
"""

from trimtab.traces.rows import rows_of
from trimtab.traces.span import Span, span_of
from trimtab.traces.trace import Axis, Trace, axis_of, traces_of

__all__ = ["Axis", "Span", "Trace", "axis_of", "rows_of", "span_of", "traces_of"]
