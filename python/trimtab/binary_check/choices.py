"""The larger or smaller of two values, as compilers write it: a comparison, then a conditional move or a jump around a move.

Registers that hold the same value have the same number, so that a comparison and what is chosen after it are known to be of the same two.
"""

from __future__ import annotations

from typing import Any

from trimtab.binary_check import operands as at
from trimtab.binary_check import partial
from trimtab.binary_check.state import State
from trimtab.binary_check.values import CLEAN, Kind, Value
from trimtab.binary_check.vector_values import result_of, value_of, vector_of

# Of a condition: whether it holds where the first is the larger one, and how the two were compared.
_LARGER = {
    **dict.fromkeys(("g", "nle", "ge", "nl"), (True, "s")),
    **dict.fromkeys(("l", "nge", "le", "ng"), (False, "s")),
    **dict.fromkeys(("a", "nbe", "ae", "nb", "nc"), (True, "u")),
    **dict.fromkeys(("b", "nae", "c", "be", "na"), (False, "u")),
}


def _register(instruction: Any, operand: Any) -> str | None:
    vector = vector_of(instruction, operand)
    return vector if vector is not None else at.register_of(instruction, operand)


def number_of(state: State, instruction: Any, operand: Any, position: int = 0) -> int:
    """The number of the value in a register; 0: it is none."""
    register = _register(instruction, operand)
    return 0 if register is None else state.number_of(register, 2 * instruction.address + position)


def copy_number(state: State, instruction: Any, to: Any, number: int) -> None:
    """A register was copied."""
    register = _register(instruction, to)
    if register is not None and number:
        state.same[register] = number


def compare(state: State, instruction: Any) -> None:
    """Two registers are compared."""
    first, other = (
        number_of(state, instruction, operand_read, position)
        for position, operand_read in enumerate(instruction.operands)
    )
    is_vector = vector_of(instruction, instruction.operands[0]) is not None
    state.compared = (first, other, "f" if is_vector else "") if first and other else None


def test(state: State, instruction: Any) -> None:
    """The flags come from what an instruction has left in a register, or from a test of one."""
    state.tested = number_of(state, instruction, instruction.operands[0])


def learn_order(state: State, condition: str, outcome: bool) -> None:
    """What a jump that depends on a comparison tells."""
    if state.compared is None or condition not in _LARGER:
        return
    first, other, kind = state.compared
    is_first_larger, extreme_kind = _LARGER[condition]
    larger, smaller = (first, other) if is_first_larger == outcome else (other, first)
    state.ordered = (larger, smaller, kind or extreme_kind)


def chosen(state: State, instruction: Any, first: Value, other: Value) -> Value:
    """What a conditional move leaves: the larger or smaller of two values, or any of both."""
    extreme = _chosen_extreme(state, instruction, first, other)
    if extreme.kind in (Kind.PARTIAL, Kind.COMBINED):
        return extreme
    met = partial.met(first, other)
    return state.mixed(first, other) if met == CLEAN else met


def _chosen_extreme(state: State, instruction: Any, first: Value, other: Value) -> Value:
    to, source = instruction.operands
    condition = instruction.mnemonic.removeprefix("cmov")
    if state.compared is None or condition not in _LARGER:
        return CLEAN
    numbers = [state.same.get(_register(instruction, operand_read) or "", 0) for operand_read in (to, source)]
    if not all(numbers) or set(numbers) != set(state.compared[:2]):
        return CLEAN
    is_first_larger, operation = _LARGER[condition]
    # The source is taken where the condition holds.
    is_maximum = is_first_larger == (numbers[1] == state.compared[0])
    return _extreme(state, is_maximum, state.compared[2] or operation, first, other)


def moved(state: State, instruction: Any, to: Any, source: Any) -> Value:
    """What a move leaves: what is moved, or more where a jump has told which of both is the larger one."""
    value = value_of(state, instruction, source)
    numbers = [state.same.get(_register(instruction, operand_read) or "", 0) for operand_read in (to, source)]
    if state.ordered is None or not all(numbers) or set(numbers) != set(state.ordered[:2]):
        return value
    extreme = _extreme(
        state, numbers[1] == state.ordered[0], state.ordered[2], value_of(state, instruction, to), value
    )
    return extreme if extreme.kind in (Kind.PARTIAL, Kind.COMBINED) else value


def moved_vector(state: State, instruction: Any) -> Value:
    """The same of an instruction on vectors."""
    result = result_of(state, instruction)
    parts = instruction.operands
    if len(parts) == 2 and "mov" in instruction.mnemonic and vector_of(instruction, parts[1]) is not None:
        moved_value = moved(state, instruction, *parts)
        return moved_value if moved_value.kind in (Kind.PARTIAL, Kind.COMBINED) else result
    return result


def _extreme(state: State, is_maximum: bool, operation: str, first: Value, other: Value) -> Value:
    operation = operation + ("max" if is_maximum else "min")
    combined_value = partial.combined(operation, first, other)
    return combined_value if combined_value is not None else state.fold(operation, first, other)
