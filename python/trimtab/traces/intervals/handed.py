"""Waits of workers for tasks that waited for other tasks themselves: for locks, channels, futures."""

from __future__ import annotations

import numpy as np

from trimtab.traces.intervals.gifts import BY_TASKS, Gifts
from trimtab.traces.intervals.lookup import values_at
from trimtab.traces.intervals.model import NO_LANE, Doing, Integers
from trimtab.traces.intervals.pieces import Pieces, joined

_CUT_AT = (*BY_TASKS, int(Doing.MESSAGE))
# A longer chain is charged to what the lane of its last task does.
_LONGEST = 32


def along_gifts(waits: Pieces, gift: Integers, gifts: Gifts) -> Pieces:
    """Waits of a worker, each cut where the task that ended it had got something itself, and so on.

    Before that moment the giver was not running, and its lane may have run something else.

    Args:
        gift: the row of what ended each wait.
    """
    finished: list[Pieces] = []
    for _ in range(_LONGEST):
        giver = gifts.giver[gift]
        before = gifts.latest(np.where(giver > 0, giver, -1), gifts.at[gift])
        given, doing = values_at(gifts.at, before, -1), values_at(gifts.doing, before, -1)
        is_chained = np.isin(doing, _CUT_AT) & (given > waits.low) & (given < waits.release)
        finished.append(waits.pick(~is_chained))
        waits, gift, given, doing = (
            waits.pick(is_chained),
            before[is_chained],
            given[is_chained],
            doing[is_chained],
        )
        if not len(gift):
            break
        lane = np.where(doing == int(Doing.MESSAGE), NO_LANE, gifts.lane[gift])
        rest = waits.pick(given < waits.high)
        rest.low[:] = given[given < waits.high]
        waits.release[:] = given
        np.minimum(waits.high, given, out=waits.high)
        waits.giver[:] = np.where(lane == waits.lane, NO_LANE, lane)
        waits.doing[:] = doing
        finished.append(rest)
    return joined([*finished, waits])
