"""The steps of all processes of a job, where those that wait for a message wait for its sender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from trimtab.model import NO_SUBJECT
from trimtab.traces.intervals.build import Lanes
from trimtab.traces.intervals.lookup import lookup, values_at
from trimtab.traces.intervals.model import NO_LANE, Integers
from trimtab.traces.intervals.parcels import Sent, alone_by_rank, received_by, sent_by
from trimtab.traces.steps.build import steps_of_lanes
from trimtab.traces.steps.model import NO_PIECE, NO_STEP, StepLinks, StepLoops, StepPieces, Steps
from trimtab.traces.trace import Trace

# Tasks of different processes may have the same number, and so may loops.
_PROCESS_BIT = 48
_LOOP_BIT = 32


@dataclass(frozen=True)
class Member:
    """A process of a job: its trace, its steps, and what it sent (nanoseconds of the job; lanes as `Steps` has them)."""

    trace: Trace
    steps: Steps
    sent: Sent

    @staticmethod
    def of(trace: Trace, lanes: Lanes) -> Member | None:
        """None where there is no work."""
        steps = steps_of_lanes(lanes)
        if steps is None:
            return None
        order = np.argsort([parts.is_worker for parts in lanes.parts], kind="stable")
        numbers = [lanes.parts[at].lane.id for at in order]
        return Member(trace, steps, sent_by(trace, numbers, round(trace.begin_ns)))


def steps_of_job(members: Sequence[Member], subjects: Sequence[Mapping[int, int]]) -> Steps:
    """One after the other; time begins with the first step of all.

    Args:
        members: processes of one job.
        subjects: for each, the number that each of its regions and kinds of tasks has in the job.
    """
    start_ns = min(round(member.trace.begin_ns) + member.steps.start_ns for member in members)
    moved = [
        _moved(member, at, known, start_ns)
        for at, (member, known) in enumerate(zip(members, subjects, strict=True))
    ]
    lanes = _places_of_lanes(moved)
    first_step = np.cumsum([0, *(len(steps) for steps in moved)])
    first_piece = np.cumsum([0, *(len(steps.pieces.step) for steps in moved)])
    shifted = [
        _renumbered(steps, own, int(step), int(piece))
        for steps, own, step, piece in zip(moved, lanes, first_step, first_piece, strict=False)
    ]
    whole = _joined(shifted)
    whole = replace(
        whole,
        lanes=sum(steps.lanes for steps in moved),
        workers=sum(steps.workers for steps in moved),
        workers_of=tuple(steps.workers for steps in moved),
        span_ns=int(whole.pieces.end_ns.max()),
    )
    whole = _with_begins(whole, [steps.start_ns for steps in moved])
    return _with_messages(whole, members, lanes, start_ns)


def _moved(member: Member, at: int, subjects: Mapping[int, int], start_ns: int) -> Steps:
    """With times and numbers of the job."""
    steps, pieces = member.steps, member.steps.pieces
    later = round(member.trace.begin_ns) - start_ns
    has_clock = (steps.lane < 0) & (steps.clock_ns > 0)
    known, place = np.unique(pieces.subject, return_inverse=True)
    renamed = np.array([subjects.get(one, NO_SUBJECT) for one in known.tolist()], np.int64)
    return replace(
        steps,
        pieces=replace(
            pieces,
            begin_ns=pieces.begin_ns + later,
            end_ns=pieces.end_ns + later,
            subject=renamed[place],
        ),
        begin_ns=steps.begin_ns + later,
        clock_ns=np.where(has_clock, steps.clock_ns + steps.start_ns + later, steps.clock_ns),
        owner=np.where(steps.owner != 0, steps.owner | at << _PROCESS_BIT, 0),
        loops=_of_process(steps.loops, at, subjects),
        process=np.full(len(steps), at, np.int64),
        start_ns=steps.start_ns + later,
        received_ns=steps.received_ns + later,
    )


def _of_process(loops: StepLoops, at: int, subjects: Mapping[int, int]) -> StepLoops:
    known, place = np.unique(loops.subject, return_inverse=True)
    renamed = np.array([subjects.get(number, NO_SUBJECT) for number in known.tolist()], np.int64)
    return replace(
        loops,
        loop=np.where(loops.loop != 0, loops.loop | at << _LOOP_BIT, 0),
        leaves=np.where(loops.leaves != 0, loops.leaves | at << _LOOP_BIT, 0),
        subject=renamed[place],
    )


def _places_of_lanes(members: Sequence[Steps]) -> list[Integers]:
    """For each process the places of its lanes: workers come behind all others."""
    others = [steps.lanes - steps.workers for steps in members]
    first_other = np.cumsum([0, *others])
    first_worker = np.cumsum([sum(others), *(steps.workers for steps in members)])
    return [
        np.concatenate([other + np.arange(count), worker + np.arange(steps.workers)])
        for steps, count, other, worker in zip(members, others, first_other, first_worker, strict=False)
    ]


def _renumbered(steps: Steps, lanes: Integers, step: int, piece: int) -> Steps:
    pieces, links = steps.pieces, steps.links
    return replace(
        steps,
        pieces=replace(pieces, lane=lanes[pieces.lane], step=pieces.step + step),
        links=replace(
            links,
            to_step=links.to_step + step,
            from_step=links.from_step + step,
            from_piece=np.where(links.from_piece == NO_PIECE, NO_PIECE, links.from_piece + piece),
        ),
        first_piece=np.where(steps.first_piece == NO_PIECE, NO_PIECE, steps.first_piece + piece),
        lane=np.where(steps.lane < 0, steps.lane, lanes[steps.lane]),
        phase=np.where(steps.phase == NO_STEP, NO_STEP, steps.phase + step),
        messages=steps.messages + step,
        loops=replace(steps.loops, part=steps.loops.part + step),
    )


def _columns(tables: Sequence[Any]) -> dict[str, Any]:
    """The arrays of tables of one class, one behind the other."""
    names = [
        field.name for field in fields(tables[0]) if isinstance(getattr(tables[0], field.name), np.ndarray)
    ]
    return {name: np.concatenate([getattr(table, name) for table in tables]) for name in names}


def _joined(members: Sequence[Steps]) -> Steps:
    changed: dict[str, Any] = {
        **_columns(members),
        "pieces": StepPieces(**_columns([steps.pieces for steps in members])),
        "links": StepLinks(**_columns([steps.links for steps in members])),
        "loops": StepLoops(**_columns([steps.loops for steps in members])),
    }
    return replace(members[0], **changed)


def _with_begins(whole: Steps, starts_ns: Sequence[int]) -> Steps:
    """Moments of the clock at which the processes begin: lanes do nothing before."""
    count = len(starts_ns)
    own = np.flatnonzero((whole.lane >= 0) & ~whole.is_pooled)
    _, first = np.unique(whole.lane[own], return_index=True)
    to_step = own[first]
    one_more: dict[str, Any] = {
        name: np.concatenate([column, np.zeros(count, column.dtype)])
        for name, column in _columns([whole]).items()
        if len(column) == len(whole) and name not in ("messages", "received_ns", "queued_ns")
    }
    one_more["first_piece"][-count:] = NO_PIECE
    one_more["lane"][-count:] = -1
    one_more["phase"][-count:] = NO_STEP
    one_more["clock_ns"][-count:] = one_more["begin_ns"][-count:] = starts_ns
    one_more["process"][-count:] = np.arange(count)
    lead_ns = one_more["lead_ns"]
    began = np.array(starts_ns)[whole.process[to_step]]
    lead_ns[to_step] = np.minimum(lead_ns[to_step], np.maximum(whole.begin_ns[to_step] - began, 0))
    nothing = np.zeros(len(to_step), np.int64)
    begins = StepLinks(
        to_step,
        len(whole) + whole.process[to_step],
        nothing + NO_PIECE,
        nothing,
        nothing,
        nothing.astype(np.bool_),
        nothing.astype(np.bool_),
    )
    no_loops = StepLoops.nothing(count)
    no_loops = replace(no_loops, part=no_loops.part + len(whole))
    return replace(
        whole,
        **one_more,
        links=StepLinks(**_columns([whole.links, begins])),
        loops=StepLoops(**_columns([whole.loops, no_loops])),
    )


def _with_messages(
    whole: Steps, members: Sequence[Member], lanes: Sequence[Integers], start_ns: int
) -> Steps:
    """Moments at which messages were received become moments at which their senders had sent them, and a latency."""
    alone = alone_by_rank([member.trace for member in members])
    senders = {rank: (members[at].sent, lanes[at]) for rank, at in alone.items()}
    sending = _Sending(whole.pieces, start_ns)
    clock_ns, queued_ns, tables = whole.clock_ns.copy(), whole.queued_ns.copy(), [whole.links]
    for at, member in enumerate(members):
        received = received_by(member.trace)
        own = np.flatnonzero(whole.process[whole.messages] == at)
        begin_ns = round(member.trace.begin_ns)
        row = lookup(received.at_ns, whole.received_ns[own] + start_ns - begin_ns)
        own, row = own[row >= 0], row[row >= 0]
        for rank, (sent, places) in senders.items():
            chosen = np.flatnonzero(received.rank[row] == rank)
            parcels = lookup(sent.number, received.number[row[chosen]])
            links = sending.links(
                whole.messages[own[chosen]], whole.received_ns[own[chosen]], sent, parcels, places
            )
            clock_ns[links.to_step] = 0
            queued_ns[own[chosen]] = values_at(sent.left_ns - sent.at_ns, parcels, 0)
            tables.append(links)
    return replace(
        whole,
        clock_ns=clock_ns,
        queued_ns=_at_most(queued_ns, whole, tables),
        links=StepLinks(**_columns(tables)),
    )


def _at_most(queued_ns: Integers, whole: Steps, tables: Sequence[StepLinks]) -> Integers:
    """No message is in a queue for longer than it takes: clocks of hosts differ by a little."""
    latency_ns = np.zeros(len(whole), np.int64)
    for links in tables[1:]:
        latency_ns[links.to_step] = links.latency_ns
    return np.minimum(queued_ns, latency_ns[whole.messages])


class _Sending:
    """Finds what lanes did when they sent parcels."""

    def __init__(self, pieces: StepPieces, start_ns: int) -> None:
        self._pieces, self._start_ns = pieces, start_ns
        self._order = np.lexsort((pieces.begin_ns, pieces.lane))
        self._keys = self._key(pieces.lane[self._order], pieces.begin_ns[self._order])

    @staticmethod
    def _key(lane: Integers, ns: Integers) -> Integers:
        key: Integers = lane << _PROCESS_BIT | np.clip(ns, 0, (1 << _PROCESS_BIT) - 1)
        return key

    def links(
        self, messages: Integers, received_ns: Integers, sent: Sent, parcels: Integers, places: Integers
    ) -> StepLinks:
        """From what sent each parcel, by its row in `sent` (-1: not known), to the moment that stands for the message."""
        is_known = parcels >= 0
        is_known[is_known] = sent.lane[parcels[is_known]] != NO_LANE
        messages, received_ns, parcels = messages[is_known], received_ns[is_known], parcels[is_known]
        lane, sent_ns = places[sent.lane[parcels]], sent.at_ns[parcels] - self._start_ns
        place = np.searchsorted(self._keys, self._key(lane, sent_ns), side="right") - 1
        piece = self._order[np.maximum(place, 0)]
        is_found = (place >= 0) & (self._pieces.lane[piece] == lane)
        messages, received_ns, sent_ns, piece = (
            column[is_found] for column in (messages, received_ns, sent_ns, piece)
        )
        end_ns = np.minimum(sent_ns, self._pieces.end_ns[piece])
        return StepLinks(
            messages,
            self._pieces.step[piece],
            piece,
            np.maximum(end_ns - self._pieces.begin_ns[piece], 0),
            # Clocks of hosts differ by a little.
            np.maximum(received_ns - end_ns, 0),
            np.zeros(len(piece), np.bool_),
            np.ones(len(piece), np.bool_),
        )
