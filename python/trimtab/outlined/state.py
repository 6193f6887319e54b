"""What is known at one point of an outlined function: registers, stack, flags, which threads get one iteration more."""

from __future__ import annotations

from dataclasses import dataclass, field

from trimtab.outlined.values import (
    CLEAN,
    LOST,
    Kind,
    Part,
    Value,
    added,
    frame,
    mentions,
    multiplied,
    parts_of,
)


class Refused(Exception):
    """The function is not fit, for this reason."""


# division -> whether the thread's number is below the remainder
Facts = tuple[tuple[int, bool], ...]
# What the flags come from: two values that were compared; True: from clean values; False: not known, or not clean.
Flags = tuple[Value, Value] | bool
# Where in the frame: part, offset; and how many bytes.
_Slots = dict[tuple[int, int], tuple[int, Value]]

GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)))
SCRATCH = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")


@dataclass
class State:
    """Changed in place while instructions are followed; copied where the way forks."""

    registers: dict[str, Value] = field(default_factory=lambda: dict.fromkeys(GENERAL, CLEAN))
    slots: _Slots = field(default_factory=dict)
    flags: Flags = True
    facts: Facts = ()
    is_nonempty: bool = False  # surely in the block of a thread that has iterations
    lowest: dict[int, int] = field(default_factory=dict)  # of a part of the frame: where the next one begins
    # Unoptimized code divides twice, once for the remainder: what rax was copied from, and what was divided last.
    copied: str = ""
    divided: tuple[int, str] | None = None
    is_aliased: bool = False  # an address in the frame may be among what counts as clean

    def copy(self) -> State:
        """To go on in another way."""
        return State(
            dict(self.registers),
            dict(self.slots),
            self.flags,
            self.facts,
            self.is_nonempty,
            dict(self.lowest),
            self.copied,
            self.divided,
            self.is_aliased,
        )

    def set(self, register: str, value: Value) -> None:
        """A register is written."""
        self.registers[register] = value
        if register == "rax":
            self.copied = ""
        if self.divided is not None and self.divided[1] == register:
            self.divided = None

    def are_flags_clean(self) -> bool:
        """Whether what was compared is the program's own affair."""
        return (
            self.flags if isinstance(self.flags, bool) else all(self.is_usable(each) for each in self.flags)
        )

    # Values

    def part_of(self, value: Value) -> tuple[int, Part] | None:
        """Which part of which division's block the value is."""
        if value.kind is Kind.TERMS:
            for division, is_longer in self.facts:
                part = parts_of(division, is_longer).get(value)
                if part is not None:
                    return division, part
        return None

    def is_usable(self, value: Value) -> bool:
        """Whether the program may do anything with it: it depends on T and N only as a block does."""
        return value.kind is Kind.CLEAN or value.is_constant or self.part_of(value) is not None

    def use(self, value: Value, what: str) -> None:
        """The program does something with it that the computation of a block does not."""
        if not self.is_usable(value):
            raise Refused(
                f"the number of the thread, or how many there are, goes into {what}"
                if value.kind is Kind.TERMS
                else f"what cannot be followed goes into {what}"
            )

    def simplified(self, result: Value, *sources: Value) -> Value:
        """What is no part of a block any more, but made of such, is as good as any other value."""
        part = self.part_of(result)
        if part is not None:
            # Whose number is below the remainder has one iteration at least; compilers do not ask any more.
            self.is_nonempty |= part[1] is not Part.SIZE and (part[0], True) in self.facts
            return result
        if result.is_constant:
            return result
        return CLEAN if all(self.is_usable(each) for each in sources) else result

    def sum_of(self, one: Value, other: Value, sign: int = 1) -> Value:
        """one + other, or one - other."""
        for address, offset in ((one, other), (other, one)):
            if address.kind is Kind.FRAME and (sign > 0 or address is one):
                if offset.is_constant and address.offset is not None:
                    return frame(address.offset + sign * offset.number, address.base)
                if self.is_usable(offset):
                    return frame(None, address.base)
                return LOST
        if Kind.LOST in (one.kind, other.kind) or Kind.FRAME in (one.kind, other.kind):
            return LOST
        if Kind.CLEAN in (one.kind, other.kind):
            return CLEAN if self.is_usable(one) and self.is_usable(other) else LOST
        return self.simplified(added(one, other, sign), one, other)

    def product_of(self, one: Value, other: Value) -> Value:
        """One * other."""
        if one.kind is Kind.TERMS and other.kind is Kind.TERMS:
            return self.simplified(multiplied(one, other), one, other)
        return CLEAN if self.is_usable(one) and self.is_usable(other) else LOST

    def truncated(self, value: Value, size: int) -> Value:
        """Its low bytes. T, N and what is made of them need no more than four."""
        if size >= 8 or value.kind is Kind.CLEAN or (size == 4 and value.kind is Kind.TERMS):
            return value
        return CLEAN if self.is_usable(value) else LOST

    # Divisions

    def learn(self, division: int, is_longer: bool) -> bool:
        """From here on it is known on which side of the remainder the thread is. False: it is on the other one."""
        for known, side in self.facts:
            if known == division:
                return side == is_longer
        self.facts = tuple(sorted((*self.facts, (division, is_longer))))
        return True

    def forget(self, division: int) -> None:
        """The division is made anew: what came of it the last time is something else."""

        def without(value: Value) -> Value:
            if not mentions(value, division):
                return value
            return CLEAN if self.is_usable(value) else LOST

        self.registers = {name: without(value) for name, value in self.registers.items()}
        self.slots = {at: (size, without(value)) for at, (size, value) in self.slots.items()}
        self.flags = self.are_flags_clean()
        self.facts = tuple(each for each in self.facts if each[0] != division)

    # The stack

    def _check_part(self, base: int, offset: int) -> None:
        if base in self.lowest and offset < self.lowest[base]:
            raise Refused("its stack frame cannot be followed")

    def load(self, base: int, offset: int | None, size: int) -> Value:
        """From the frame."""
        if offset is None:
            if any(
                not self.is_usable(value) for _, value in self.slots.values() if value.kind is not Kind.FRAME
            ):
                return LOST
            self.is_aliased |= any(value.kind is Kind.FRAME for _, value in self.slots.values())
            return CLEAN
        self._check_part(base, offset)
        known = self.slots.get((base, offset))
        if known is not None and known[0] == size:
            return known[1]
        if known is not None and known[0] > size:
            return self.truncated(known[1], size)
        for (part, begin), (length, value) in self.slots.items():
            if (
                part == base
                and begin < offset + size
                and offset < begin + length
                and not self.is_usable(value)
            ):
                return LOST
        return CLEAN

    def store(self, base: int, offset: int | None, size: int, value: Value) -> None:
        """Into the frame."""
        if offset is None:
            if not self.is_nonempty:
                raise Refused("it stores where a thread without iterations may see it")
            self.use(value, "memory")
            self.slots = {
                at: (length, CLEAN if self.is_usable(known) else known)
                for at, (length, known) in self.slots.items()
            }
            return
        self._check_part(base, offset)
        if self.is_aliased and value.kind is not Kind.FRAME and not self.is_usable(value):
            raise Refused("the number of the thread, or how many there are, goes where pointers may lead")
        for at, (length, known) in list(self.slots.items()):
            if at[0] == base and at[1] < offset + size and offset < at[1] + length:
                is_covered = offset <= at[1] and at[1] + length <= offset + size
                if is_covered or self.is_usable(known):
                    del self.slots[at]
                else:
                    self.slots[at] = (length, LOST)
        self.slots[base, offset] = (size, value)

    def blur(self, base: int, offset: int | None, size: int) -> None:
        """Something clean is stored there, of which no more is known."""
        if offset is None:
            return self.store(base, None, size, CLEAN)
        self._check_part(base, offset)
        for at, (length, known) in list(self.slots.items()):
            if at[0] == base and at[1] < offset + size and offset < at[1] + length:
                self.slots[at] = (length, CLEAN if self.is_usable(known) else LOST)
        return None

    def set_top(self, top: Value) -> None:
        """The stack pointer is moved."""
        if top.kind is not Kind.FRAME or top.offset is None:
            raise Refused("its stack pointer cannot be followed")
        self.registers["rsp"] = top
        self.lowest.pop(top.base, None)
        # What is below, and below what leaf functions use there, is gone.
        self.slots = {
            at: each for at, each in self.slots.items() if at[0] != top.base or at[1] >= top.offset - 128
        }

    def align(self, at: int) -> None:
        """The stack pointer is rounded down, by the instruction at `at`: by how much is not known."""
        top = self.registers["rsp"]
        if top.kind is not Kind.FRAME or top.offset is None or top.base == at:
            raise Refused("its stack pointer cannot be followed")
        self.lowest[top.base] = top.offset
        self.slots = {where: each for where, each in self.slots.items() if where[0] != at}
        self.registers["rsp"] = frame(0, at)

    # Where ways meet

    def joined(self, other: State) -> State | None:
        """What is known whichever way was taken; None: nothing less than here."""
        registers = {
            name: self._joined(value, other, other.registers[name]) for name, value in self.registers.items()
        }
        slots: _Slots = {}
        for at in self.slots.keys() | other.slots.keys():
            mine, its = self.slots.get(at), other.slots.get(at)
            if mine is None or its is None or mine[0] != its[0]:
                # Where one way has stored nothing there is what was there before: clean, as all that comes from outside.
                sizes = [each[0] for each in (mine, its) if each is not None]
                values = [each[1] if each is not None else CLEAN for each in (mine, its)]
                slots[at] = (max(sizes), self._joined(values[0], other, values[1]))
            else:
                slots[at] = (mine[0], self._joined(mine[1], other, its[1]))
        flags: Flags = self.flags
        if self.flags != other.flags:
            flags = self.are_flags_clean() and other.are_flags_clean()
        lowest = {
            base: max(self.lowest.get(base, at), other.lowest.get(base, at))
            for base, at in (self.lowest | other.lowest).items()
        }
        copied = self.copied if self.copied == other.copied else ""
        divided = self.divided if self.divided == other.divided else None
        is_aliased = self.is_aliased or other.is_aliased
        joined = State(
            registers, slots, flags, self.facts, self.is_nonempty, lowest, copied, divided, is_aliased
        )
        return None if joined == self else joined

    def _joined(self, mine: Value, other: State, its: Value) -> Value:
        if mine == its:
            return mine
        if self.is_usable(mine) and other.is_usable(its):
            return CLEAN
        if mine.kind is Kind.FRAME and its.kind is Kind.FRAME and mine.base == its.base:
            return frame(None, mine.base)
        return LOST
