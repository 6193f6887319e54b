"""Follows every way through an outlined function and the functions of its file that it calls, as if they were written in place.

Ways are kept apart by which side of the remainder the thread's number is on, and by whether the thread surely has
iterations; all other knowledge is joined where ways meet, until nothing changes any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from capstone import x86_const as x86

from trimtab.binary_check import choices, combine
from trimtab.binary_check import operands as at
from trimtab.binary_check.calls import call
from trimtab.binary_check.code import Code
from trimtab.binary_check.effects import apply
from trimtab.binary_check.state import Facts, Refused, State
from trimtab.binary_check.values import CLEAN, LOST, THREAD, Kind, Part, Value, constant, frame, symbol

_MOST_STEPS = 400_000
_DEEPEST = 12
_BELOW = {"l", "nge", "b", "c", "nae"}  # first < second
_NOT_BELOW = {"ge", "nl", "ae", "nb", "nc"}
_ABOVE = {"g", "nle", "a", "nbe"}
_NOT_ABOVE = {"le", "ng", "be", "na"}
_SAME, _OTHER = {"e", "z"}, {"ne", "nz"}
_CONDITIONS = (
    _BELOW | _NOT_BELOW | _ABOVE | _NOT_ABOVE | _SAME | _OTHER | {"s", "ns", "o", "no", "p", "np", "pe", "po"}
)

# Where the walk is: return addresses, the instruction, and what keeps ways apart.
_Place = tuple[tuple[int, ...], int, Facts, bool, int, int, bool]


_Node = tuple[tuple[int, ...], int]


@dataclass
class _Segment:
    """Instructions that are followed one after the other, and where it goes on."""

    instructions: set[int] = field(default_factory=set)
    next: set[_Node] = field(default_factory=set)
    divides: bool = False


@dataclass
class Walk:
    """One walk from `start`."""

    code: Code
    start: int
    has_block: bool = False  # a block with and without iterations was told apart
    has_reduction: bool = False  # partial results were combined with those of others
    steps: int = 0
    segments: dict[_Node, _Segment] = field(default_factory=dict)

    def run(self) -> None:
        """Follow all ways.

        Raises:
            Refused: something on one of them must not be done by other threads than the program's own, or more often.
        """
        state = State(code=self.code)
        added_in = state.added_in
        state.registers["rsp"] = frame(0)
        states: dict[_Place, State] = {}
        pending: list[tuple[tuple[int, ...], int, State]] = [((), self.start, state)]
        while pending:
            stack, address, state = pending.pop()
            place = (
                stack,
                address,
                state.facts,
                state.is_nonempty,
                state.combining,
                state.exchanging,
                state.is_retrying,
            )
            before = states.get(place)
            if before is not None:
                merged = before.joined(state)
                if merged is None:
                    continue
                state = merged
            states[place] = state.copy()
            segment = self.segments.setdefault((stack, address), _Segment())
            ways = self._follow(stack, address, state, segment)
            segment.next |= {way[:2] for way in ways}
            pending += ways
        if not self.has_block:
            raise Refused("it has no static loop that is understood")
        if self.has_reduction and not all(self._is_in_loop(site) for site in added_in):
            raise Refused("it may add something to a reduction that is no iteration's")

    def _is_in_loop(self, site: int) -> bool:
        """Whether an instruction is in a loop within a block: one that does not ask for the block again."""
        for begin in [
            node for node, one_segment in self.segments.items() if site in one_segment.instructions
        ]:
            pending, seen_nodes = [begin], set[_Node]()
            while pending:
                segment = self.segments.get(pending.pop())
                if segment is None or segment.divides:
                    continue
                if begin in segment.next:
                    return True
                pending += segment.next - seen_nodes
                seen_nodes |= segment.next
        return False

    def _follow(
        self, stack: tuple[int, ...], address: int, state: State, segment: _Segment
    ) -> list[tuple[tuple[int, ...], int, State]]:
        """From here to where ways part or may meet."""
        while True:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise Refused("it is too large to be followed")
            instruction = self.code.at(address)
            if instruction is None:
                raise Refused("its code cannot be read")
            name, after = (
                instruction.mnemonic.removeprefix("bnd ").removeprefix("notrack "),
                address + instruction.size,
            )
            segment.instructions.add(address)
            segment.divides |= name in ("div", "idiv")
            if name == "jmp":
                target, imported = self._target(state, instruction)
                if imported is None:
                    return [(stack, target, state)]
                return self._return(stack, state) if call(state, imported, address) else []
            if name == "call":
                target, imported = self._target(state, instruction)
                if imported is None:
                    return [self._enter(stack, target, after, state)]
                if not call(state, imported, address):
                    return []
                address = after
                continue
            if name in ("ret", "repz ret", "rep ret"):
                return self._return(stack, state)
            if name in ("ud2", "hlt"):
                return []
            if x86.X86_GRP_JUMP in instruction.groups:
                target = instruction.operands[0].imm
                ways = self._ways(state, name[1:], instruction)
                for is_jump, way in ways:
                    is_equal = is_jump == (name[1:] in _SAME) if name[1:] in _SAME | _OTHER else None
                    combine.after_exchange(way, is_equal)
                    if is_equal:
                        way.learn_zero()
                    choices.learn_order(way, name[1:], is_jump)
                return [(stack, target if is_jump else after, way) for is_jump, way in ways]
            if name.startswith("cmov") or name.startswith("set"):
                combine.after_exchange(state, None)
                if state.are_flags_clean():
                    self._choose_either(state, instruction)
                    address = after
                    continue
                ways = self._ways(state, name[4:] if name.startswith("cmov") else name[3:], instruction)
                for is_true, way in ways:
                    self._choose(way, instruction, is_true)
                return [(stack, after, way) for _, way in ways]
            apply(state, instruction)
            address = after

    def _target(self, state: State, instruction: Any) -> tuple[int, str | None]:
        operand = instruction.operands[0]
        if operand.type == x86.X86_OP_IMM:
            return operand.imm, self.code.stub_of(operand.imm)
        if (
            operand.type == x86.X86_OP_MEM
            and instruction.reg_name(operand.mem.base) == "rip"
            and not operand.mem.index
        ):
            name = self.code.imported(instruction.address + instruction.size + operand.mem.disp)
            if name is not None:
                return 0, name
        raise Refused(
            f"it goes on at an address that is not known ({instruction.mnemonic} {instruction.op_str})"
        )

    def _enter(
        self, stack: tuple[int, ...], target: int, after: int, state: State
    ) -> tuple[tuple[int, ...], int, State]:
        if len(stack) >= _DEEPEST or after in stack:
            raise Refused("it calls functions that call themselves, or too deep ones")
        top = state.sum_of(state.registers["rsp"], constant(-8))
        state.set_top(top)
        state.store(top.base, top.offset, 8, CLEAN)
        return (*stack, after), target, state

    def _return(self, stack: tuple[int, ...], state: State) -> list[tuple[tuple[int, ...], int, State]]:
        top = state.registers["rsp"]
        if not stack:
            if top != frame(0):
                raise Refused("its stack pointer cannot be followed")
            combine.at_end(state)
            self.has_reduction |= bool(state.combined)
            return []
        state.set_top(state.sum_of(top, constant(8)))
        return [(stack[:-1], stack[-1], state)]

    # Conditions

    def _ways(self, state: State, condition: str, instruction: Any) -> list[tuple[bool, State]]:
        """The ways that a condition may turn out, with what is known on each."""
        flags = state.flags
        if condition not in _CONDITIONS:
            raise Refused(f"instruction not understood: {instruction.mnemonic} {instruction.op_str}")
        if isinstance(flags, bool) or state.are_flags_clean():
            if flags is False:
                raise Refused("a comparison cannot be followed")
            both_ways = [(True, state.copy()), (False, state)]
            if not isinstance(flags, bool):
                for outcome, way in both_ways:
                    if self._is_nonempty(state, flags, condition, outcome):
                        self.has_block = True
                        way.is_nonempty = True
            return both_ways
        division, is_swapped = self._remainder_in(flags)
        below_names = _ABOVE if is_swapped else _BELOW
        not_below_names = _NOT_ABOVE if is_swapped else _NOT_BELOW
        if division is None or condition not in below_names | not_below_names:
            raise Refused(
                f"it compares the number of the thread, or how many there are ({instruction.mnemonic})"
            )
        ways = []
        for outcome in (True, False):
            way = state.copy()
            if way.learn(division, outcome == (condition in below_names)):
                ways.append((outcome, way))
        return ways

    @staticmethod
    def _remainder_in(flags: tuple[Value, Value]) -> tuple[int | None, bool]:
        """Of a comparison of the thread's number with a remainder: whose, and whether that comes first."""
        for number, other, is_swapped in ((*flags, False), (flags[1], flags[0], True)):
            if number == symbol(THREAD) and other.kind is Kind.TERMS and len(other.terms) == 1:
                symbols, count = other.terms[0]
                if count == 1 and len(symbols) == 1 and symbols[0].startswith("R"):
                    return int(symbols[0][1:], 16), is_swapped
        return None, False

    @staticmethod
    def _is_nonempty(state: State, flags: tuple[Value, Value], condition: str, outcome: bool) -> bool:
        """Whether a comparison of a block's start and end, or of its size and 0, says that it has iterations."""
        first, other = flags
        left, right = state.part_of(first), state.part_of(other)
        if left is not None and right is not None and left[0] == right[0]:
            order = (left[1], right[1])
        elif left is not None and left[1] is Part.SIZE and other == constant(0):
            order = (Part.END, Part.START)
        else:
            return False
        if order == (Part.START, Part.END):
            return condition in (_BELOW | _OTHER if outcome else _NOT_BELOW | _SAME)
        if order == (Part.END, Part.START):
            return condition in (_ABOVE | _OTHER if outcome else _NOT_ABOVE | _SAME)
        return False

    @staticmethod
    def _choose_either(state: State, instruction: Any) -> None:
        parts = instruction.operands
        values = [at.read(state, instruction, part) for part in parts]
        is_equal = len(values) == 2 and values[0] == values[1]
        is_clean = instruction.mnemonic.startswith("set") or all(state.is_usable(value) for value in values)
        chosen = choices.chosen(state, instruction, *values) if is_clean and len(values) == 2 else CLEAN
        if instruction.mnemonic.startswith("set") and not isinstance(state.flags, bool):
            chosen = state.mixed(*state.flags)
        at.write(state, instruction, parts[0], values[0] if is_equal else chosen if is_clean else LOST)

    @staticmethod
    def _choose(state: State, instruction: Any, is_true: bool) -> None:
        parts = instruction.operands
        if instruction.mnemonic.startswith("set"):
            at.write(state, instruction, parts[0], constant(int(is_true)))
        elif is_true:
            at.write(state, instruction, parts[0], at.read(state, instruction, parts[1]))
        else:
            at.write(state, instruction, parts[0], at.read(state, instruction, parts[0]))
