"""Messages of MPI in an OTF2 archive: who waited for whom, and how much went where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trimtab.importing.lanes import Message
from trimtab.otf2 import numbers
from trimtab.otf2.numbers import GroupType
from trimtab.otf2.reading import Archive, Kind


@dataclass(frozen=True)
class At:
    """A message, and the place of its lane: process and lane in it."""

    message: Message
    process: int
    lane: int


@dataclass
class Flow:
    """What went from one rank to another, by function."""

    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    bytes: dict[int, int] = field(default_factory=lambda: defaultdict(int))


@dataclass
class Waits:
    """What receives and collective operations waited for others.

    `waits`: process, lane, text, ticks. `flows`: by sender and receiver.
    """

    waits: list[tuple[int, int, str, int]] = field(default_factory=list)
    flows: dict[tuple[int, int], Flow] = field(default_factory=lambda: defaultdict(Flow))
    unmatched: int = 0


class Ranks:
    """Ranks of processes, and the members of communicators as such ranks."""

    def __init__(self, archive: Archive, process_of_group: Mapping[int, int]) -> None:
        self._archive = archive
        locations: list[int] = []
        for kind, paradigm, members in archive.members.values():
            if kind == GroupType.COMM_LOCATIONS and paradigm == numbers.Paradigm.MPI:
                locations = members
        self.of_process: dict[int, int] = {}
        for rank, location in enumerate(locations):
            known = archive.locations.get(location)
            if known is not None and known.group in process_of_group:
                self.of_process.setdefault(process_of_group[known.group], rank)
        self.size = len(locations)

    def members(self, comm: int) -> list[int] | None:
        """The ranks of a communicator's members, in the order of their numbers in it; None: not known."""
        group = self._archive.members.get(self._archive.comms.get(comm, numbers.NO_UINT32))
        return group[2] if group is not None and group[0] == GroupType.COMM_GROUP else None

    def rank_in(self, comm: int, number: int) -> int | None:
        """The rank that has this number in the communicator."""
        members = self.members(comm)
        return members[number] if members is not None and number < len(members) else None


def waits_of(found: Iterable[At], ranks: Ranks, name_of: Mapping[int, str]) -> Waits:
    """All messages of the archive, in pairs, and all collective operations."""
    result = Waits()
    sent: dict[tuple[int, ...], list[At]] = defaultdict(list)
    received: dict[tuple[int, ...], list[At]] = defaultdict(list)
    collectives: dict[tuple[int, int], list[At]] = defaultdict(list)
    for at in sorted(found, key=lambda one: one.message.tick):
        message, own = at.message, ranks.of_process.get(at.process)
        if message.kind == Kind.COLLECTIVE:
            collectives[message.comm, -1 if own is None else own].append(at)
            continue
        other = ranks.rank_in(message.comm, message.other)
        if own is None or other is None:
            result.unmatched += 1
            continue
        tag = message.tag_and_bytes >> 32
        if message.kind == Kind.SEND:
            sent[own, other, message.comm, tag].append(at)
            flow = result.flows[own, other]
            flow.counts[message.function] += 1
            flow.bytes[message.function] += message.tag_and_bytes & numbers.NO_UINT32
        else:
            received[other, own, message.comm, tag].append(at)
    _pair(sent, received, name_of, result)
    _collect(collectives, ranks, name_of, result)
    return result


def _pair(
    sent: Mapping[tuple[int, ...], list[At]],
    received: Mapping[tuple[int, ...], list[At]],
    name_of: Mapping[int, str],
    result: Waits,
) -> None:
    """MPI lets no message overtake another one of the same sender, receiver, communicator and tag."""
    for key, receives in received.items():
        sends = sent.get(key, [])
        result.unmatched += abs(len(sends) - len(receives))
        for send, receive in zip(sends, receives, strict=False):
            message = receive.message
            ticks = min(send.message.tick, message.tick) - message.entered
            if ticks > 0:
                text = f"late sender in {name_of.get(message.function, 'a receive')}"
                result.waits.append((receive.process, receive.lane, text, ticks))
    result.unmatched += sum(len(sends) for key, sends in sent.items() if key not in received)


def _collect(
    collectives: Mapping[tuple[int, int], list[At]], ranks: Ranks, name_of: Mapping[int, str], result: Waits
) -> None:
    """The n-th operation of a communicator is the same for all members: who came last lets the others go."""
    by_comm: dict[int, list[list[At]]] = defaultdict(list)
    for (comm, _), own in collectives.items():
        by_comm[comm].append(own)
    for comm, members in by_comm.items():
        expected = ranks.members(comm)
        if expected is not None and len(expected) != len(members):
            # Of a communicator without a name for each of its members, or of an archive with a part of the ranks.
            result.unmatched += sum(len(own) for own in members)
            continue
        for operation in zip(*members, strict=False):
            last = max(at.message.entered for at in operation)
            for at in operation:
                ticks = min(last, at.message.tick) - at.message.entered
                if ticks > 0:
                    text = f"wait for the last in {name_of.get(at.message.function, 'a collective')}"
                    result.waits.append((at.process, at.lane, text, ticks))
