"""How much of spans lies before moments, against a look at each span."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.analysis.lane_spans import Coverage

TIMES = st.integers(0, 50)


@given(st.lists(st.tuples(TIMES, TIMES)), st.lists(TIMES))
def test_coverage_is_that_of_each_span(spans: list[tuple[int, int]], moments: list[int]) -> None:
    lows, lengths = np.array(spans, np.float64).reshape(-1, 2).T
    asked = np.sort(np.array(moments, np.float64))
    covered = Coverage.of(lows, lows + lengths).until(asked)
    for moment, seconds in zip(asked.tolist(), covered.tolist(), strict=True):
        expected = np.clip(moment - lows, 0.0, lengths).sum()
        assert seconds == pytest.approx(expected)
