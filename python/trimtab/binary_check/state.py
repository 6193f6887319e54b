"""What is known at one point of an outlined function: registers, stack, flags, which threads get one iteration more."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trimtab.binary_check import partial
from trimtab.binary_check.code import Code
from trimtab.binary_check.values import (
    AS_CLEAN,
    CLEAN,
    LOST,
    OF_BLOCK,
    Key,
    Kind,
    Part,
    Value,
    added,
    constant,
    frame,
    mentions,
    multiplied,
    parts_of,
    pointer,
    shared,
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

    registers: dict[str, Value] = field(
        default_factory=lambda: dict.fromkeys(GENERAL, CLEAN) | {"rdi": pointer(("argument",), 0)}
    )
    slots: _Slots = field(default_factory=dict)
    flags: Flags = True
    facts: Facts = ()
    is_nonempty: bool = False  # surely in the block of a thread that has iterations
    lowest: dict[int, int] = field(default_factory=dict)  # of a part of the frame: where the next one begins
    # Unoptimized code divides twice, once for the remainder: what rax was copied from, and what was divided last.
    copied: str = ""
    divided: tuple[int, str] | None = None
    is_aliased: bool = False  # an address in the frame may be among what counts as clean
    # Of reductions
    vectors: dict[str, Value] = field(
        default_factory=dict
    )  # a vector register of which more is known than CLEAN
    same: dict[str, int] = field(default_factory=dict)  # registers with equal numbers hold the same value
    compared: tuple[int, int, str] | None = None  # two such numbers and the kind of their comparison
    tested: int = 0  # the number of a value that is 0 if the flags say "equal"
    ordered: tuple[int, int, str] | None = None  # the first is surely not below the second
    combining: int = 0  # where the critical section begins that this is in; 0: in none
    combined: frozenset[int] = frozenset()  # combinations that were made: each is made once in a call
    exchanging: int = 0  # where a compare and exchange has not succeeded yet
    is_retrying: bool = False  # it has failed
    is_outcome: bool = False  # the flags tell whether it has succeeded
    has_texts: bool = False  # values may be of places that are known by the registers that address them
    code: Code | None = field(default=None, compare=False, repr=False)
    site: int = field(default=0, compare=False)  # the instruction that is followed
    # Where something is added to a partial result that may not be an iteration's: it must be in a loop. Of the whole walk.
    added_in: set[int] = field(default_factory=set, compare=False, repr=False)

    def copy(self) -> State:
        """To go on in another way."""
        return replace(
            self,
            registers=dict(self.registers),
            slots=dict(self.slots),
            lowest=dict(self.lowest),
            vectors=dict(self.vectors),
            same=dict(self.same),
        )

    def set(self, register: str, value: Value) -> None:
        """A register is written."""
        self._forget_register(register)
        self.registers[register] = value
        if register == "rax":
            self.copied = ""
        if self.divided is not None and self.divided[1] == register:
            self.divided = None

    def set_vector(self, register: str, value: Value) -> None:
        """A vector register is written."""
        self._forget_register(register)
        self.vectors.pop(register, None)
        if value.kind is not Kind.CLEAN:
            self.vectors[register] = value

    def of(self, register: str) -> Value:
        """What a register holds, of either kind."""
        return self.registers.get(register) or self.vectors.get(register, CLEAN)

    def _forget_register(self, register: str) -> None:
        self.same.pop(register, None)
        if self.has_texts:
            self._forget_shared(lambda key: key[0] == "text" and register in key[1:3])

    def number_of(self, register: str, instruction: int) -> int:
        """A number that all registers have which hold the same as this one."""
        if register not in self.same:
            self.same = {
                name: instruction_known
                for name, instruction_known in self.same.items()
                if instruction_known != instruction
            }
            self.same[register] = instruction
            self.tested = 0 if self.tested == instruction else self.tested
            for name in ("compared", "ordered"):
                value_before = getattr(self, name)
                if value_before is not None and instruction in value_before[:2]:
                    setattr(self, name, None)
        return self.same[register]

    def read_shared(self, key: Key) -> Value:
        """A place that others see is read: what was read there before may be something else."""
        self._forget_shared(lambda other: other == key)
        self.has_texts |= key[0] == "text"
        return shared(key)

    def forget_readings(self) -> None:
        """What was read of places that others see may be something else by now; pointers that were read are as good as ever."""

        def kept(value: Value) -> Value:
            if value.kind is Kind.SHARED and value.key[0] != "text":
                return pointer(("at", value.key), 0)
            return CLEAN if value.kind in (Kind.SHARED, Kind.COMBINED) else value

        self._replace_all(kept)

    def learn_zero(self) -> None:
        """What the flags come from is 0."""
        zeros = [name for name, number in self.same.items() if number == self.tested != 0]
        for name in zeros:
            if name in self.registers and self.registers[name].kind in AS_CLEAN:
                self.registers[name] = constant(0)

    def load_run(self, base: int, offset: int) -> Value:
        """Any of the parts of the frame that were stored from there on without a gap: all elements of an array are."""
        values = []
        while True:
            parts = [
                (at, length, value)
                for (part, at), (length, value) in self.slots.items()
                if part == base and at <= offset < at + length
            ]
            if not parts:
                break
            values += [value for _, _, value in parts]
            offset = max(at + length for at, length, _ in parts)
        if not values or not all(partial.is_same_in_all_lanes(value) for value in values):
            return CLEAN
        return functools.reduce(partial.met, values)

    def read_element(self, key: Key) -> Value:
        """A part of the frame is read that only registers tell: what is made of it may be stored there again."""
        self.has_texts = True
        return Value(Kind.PARTIAL, start=shared(key))

    def store_element(self, key: Key, value: Value) -> bool:
        """What was read there is stored again, changed. False: it is something else."""
        if value.kind is not Kind.PARTIAL or value.start != shared(key) or not self.is_nonempty:
            return False

        self.slots = {
            at: (
                size,
                partial.changed(slot_value, value.operations) if self.is_usable(slot_value) else slot_value,
            )
            for at, (size, slot_value) in self.slots.items()
        }
        return True

    def _forget_shared(self, is_forgotten: Callable[[Key], bool]) -> None:
        def kept(value: Value) -> Value:
            place = value.start if value.kind is Kind.PARTIAL and value.start is not None else value
            is_of_memory = place.kind in (Kind.SHARED, Kind.COMBINED)
            return CLEAN if is_of_memory and is_forgotten(place.key) else value

        self._replace_all(kept)

    def _replace_all(self, kept: Callable[[Value], Value]) -> None:
        self.registers = {name: kept(value) for name, value in self.registers.items()}
        self.vectors = {
            name: value
            for name, vector in self.vectors.items()
            if (value := kept(vector)).kind is not Kind.CLEAN
        }
        self.slots = {at: (size, kept(value)) for at, (size, value) in self.slots.items()}

    def are_flags_clean(self) -> bool:
        """Whether what was compared is the program's own affair."""
        return (
            self.flags if isinstance(self.flags, bool) else all(self.is_usable(flag) for flag in self.flags)
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
        return value.kind in AS_CLEAN or value.is_constant or self.part_of(value) is not None

    def use(self, value: Value, purpose: str) -> None:
        """The program does something with it that the computation of a block does not."""
        if not self.is_usable(value):
            raise Refused(
                f"the number of the thread, or how many there are, goes into {purpose}"
                if value.kind is Kind.TERMS
                else f"what cannot be followed goes into {purpose}"
            )

    def is_of_block(self, value: Value) -> bool:
        """Whether it surely differs from iteration to iteration, so that nothing which is done once a thread gives it."""
        return value.kind in (Kind.OF_BLOCK, Kind.PARTIAL) or self.part_of(value) is not None

    def mixed(self, *sources: Value) -> Value:
        """What is computed from usable values."""
        return OF_BLOCK if any(self.is_of_block(source) for source in sources) else CLEAN

    def fold(self, operation: str, first: Value, other: Value, *, is_first_only: bool = False) -> Value:
        """What an operation makes of two values, one of which may be a partial result."""
        result = partial.folded(operation, first, other, self.is_nonempty, is_first_only=is_first_only)
        if result.kind is not Kind.PARTIAL:
            return self.mixed(first, other)
        if partial.adds_once(operation) and not all(
            self.is_of_block(value) or partial.is_neutral(operation, value) for value in (first, other)
        ):
            self.added_in.add(self.site)
        return result

    def simplified(self, result: Value, *sources: Value) -> Value:
        """What is no part of a block any more, but made of such, is as good as any other value."""
        part = self.part_of(result)
        if part is not None:
            # Whose number is below the remainder has one iteration at least; compilers do not ask any more.
            self.is_nonempty |= part[1] is not Part.SIZE and (part[0], True) in self.facts
            return result
        if result.is_constant:
            return result
        return self.mixed(*sources) if all(self.is_usable(source) for source in sources) else result

    def sum_of(self, first: Value, other: Value, sign: int = 1) -> Value:
        """one + other, or one - other."""
        for address, offset in ((first, other), (other, first)):
            if address.kind is Kind.FRAME and (sign > 0 or address is first):
                if offset.is_constant and address.offset is not None:
                    return frame(address.offset + sign * offset.number, address.base)
                if self.is_usable(offset):
                    lowest = () if address.offset is None else (address.offset,)
                    return frame(None, address.base, lowest)
                return LOST
        if Kind.LOST in (first.kind, other.kind) or Kind.FRAME in (first.kind, other.kind):
            return LOST
        if Kind.PARTIAL in (first.kind, other.kind):
            return self.fold("sum", first, other, is_first_only=sign < 0)
        for address, offset in ((first, other), (other, first)):
            if (
                address.kind in (Kind.POINTER, Kind.SHARED)
                and offset.is_constant
                and (sign > 0 or address is first)
            ):
                key = address.key if address.kind is Kind.POINTER else ("at", address.key)
                return pointer(key, (address.offset or 0) + sign * offset.number)
        if first.kind in AS_CLEAN or other.kind in AS_CLEAN:
            return self.mixed(first, other) if self.is_usable(first) and self.is_usable(other) else LOST
        return self.simplified(added(first, other, sign), first, other)

    def product_of(self, first: Value, other: Value) -> Value:
        """One * other."""
        if first.kind is Kind.TERMS and other.kind is Kind.TERMS:
            return self.simplified(multiplied(first, other), first, other)
        return self.mixed(first, other) if self.is_usable(first) and self.is_usable(other) else LOST

    def truncated(self, value: Value, size: int) -> Value:
        """Its low bytes. T, N and what is made of them need no more than four."""
        if size >= 8 or value.kind in AS_CLEAN or (size == 4 and value.kind is Kind.TERMS):
            return value
        return self.mixed(value) if self.is_usable(value) else LOST

    # Divisions

    def learn(self, division: int, is_longer: bool) -> bool:
        """From here on it is known on which side of the remainder the thread is. False: it is on the other one."""
        for fact, side in self.facts:
            if fact == division:
                return side == is_longer
        self.facts = tuple(sorted((*self.facts, (division, is_longer))))
        return True

    def forget(self, division: int) -> None:
        """The division is made anew: what came of it the last time is something else."""

        def without_part(value: Value) -> Value:
            if not mentions(value, division):
                return value
            return CLEAN if self.is_usable(value) else LOST

        self.registers = {name: without_part(value) for name, value in self.registers.items()}
        self.slots = {at: (size, without_part(value)) for at, (size, value) in self.slots.items()}
        self.flags = self.are_flags_clean()
        self.facts = tuple(fact for fact in self.facts if fact[0] != division)

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
        slot = self.slots.get((base, offset))
        if slot is not None and slot[0] == size:
            return slot[1]
        if slot is not None and slot[0] > size:
            return self.truncated(slot[1], size)
        parts = [
            (begin, length, value)
            for (part, begin), (length, value) in self.slots.items()
            if part == base and begin < offset + size and offset < begin + length
        ]
        if any(not self.is_usable(value) for _, _, value in parts):
            return LOST
        # Lanes of a vector: all are partial results, or all are zero.
        is_whole = sum(min(b + n, offset + size) - max(b, offset) for b, n, _ in parts) == size
        lanes = {value for _, _, value in parts}
        if is_whole and all(partial.is_same_in_all_lanes(value) for value in lanes):
            return functools.reduce(partial.met, lanes)
        return CLEAN

    def store(self, base: int, offset: int | None, size: int, value: Value) -> None:
        """Into the frame."""
        if offset is None:
            if not self.is_nonempty:
                raise Refused("it stores where a thread without iterations may see it")
            self.use(value, "memory")
            self.slots = {
                at: (length, CLEAN if self.is_usable(slot_value) else slot_value)
                for at, (length, slot_value) in self.slots.items()
            }
            return
        self._check_part(base, offset)
        if self.is_aliased and value.kind is not Kind.FRAME and not self.is_usable(value):
            raise Refused("the number of the thread, or how many there are, goes where pointers may lead")
        for at, (length, slot_value) in list(self.slots.items()):
            if at[0] == base and at[1] < offset + size and offset < at[1] + length:
                is_covered = offset <= at[1] and at[1] + length <= offset + size
                if is_covered or self.is_usable(slot_value):
                    del self.slots[at]
                else:
                    self.slots[at] = (length, LOST)
        self.slots[base, offset] = (size, value)

    def blur(self, base: int, offset: int | None, size: int) -> None:
        """Something clean is stored there, of which no more is known."""
        if offset is None:
            return self.store(base, None, size, CLEAN)
        self._check_part(base, offset)
        for at, (length, slot_value) in list(self.slots.items()):
            if at[0] == base and at[1] < offset + size and offset < at[1] + length:
                self.slots[at] = (length, CLEAN if self.is_usable(slot_value) else LOST)
        return None

    def set_top(self, top: Value) -> None:
        """The stack pointer is moved."""
        if top.kind is not Kind.FRAME or top.offset is None:
            raise Refused("its stack pointer cannot be followed")
        self.registers["rsp"] = top
        self.lowest.pop(top.base, None)
        # What is below, and below what leaf functions use there, is gone.
        self.slots = {
            at: slot for at, slot in self.slots.items() if at[0] != top.base or at[1] >= top.offset - 128
        }

    def align(self, at: int) -> None:
        """The stack pointer is rounded down, by the instruction at `at`: by how much is not known."""
        top = self.registers["rsp"]
        if top.kind is not Kind.FRAME or top.offset is None or top.base == at:
            raise Refused("its stack pointer cannot be followed")
        self.lowest[top.base] = top.offset
        self.slots = {slot_key: slot for slot_key, slot in self.slots.items() if slot_key[0] != at}
        self.registers["rsp"] = frame(0, at)

    # Where ways meet

    def joined(self, other: State) -> State | None:
        """What is known whichever way was taken; None: nothing less than here."""
        registers = {
            name: self._joined(value, other, other.registers[name]) for name, value in self.registers.items()
        }
        flags: Flags = self.flags
        if self.flags != other.flags:
            flags = self.are_flags_clean() and other.are_flags_clean()
        lowest = {
            base: max(self.lowest.get(base, at), other.lowest.get(base, at))
            for base, at in (self.lowest | other.lowest).items()
        }
        copied = self.copied if self.copied == other.copied else ""
        divided = self.divided if self.divided == other.divided else None
        joined = State(
            registers,
            self._joined_slots(other),
            flags,
            self.facts,
            self.is_nonempty,
            lowest,
            copied,
            divided,
            self.is_aliased or other.is_aliased,
            {
                name: value
                for name in self.vectors.keys() & other.vectors.keys()
                if (value := self._joined(self.vectors[name], other, other.vectors[name])).kind
                is not Kind.CLEAN
            },
            {
                name: instruction_known
                for name, instruction_known in self.same.items()
                if other.same.get(name) == instruction_known
            },
            self.compared if self.compared == other.compared else None,
            self.tested if self.tested == other.tested else 0,
            self.ordered if self.ordered == other.ordered else None,
            self.combining,
            self.combined | other.combined,
            self.exchanging,
            self.is_retrying,
            self.is_outcome and other.is_outcome,
            self.has_texts or other.has_texts,
            self.code,
            self.site,
            self.added_in,
        )
        return None if joined == self else joined

    def _joined_slots(self, other: State) -> _Slots:
        """What the stack holds whichever way was taken."""
        slots: _Slots = {}
        for at in self.slots.keys() | other.slots.keys():
            own_value, other_value = self.slots.get(at), other.slots.get(at)
            # Where one way has stored nothing there is what was there before: clean, as all that comes from outside.
            sizes = [slot[0] for slot in (own_value, other_value) if slot is not None]
            values = [slot[1] if slot is not None else CLEAN for slot in (own_value, other_value)]
            slots[at] = (max(sizes), self._joined(values[0], other, values[1]))
        return slots

    def _joined(self, own_value: Value, other: State, other_value: Value) -> Value:
        if own_value == other_value:
            return own_value
        if self.is_usable(own_value) and other.is_usable(other_value):
            met = partial.met(own_value, other_value)
            is_of_block = met == CLEAN and self.is_of_block(own_value) and other.is_of_block(other_value)
            return OF_BLOCK if is_of_block else met
        if (
            own_value.kind is Kind.FRAME
            and other_value.kind is Kind.FRAME
            and own_value.base == other_value.base
        ):
            return frame(None, own_value.base)
        return LOST
