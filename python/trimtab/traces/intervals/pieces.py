"""Pieces of lanes' time, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import NO_SUBJECT
from trimtab.traces.columns import joined_columns, picked
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers, Pace


@dataclass(frozen=True)
class Pieces:
    """Pieces of lanes' time; `release` and `giver` are of waits: until when another is waited for, and whom.

    There may be tens of millions, so what is small takes few bytes.
    """

    low: Integers
    high: Integers
    lane: NDArray[np.int32]
    doing: NDArray[np.int8]
    subject: NDArray[np.uint32]
    pace: NDArray[np.int8]
    release: Integers
    giver: NDArray[np.uint32]

    def pick(self, chosen: Any) -> Pieces:
        return Pieces(*picked(vars(self).values(), chosen))


BUSY = (int(Doing.WORK), int(Doing.SERIAL), int(Doing.RUNTIME))


def pieces_of_lane(low: Integers, high: Integers, lane: int, doing: Any, **others: Any) -> Pieces:
    """Pieces of one lane; what is not given is what `others` mean by nothing: no giver, all of it waited."""

    def whole(value: Any, kind: Any) -> Any:
        return np.broadcast_to(np.asarray(value).astype(kind), low.shape).copy()

    return Pieces(
        low,
        high,
        whole(lane, np.int32),
        whole(doing, np.int8),
        whole(others.get("subject", NO_SUBJECT), np.uint32),
        whole(others.get("pace", Pace.USUAL), np.int8),
        whole(others.get("release", high), np.int64),
        whole(others.get("giver", NO_LANE), np.uint32),
    )


def joined(parts: Sequence[Pieces]) -> Pieces:
    return Pieces(*joined_columns([tuple(vars(part).values()) for part in parts]))
