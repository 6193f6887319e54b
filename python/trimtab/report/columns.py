"""Columns of numbers as few bytes, for the page: byte by byte, lowest bytes of all numbers first, compressed.

docs/developer/report-page.md has the layout; viewer/src/lane_view/columns.ts reads it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Higher ones take twice as long for 1 % fewer bytes.
_LEVEL = 3
_HEAD = np.dtype([("count", "<u4"), ("bytes", "<u4")])


def packed(columns: Sequence[NDArray[Any]]) -> bytes:
    """Whole numbers from 0 up to 2**53 - 1, in each column as many bytes a number as its largest one needs.

    >>> len(packed([np.array([1, 2, 3]), np.array([], int)])) > 0
    True
    """
    head = np.zeros(len(columns) + 1, _HEAD)
    head["count"][0] = len(columns)
    planes = []
    for at, column in enumerate(columns, 1):
        numbers = np.ascontiguousarray(column, "<i8")
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= 1 << 53):
            raise ValueError(
                f"column {at - 1}: expected numbers from 0 to 2**53 - 1, found {numbers.min()} to {numbers.max()}"
            )
        width = (int(numbers.max(initial=0)).bit_length() + 7) // 8
        head["count"][at], head["bytes"][at] = len(numbers), width
        planes.append(numbers.view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes())
    return zlib.compress(head.tobytes() + b"".join(planes), _LEVEL)
