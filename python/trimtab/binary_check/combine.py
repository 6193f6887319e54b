"""How GCC's code adds partial results of reductions to those of the other threads.

It does so once in a call, behind the loop: by one atomic instruction, by a loop around a compare and exchange, or between the calls that
begin and end a critical section. When a function is called once for each of many virtual threads, each call combines its own part, and the
result is the same if
- what is combined is a partial result, by the operation that made it (see partial.py);
- a call without iterations combines the neutral element;
- each combination is made once in a call, so it is in no loop over iterations;
- the place is the same in all calls.
Nothing else is stored in these sections, and nothing is learnt from what is read there.
"""

from __future__ import annotations

from typing import Any

from capstone import x86_const as x86

from trimtab.binary_check import operands as at
from trimtab.binary_check import partial
from trimtab.binary_check.state import Refused, State
from trimtab.binary_check.values import Kind, constant, shared

_BEGIN = {"GOMP_atomic_start", "GOMP_critical_start", "GOMP_critical_name_start"}
_END = {"GOMP_atomic_end", "GOMP_critical_end", "GOMP_critical_name_end"}
_OPERATIONS = {
    "add": "sum",
    "sub": "sum",
    "inc": "sum",
    "dec": "sum",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
_WHY = "it changes memory atomically, and not only as a reduction that is understood does"


def is_section(name: str) -> bool:
    """Whether this function begins or ends a critical section."""
    return name in _BEGIN | _END


def section(state: State, name: str, address: int) -> None:
    """A critical section begins or ends."""
    if name in _BEGIN:
        if state.combining:
            raise Refused(f"it calls {name} in another critical section")
        _use_once(state, address)
        state.forget_readings()
        state.combining = address
    else:
        if not state.combining:
            raise Refused(f"it calls {name} outside of a critical section")
        state.combined |= {state.combining}
        state.combining = 0


def atomic(state: State, instruction: Any) -> None:
    """One atomic instruction."""
    name = instruction.mnemonic.removeprefix("lock ")
    parts = instruction.operands
    if parts[0].type != x86.X86_OP_MEM:
        raise Refused(_WHY)
    key = at.key_of(state, instruction, parts[0])
    if key is None or key[0] == "text":
        raise Refused(_WHY)
    if name == "cmpxchg":
        return _exchange(state, instruction, key)
    operation = _OPERATIONS.get(name)
    gathered = at.read(state, instruction, parts[1]) if len(parts) > 1 else constant(1)
    if operation is None or not partial.may_combine(operation, gathered):
        raise Refused(_WHY)
    _use_once(state, instruction.address)
    state.combined |= {instruction.address}
    state.flags = False
    return None


def _exchange(state: State, instruction: Any, key: tuple[Any, ...]) -> None:
    """Stored if the place still holds what was read: what rax has afterwards is what it holds now."""
    fresh = at.read(state, instruction, instruction.operands[1])
    is_combined = fresh.kind is Kind.COMBINED and fresh.key == key
    if state.registers["rax"] != shared(key) or not is_combined:
        raise Refused(_WHY)
    value = state.read_shared(key)
    state.set("rax", value)
    state.flags = True
    _use_once(state, instruction.address)
    if state.exchanging not in (0, instruction.address) or state.combining:
        raise Refused(_WHY)
    state.exchanging, state.is_retrying, state.is_outcome = instruction.address, False, True


def after_exchange(state: State, is_equal: bool | None) -> None:
    """The first condition behind a compare and exchange, which tells whether it has succeeded.

    Args:
        is_equal: on the way that is taken; None: that is not what is asked.
    """
    if not state.exchanging or state.is_retrying:
        return
    if is_equal is None or not state.is_outcome:
        raise Refused(_WHY)
    if is_equal:
        state.combined |= {state.exchanging}
        state.exchanging = 0
    else:
        state.is_retrying = True


def at_end(state: State) -> None:
    """The function returns."""
    if state.exchanging or state.combining:
        raise Refused(_WHY)


def _use_once(state: State, address: int) -> None:
    if address in state.combined:
        raise Refused("it changes memory atomically in a loop")
