"""Profile rows of a process by metric."""

from __future__ import annotations

import numpy as np

from trimtab.model import METRICS, Process, Records
from trimtab.readers.layout import ROW


def rows_of(process: Process, metric: str) -> Records:
    """All rows of one metric, of all lanes."""
    parts = [lane.rows[lane.rows["what"] == METRICS[metric]] for lane in process.lanes]
    rows: Records = np.concatenate(parts) if parts else np.empty(0, dtype=ROW)
    return rows
